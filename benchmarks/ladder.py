"""Share of the emulator's speed that remains: raw PyBoy, one environment, a vector, PPO.

    python benchmarks/ladder.py            or: make ladder

The first three run on one core with the same game, states and inputs. Every environment starts at
a scene (`scenes.py`) and plays random actions: 17 % each direction, 12 % A, 12 % B, 6 % nothing,
2 % START, each held for 1 to 6 emulator steps.

    raw     PyBoy alone plays exactly that again through its own API, without pictures or sound. It
            must lead to the same RAM
    env     `ZeldaOracle-v1`, one `step` at a time: observation, reward of the default preset, waits
    vector  `EmulatorVector` of N as in a training run: also recorders, coverage map, archive, and
            the arrays for the learner; no policy network

A ratio is CPU seconds of raw over those of the rung, for the same frames; the median of the rounds.
Loading a state and the warm-up of a later episode count for both, the first start and the first 200
steps of each environment, in which the encoder learns its surroundings, for neither. The rungs
alternate every few milliseconds, so that changes of the machine's speed affect all. `ppo_rung.py`
has the last rungs, on both cores: PPO end to end with buttons and with macros, and that of
Stable-Baselines3 on the same environment.

Exit code 0 if every measured target was met (of the interval, the lower end) and every RAM was the
same, else 1.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import ppo_rung
from bare import Bare, Script, ScriptPlayer, script_of
from gymnasium.utils import seeding
from outcome import begin, finish, parser_of, print_round, say, summary, verdicts
from scenes import scenes
from trainers import environment

from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.starts.power_on import NoStartError
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.followers.places import PlaceCounts, PlaceFollower
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start, StartSet, StartSource, initial_state
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.play.zelda_env import ZeldaOracleEnv
from rlaif.trainer.settings.game import CaptureSettings, GameSettings

TARGETS = {"env_ratio": 0.90, "vector_ratio": 0.80}
SEED = 11
TURN_STEPS = 25
"""Steps of each environment per turn of a rung."""

FIRST_STEPS = 200
"""Steps at the start of each environment that are played and not timed."""

CHANCES = (0.17, 0.17, 0.17, 0.17, 0.12, 0.12, 0.02, 0.06)
"""Probabilities of actions 0 to 7; uniform ones would open the menu most of the time."""

HOLD_STEPS = 6
"""Steps for which an action is held: with a change at each step the player stays in place."""


class Clock:
    """CPU seconds of this process by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, name: str, counts: bool = True) -> Iterator[None]:
        began = time.process_time()
        yield
        if counts:
            spent = time.process_time() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


