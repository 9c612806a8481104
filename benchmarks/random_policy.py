"""How far does chance come? A policy that presses one of the 8 buttons at random at every step.

    python benchmarks/random_policy.py
    python benchmarks/random_policy.py --hold 16   each button is kept for 1 to 16 steps
    python benchmarks/random_policy.py --archive   with restarts from the archive of states

Each seed plays its own game from power-on, 200,000 decision steps of four frames. A death ends
nothing: the game goes on at the last door, and so does the policy. With `--archive` play is cut
into episodes as in training, and episodes start at archived states of seldom visited places; a way
through several of them counts as one way from power-on. Prints progress, then the machine, then
one line of JSON. Exit code 0 when nobody completed the game, else 1.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import Story, fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.play.exploration.explorer import ExploreConfig, Explorer
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.exploration import ExploreSettings
from rlaif.trainer.settings.game import GameSettings

NEVER = 1 << 40
"""Steps after which an episode is cut when it is not to be."""

MARKS = 10


@dataclass
class Journey:
    """What one seed came to.

    Attributes:
        milestones: Name → decision step at which it was reached first.
        fraction: Share of the main steps of the story in the best game, 0 to 1.
        rooms, squares: Distinct ones.
    """

    seed: int
    steps: int = 0
    frames: int = 0
    deaths: int = 0
    episodes: int = 0
    restarts: int = 0
    states: int = 0
    milestones: dict[str, int] = field(default_factory=dict)
    fraction: float = 0.0
    rooms: int = 0
    squares: int = 0
    seconds: float = 0.0


class Watch:
    """Notes where a game comes to."""

    def __init__(self, journey: Journey, story: Story) -> None:
        self.journey = journey
        self._story = story
        self._rooms: set[int] = set()
        self._squares: set[int] = set()
        self._last: GameFacts | None = None

    def look(self, game: GameEnv) -> None:
        facts, last = game.facts, self._last
        self._last = facts
        if facts.dead and last is not None and not last.dead:
            self.journey.deaths += 1
        if not facts.settled or facts is last:
            return
        room = facts.room_index
        is_known = room in self._rooms and last is not None and facts.progress is last.progress
        self._rooms.add(room)
        self._squares.add(facts.square_index)
        self.journey.rooms, self.journey.squares = len(self._rooms), len(self._squares)
        if is_known and last is not None and last.room == facts.room:
            return
        reached = milestones_reached(read_blocks(game.emulator), self._story)
        for milestone in reached:
            self.journey.milestones.setdefault(milestone.name, self.journey.steps)
        self.journey.fraction = max(self.journey.fraction, fraction(reached, self._story))


def play(options: argparse.Namespace, seed: int) -> Journey:
    """One seed, from power-on to its last step."""
    began = time.perf_counter()
    rng = np.random.default_rng([seed, 0xACE])
    settings = GameSettings(
        actions="seed",
        rom_path=options.rom,
        frame_skip=options.frame_skip,
        episode_length=options.episode_length if options.archive else NEVER,
    )
    game = GameEnv(settings, np.random.default_rng(seed))
    journey = Journey(seed)
    watch = Watch(journey, story_of(game.cartridge.game))
    with tempfile.TemporaryDirectory() as directory:
        explorer = (
            explorer_of(game, settings, Path(directory), options) if options.archive else None
        )
        follow(game, journey, watch, rng, options, explorer)
        if explorer is not None and explorer.archive is not None:
            journey.states = len(explorer.archive)
    game.close()
    journey.seconds = round(time.perf_counter() - began, 1)
    return journey


def explorer_of(
    game: GameEnv, settings: GameSettings, directory: Path, options: argparse.Namespace
) -> Explorer:
    explore = ExploreConfig(
        directory,
        ExploreSettings(restarts=options.restarts, practice=0.0),
        save_every=options.save_every,
    )
    explorer = Explorer.of_game(
        explore,
        runner=1,
        cartridge=game.cartridge,
        emulator=game.emulator,
        frame_skip=settings.frame_skip,
    )
    game.starts = explorer.starts(game.starts)
    return explorer


def follow(
    game: GameEnv,
    journey: Journey,
    watch: Watch,
    rng: np.random.Generator,
    options: argparse.Namespace,
    explorer: Explorer | None,
) -> None:
    """Play all steps; where there is an explorer, in episodes that it follows."""
    watcher: EpisodeFollower | None = None if explorer is None else explorer.environment(0, game)
    row = np.empty(128, dtype=np.float32)
    begin(game, journey, watch, watcher, row)
    actions = drawn(rng, options.steps, options.hold)
    for step, action in enumerate(actions, start=1):
        outcome = game.step(action, row)
        journey.steps = step
        journey.frames += options.frame_skip + outcome.wait
        watch.look(game)
        if watcher is not None:
            watcher.after_step(game.emulator, game.facts, action, outcome.wait)
            if outcome.terminated or outcome.truncated:
                begin(game, journey, watch, watcher, row)
        if step % (options.steps // MARKS) == 0:
            tell(journey)


def drawn(rng: np.random.Generator, steps: int, hold: int) -> list[int]:
    """Actions, all alike likely, each kept for 1 to `hold` steps."""
    choices = rng.integers(0, len(Action), steps)
    held = np.repeat(choices, rng.integers(1, hold + 1, steps))
    return [int(action) for action in held[:steps]]


def begin(
    game: GameEnv,
    journey: Journey,
    watch: Watch,
    watcher: EpisodeFollower | None,
    row: "np.ndarray[tuple[int], np.dtype[np.float32]]",
) -> None:
    game.reset(row)
    journey.episodes += 1
    journey.restarts += game.start.provenance.startswith("archive:")
    if watcher is not None:
        watcher.begin_episode(game.emulator, game.facts, game.start, game.warm_up)
    watch.look(game)


def tell(journey: Journey) -> None:
    print(
        f"seed {journey.seed} step {journey.steps}: {journey.rooms} rooms, "
        f"{journey.squares} squares, {journey.deaths} deaths, "
        f"milestones {', '.join(journey.milestones) or 'none'}",
        flush=True,
    )


def report(options: argparse.Namespace, journeys: Sequence[Journey]) -> dict[str, object]:
    cartridge = load_cartridge(options.rom)
    story = story_of(cartridge.game)
    main_steps = [milestone.name for milestone in story.milestones if milestone.is_main]
    reached = [m.name for m in story.milestones if any(m.name in j.milestones for j in journeys)]
    return {
        "benchmark": "random_policy",
        "steps": options.steps,
        "seeds": len(journeys),
        "hold": options.hold,
        "archive": options.archive,
        "milestones": reached,
        "milestones_main": len(set(reached) & set(main_steps)),
        "milestones_total": len(main_steps),
        "extras_total": len(story.milestones) - len(main_steps),
        "fraction": round(max(journey.fraction for journey in journeys), 4),
        "rooms": max(journey.rooms for journey in journeys),
        "squares": max(journey.squares for journey in journeys),
        "deaths": sum(journey.deaths for journey in journeys),
        "completed": bool(main_steps) and any(main_steps[-1] in j.milestones for j in journeys),
        "frame_skip": options.frame_skip,
        "journeys": [asdict(journey) for journey in journeys],
        "title": cartridge.title,
        "rom_sha256": cartridge.sha256,
        "pyboy": version("pyboy"),
    }


def main() -> int:
    options = parse_options()
    seeds = range(options.seed, options.seed + options.seeds)
    with ProcessPoolExecutor(options.jobs) as pool:
        journeys = list(pool.map(play, [options] * len(seeds), seeds))
    for journey in journeys:
        for name, step in sorted(journey.milestones.items(), key=lambda found: found[1]):
            print(f"seed {journey.seed}: {name} at step {step}")
    result = report(options, journeys)
    print(
        f"machine: {platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    )
    print(json.dumps(result))
    return 1 if result["completed"] else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="decision steps a seed (200000)")
    parser.add_argument("--seeds", type=int, default=3, help="games, each from power-on (3)")
    parser.add_argument("--seed", type=int, default=0, help="of the first game (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--frame-skip", type=int, default=4, help="game frames a step (4)")
    parser.add_argument("--rom", type=Path, help="ROM to play; the embedded game when left out")
    parser.add_argument("--hold", type=int, default=1, help="most steps of one action (1)")
    parser.add_argument("--archive", action="store_true", help="episodes start at archived states")
    parser.add_argument("--episode-length", type=int, default=500, help="with --archive (500)")
    parser.add_argument("--restarts", type=float, default=0.9, help="share, with --archive (0.9)")
    parser.add_argument(
        "--save-every", type=int, default=100, help="steps between two states, with --archive (100)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
