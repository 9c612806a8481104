"""How much of the emulator's own speed is left for play? Raw PyBoy, one environment, a vector.

    python benchmarks/ladder.py            or: make ladder

One core, the same game, the same states, the same inputs: what the environments played, waits
included, is played again on a bare PyBoy, and the RAM must be the same at the end. A rung's ratio
is the time of the bare PyBoy over the rung's own. Rounds are interleaved, so that a machine that
slows down slows all rungs; times are CPU seconds of this process. Prints a line for each round,
then the machine, then one line of JSON. Exit code 0 when every target was met, else 1.

    raw     PyBoy alone: press, tick, release; no picture, no sound
    bulk    PyBoy alone, all frames in ticks of 400 and no button: the upper end, for comparison
    env     ZeldaOracle-v1: observation, reward, waits, watchdog; one `step` at a time
    vector  `EmulatorVector` of N: the same with recorders and arrays for the learner
"""

import argparse
import io
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from rlaif.game.actions import BUTTONS, DIRECTIONS
from rlaif.game.cartridges import Cartridge, load_cartridge
from rlaif.game.emulator import PyBoyEmulator
from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.game_env import GameEnv
from rlaif.trainer.env.recorder import CaptureContext
from rlaif.trainer.env.start import StartSource, start_set
from rlaif.trainer.env.vector import EmulatorVector
from rlaif.trainer.env.zelda_env import ZeldaOracleEnv

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pyboy imports SDL2, which warns; no window is opened
    from pyboy import PyBoy

ENV_TARGET, VECTOR_TARGET = 0.80, 0.75
BULK_FRAMES = 400
SEED = 11


@dataclass
class Episode:
    """What one environment played: from which state, after which warm-up, which steps.

    Each step is (action, frames waited).
    """

    state: bytes
    warm_up: tuple[tuple[int, int], ...]
    steps: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Script:
    """The episodes of one environment and the RAM digest at their end."""

    episodes: list[Episode]
    digest: str

    def frames(self, frame_skip: int) -> int:
        return sum(frame_skip + wait for episode in self.episodes for _, wait in episode.steps)


class Bare:
    """PyBoy as it comes, driven through its own API."""

    def __init__(self, cartridge: Cartridge) -> None:
        self.pyboy: Any = PyBoy(
            io.BytesIO(cartridge.data),
            window="null",
            no_input=True,
            sound_emulated=cartridge.needs_sound,
            log_level="ERROR",
            cgb=bool(cartridge.data[0x143] & 0x80),
        )
        self.pyboy.set_emulation_speed(0)

    def load(self, state: bytes) -> None:
        self.pyboy.load_state(io.BytesIO(state))
        for button in BUTTONS:
            if button is not None:
                self.pyboy.button_release(button)

    def play(self, steps: Iterable[tuple[int, int]], frame_skip: int) -> None:
        pyboy = self.pyboy
        held = None
        for action, wait in steps:
            if held is not None:
                pyboy.button_release(held)
                held = None
            button = BUTTONS[action]
            if button is None:
                pyboy.tick(frame_skip, False, False)
            else:
                pyboy.button_press(button)
                if action in DIRECTIONS or frame_skip == 1:
                    held = button
                    pyboy.tick(frame_skip, False, False)
                else:
                    pyboy.tick(frame_skip - 1, False, False)
                    pyboy.button_release(button)
                    pyboy.tick(1, False, False)
            if wait:
                if held is not None:
                    pyboy.button_release(held)
                    held = None
                pyboy.tick(wait, False, False)


def raw_seconds(bare: Bare, scripts: Sequence[Script], frame_skip: int) -> float:
    """Seconds for the steps; loading states and warm-ups are not counted."""
    seconds = 0.0
    for script in scripts:
        for episode in script.episodes:
            bare.load(episode.state)
            bare.play(episode.warm_up, frame_skip)
            began = time.process_time()
            bare.play(episode.steps, frame_skip)
            seconds += time.process_time() - began
    return seconds