class Ladder:
    """The rungs on the same scripts."""

    def __init__(
        self, cartridge: Cartridge, starts: Sequence[Start], options: argparse.Namespace
    ) -> None:
        self._config = EnvConfig(
            run_id="ladder",
            game=GameSettings(actions="seed", rom_path=options.rom, frame_skip=options.frame_skip),
            capture=CaptureSettings(best_episodes=0),
        )
        self._cartridge = cartridge
        self._frame_skip: int = options.frame_skip
        self._sources = [StartSet([start]) for start in starts]
        self._bares = [Bare(cartridge) for _ in range(options.envs)]
        rng = np.random.default_rng(SEED)
        self._single = [held_actions(rng, options.steps) for _ in starts]
        self._many = np.stack([held_actions(rng, options.steps) for _ in range(options.envs)], 1)
        self._one = [
            script_of(self._config, source, seeding.np_random(SEED)[0], actions.tolist())
            for source, actions in zip(self._sources, self._single, strict=True)
        ]
        streams = np.random.SeedSequence([SEED, 1, 0]).spawn(options.envs + 1)
        self._eight = [
            script_of(
                self._config, self._dealt(n), np.random.default_rng(streams[n]),
                self._many[:, n].tolist(),
            )
            for n in range(options.envs)
        ]  # fmt: skip
        self.env_steps = sum(actions.size - FIRST_STEPS for actions in self._single)
        self.vector_steps = (len(self._many) - FIRST_STEPS) * options.envs
        self.env_frames = frames_of(self._one, self._frame_skip)
        self.vector_frames = frames_of(self._eight, self._frame_skip)
        self.restarts = sum(len(script.episodes) - 1 for script in (*self._one, *self._eight))
        self.same_ram = True
        self._places = PlaceCounts()

    def round(self) -> dict[str, float]:
        """Play each rung once, in turns; return the figures."""
        raw_one, env = self._env_seconds()
        raw_many, vector = self._vector_seconds()
        return {
            "raw_frames_per_second": (self.env_frames + self.vector_frames) / (raw_one + raw_many),
            "env_decisions_per_second": self.env_steps / env,
            "env_frames_per_second": self.env_frames / env,
            "env_ratio": raw_one / env,
            "vector_decisions_per_second": self.vector_steps / vector,
            "vector_frames_per_second": self.vector_frames / vector,
            "vector_ratio": raw_many / vector,
        }

    def _dealt(self, n: int) -> StartSource:
        return self._sources[n % len(self._sources)]

    def _env_seconds(self) -> tuple[float, float]:
        """Measure seconds of raw and of the environments, scene by scene."""
        clock = Clock()
        for source, actions, script in zip(self._sources, self._single, self._one, strict=True):
            env = ZeldaOracleEnv({"env": self._config, "starts": source})
            env.reset(seed=SEED)
            raw = ScriptPlayer(self._bares[0], script, self._frame_skip)
            last = len(actions) - 1
            for first in range(0, len(actions), TURN_STEPS):
                turn = actions[first : first + TURN_STEPS]
                late = first >= FIRST_STEPS
                with clock.of("raw", late):
                    raw.play(len(turn))
                with clock.of("rung", late):
                    for at, action in enumerate(turn, start=first):
                        _, _, terminated, truncated, _ = env.step(action)
                        if (terminated or truncated) and at < last:
                            env.reset()
            self._compare([env.ram_digest()], [script])
            env.close()
        return clock.seconds["raw"], clock.seconds["rung"]

    def _vector_seconds(self) -> tuple[float, float]:
        """Measure seconds of raw and of the vector."""
        clock = Clock()
        vector = EmulatorVector(
            self._config, count=self._many.shape[1], runner=1, seed=SEED,
            starts=self._sources[0], follow=self._watch,
        )  # fmt: skip
        vector.begin_fragment(len(self._many), capture_quota=0, context=CaptureContext())
        raws = [
            ScriptPlayer(bare, script, self._frame_skip)
            for bare, script in zip(self._bares, self._eight, strict=True)
        ]
        for first in range(0, len(self._many), TURN_STEPS):
            turn = self._many[first : first + TURN_STEPS]
            late = first >= FIRST_STEPS
            with clock.of("raw", late):
                for raw in raws:
                    raw.play(len(turn))
            with clock.of("rung", late):
                for t, chosen in enumerate(turn, start=first):
                    vector.step(t, chosen)
        self._compare([game.emulator.ram_digest() for game in vector.games], self._eight)
        vector.close()
        return clock.seconds["raw"], clock.seconds["rung"]

    def _compare(self, digests: Sequence[str], scripts: Sequence[Script]) -> None:
        """Check that environment and script have equal RAM; raw is checked once, in `prove`."""
        self.same_ram &= list(digests) == [script.digest for script in scripts]

    def prove(self) -> None:
        """Check that the bare PyBoy reaches the RAM of the environments."""
        emulator = new_emulator(self._cartridge)
        for script in (*self._one, *self._eight):
            raw = ScriptPlayer(self._bares[0], script, self._frame_skip)
            raw.play(sum(len(episode.steps) for episode in script.episodes))
            emulator.load_state(self._bares[0].save())
            self._compare([emulator.ram_digest()], [script])
        emulator.close()

    def _watch(self, game: GameEnv, n: int) -> EpisodeFollower:
        """Like the environment runner, but the n-th game starts only at its own scene."""
        game.source.starts = self._dealt(n)
        return PlaceFollower(self._places, game)


def held_actions(rng: np.random.Generator, steps: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """`[steps] int64`: random actions, each held for 1 to `HOLD_STEPS` steps."""
    actions = np.repeat(rng.choice(8, steps, p=CHANCES), rng.integers(1, HOLD_STEPS + 1, steps))
    return actions[:steps]


def frames_of(scripts: Iterable[Script], frame_skip: int) -> int:
    """Number of timed game frames."""
    return sum(script.frames(frame_skip, FIRST_STEPS) for script in scripts)


def main() -> int:
    options = parse_options()
    if options.steps <= FIRST_STEPS:
        sys.exit(f"--steps {options.steps}: give more than the {FIRST_STEPS} that are not timed")
    begin()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    core = pin_to_one_core()
    try:
        cartridge = load_cartridge(options.rom)
        states = states_of(cartridge, options)
    except (CartridgeError, NoStartError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    starts = [Start.of(state, name) for name, state in states.items()]
    ladder = Ladder(cartridge, starts, options)
    ladder.prove()
    ladder.round()  # the first states of a run are archived here, and every page is in memory
    rows: list[dict[str, float]] = []
    for number in range(1, options.rounds + 1):
        rows.append(ladder.round())
        print_round(f"round {number}", rows[-1])
    if cores is not None:
        os.sched_setaffinity(0, cores)
    ppo = ppo_of(states, options)
    result = summary(rows, TARGETS) | ppo
    targets = {n: least for n, least in (TARGETS | ppo_rung.TARGETS).items() if n in result}
    said = verdicts(result, targets)
    met = set(said.values()) == {"met"}
    same_ram = ladder.same_ram and ppo.get("ppo_same_ram", True)
    say(f"scenes: {', '.join(start.provenance for start in starts)}")
    figures = {
        "benchmark": "ladder",
        **result,
        "targets": targets,
        "verdicts": said,
        "same_ram": same_ram,
        "rounds": options.rounds,
        "steps": {"env": ladder.env_steps, "vector": ladder.vector_steps},
        "frames": {"env": ladder.env_frames, "vector": ladder.vector_frames},
        "restarts": ladder.restarts,
        "scenes": [start.provenance for start in starts],
        "envs": options.envs,
        "frame_skip": options.frame_skip,
        "title": cartridge.title,
        "rom_sha256": cartridge.sha256,
        "sound_emulated": cartridge.needs_sound,
        "core": core,
    }
    return finish(figures, met=met and same_ram)


def ppo_of(states: dict[str, bytes], options: argparse.Namespace) -> dict[str, Any]:
    """The figures of the last rung; empty if it is omitted."""
    if not options.ppo_rounds:
        return {}
    with tempfile.TemporaryDirectory() as directory:
        env = environment(states, Path(directory), rom=options.rom, frame_skip=options.frame_skip)
        return ppo_rung.measure(env, options.ppo_rounds, options.ppo_iterations)


def states_of(cartridge: Cartridge, options: argparse.Namespace) -> dict[str, bytes]:
    """Name → save state: scenes of the embedded game, power-on of another."""
    if options.rom is None:
        return scenes(cartridge)
    emulator = new_emulator(cartridge)
    state = initial_state(emulator, cartridge, None)
    emulator.close()
    return {"power-on": state}


def pin_to_one_core() -> int | None:
    """Pin this process to one core; None if the system does not support it."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def parse_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=7, help="interleaved rounds (7)")
    add("--steps", type=int, default=600, help="steps of each environment a round (600)")
    add("--envs", type=int, default=8, help="environments of the vector (8)")
    add("--ppo-rounds", type=int, default=7, help="rounds of the last rungs; 0 leaves them out (7)")
    add("--ppo-iterations", type=int, default=6, help="timed iterations of each of them (6)")
    add("--frame-skip", type=int, default=4, help="game frames per step (4)")
    add("--rom", type=Path, help="ROM to play; the embedded game when left out")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