def bulk_seconds(bare: Bare, script: Script, frames: int) -> float:
    bare.load(script.episodes[0].state)
    began = time.process_time()
    for _ in range(frames // BULK_FRAMES):
        bare.pyboy.tick(BULK_FRAMES, False, False)
    return time.process_time() - began


def script_of(
    config: EnvConfig, starts: StartSource, rng: np.random.Generator, actions: Sequence[int]
) -> Script:
    """Play `actions` and write down everything that a bare PyBoy needs to play them again."""
    game = GameEnv(config, rng, starts=starts)
    row = np.empty(128, dtype=np.float32)
    episodes = [begin(game, row)]
    for at, action in enumerate(actions):
        outcome = game.step(action, row)
        episodes[-1].steps.append((action, outcome.wait))
        if (outcome.terminated or outcome.truncated) and at + 1 < len(actions):
            episodes.append(begin(game, row))
    digest = game.emulator.ram_digest()
    game.close()
    return Script(episodes, digest)


def begin(game: GameEnv, row: np.ndarray[Any, Any]) -> Episode:
    game.reset(row)
    return Episode(game.start.state, game.warm_up)


def env_seconds(env: ZeldaOracleEnv, actions: Sequence[int]) -> float:
    """Seconds for the steps, restarts of ended episodes included."""
    env.reset(seed=SEED)
    last = len(actions) - 1
    choices = [np.int64(action) for action in actions]
    began = time.process_time()
    for at, action in enumerate(choices):
        _, _, terminated, truncated, _ = env.step(action)
        if (terminated or truncated) and at < last:
            env.reset()
    return time.process_time() - began


def vector_seconds(
    config: EnvConfig, starts: StartSource, actions: np.ndarray[Any, Any]
) -> tuple[float, list[str]]:
    """Seconds for the steps of all, restarts included, and where each came to."""
    vector = EmulatorVector(config, count=actions.shape[1], runner=1, seed=SEED, starts=starts)
    vector.begin_fragment(len(actions), capture_quota=0, context=CaptureContext())
    began = time.process_time()
    for t, chosen in enumerate(actions):
        vector.step(t, chosen)
    seconds = time.process_time() - began
    digests = vector.ram_digests()
    vector.close()
    return seconds, digests


def main() -> int:
    options = parse_options()
    core = pin_to_one_core()
    cartridge = load_cartridge(options.rom)
    config = EnvConfig(
        run_id="ladder",
        rom_path=options.rom,
        initial_state_path=options.state,
        frame_skip=options.frame_skip,
    )
    first = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    starts = start_set(first, config.start_paths)
    first.close()
    rng = np.random.default_rng(SEED)
    single = rng.integers(0, 8, options.steps * 2).tolist()
    many = rng.integers(0, 8, (options.steps, options.envs))
    streams = np.random.SeedSequence([SEED, 1, 0]).spawn(options.envs + 1)
    one = script_of(config, starts, seeding.np_random(SEED)[0], single)
    scripts = [
        script_of(config, starts, np.random.default_rng(streams[n]), many[:, n].tolist())
        for n in range(options.envs)
    ]
    bare, env = Bare(cartridge), ZeldaOracleEnv({"env": config})
    one_frames = one.frames(options.frame_skip)
    many_frames = sum(script.frames(options.frame_skip) for script in scripts)
    rows: list[dict[str, float]] = []
    same = True
    for number in range(1, options.rounds + 1):
        raw_one = raw_seconds(bare, [one], options.frame_skip)
        env_time = env_seconds(env, single)
        same &= env.ram_digest() == one.digest
        raw_many = raw_seconds(bare, scripts, options.frame_skip)
        vector_time, digests = vector_seconds(config, starts, many)
        same &= digests == [script.digest for script in scripts]
        bulk = bulk_seconds(bare, one, one_frames)
        rows.append(
            {
                "raw_fps": (one_frames + many_frames) / (raw_one + raw_many),
                "bulk_fps": one_frames // BULK_FRAMES * BULK_FRAMES / bulk,
                "env_steps_per_second": len(single) / env_time,
                "env_fps": one_frames / env_time,
                "env_ratio": raw_one / env_time,
                "vector_steps_per_second": many.size / vector_time,
                "vector_fps": many_frames / vector_time,
                "vector_ratio": raw_many / vector_time,
            }
        )
        told = ", ".join(f"{name} {value:.4g}" for name, value in rows[-1].items())
        print(f"round {number}: {told}", flush=True)
    env.close()
    result = {name: round(median(row[name] for row in rows), 4) for name in rows[0]}
    met = result["env_ratio"] >= ENV_TARGET and result["vector_ratio"] >= VECTOR_TARGET
    print(machine())
    print(
        json.dumps(
            {
                "benchmark": "ladder",
                **result,
                "env_ratio_rounds": [round(row["env_ratio"], 4) for row in rows],
                "vector_ratio_rounds": [round(row["vector_ratio"], 4) for row in rows],
                "targets": {"env_ratio": ENV_TARGET, "vector_ratio": VECTOR_TARGET},
                "targets_met": met,
                "same_ram": same,
                "rounds": options.rounds,
                "steps": {"env": len(single), "vector": many.size},
                "frames": {"env": one_frames, "vector": many_frames},
                "envs": options.envs,
                "frame_skip": options.frame_skip,
                "title": cartridge.title,
                "rom_sha256": cartridge.sha256,
                "machine": machine(),
                "core": core,
            }
        )
    )
    return 0 if met and same else 1


def pin_to_one_core() -> int | None:
    """Keep this process on one core; None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def machine() -> str:
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = [s for s in cpuinfo.read_text().splitlines() if s.startswith("model name")]
        name = found[0].partition(":")[2].strip() if found else name
    return (
        f"{name}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, PyBoy {version('pyboy')}, numpy {np.__version__}"
    )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (7)")
    parser.add_argument("--steps", type=int, default=1000, help="steps of each environment (1000)")
    parser.add_argument("--envs", type=int, default=8, help="environments of the vector (8)")
    parser.add_argument("--frame-skip", type=int, default=4, help="game frames a step (4)")
    parser.add_argument("--rom", type=Path, help="ROM to play; the embedded game when left out")
    parser.add_argument("--state", type=Path, help="save state to start at; else power-on")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
