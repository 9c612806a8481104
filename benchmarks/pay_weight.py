"""How loud is the reward model beside the game? Shares of reward and advantage, by weight.

    python benchmarks/pay_weight.py

The potential is the quest itself: the simulated expert's position, from -1 at the start to 1 at the
end, as a reward model would have it that learned the judges' word without a fault. Pay is counted
by the trainer's own code. Two kinds of play: the walkthrough, one episode from power-on; and
episodes that start along it and press buttons by chance, held for a while. The game's own rewards
are those of `TRAINER_REWARD_PRESET=default`, its novelty counted over the episodes. Prints the
machine, then one line of JSON. About two minutes on one core.
"""

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from played_segments import FRAME_SKIP, STEPS, Place, buttons, walkthrough_places
from scenes import walkthrough_inputs

from rlaif.contracts.quest import SAME_PLACE
from rlaif.game.description.describe import describe
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.state import decode
from rlaif.game.play.session import Held, PlayedEmulator
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.summary import summarise
from rlaif.mock_llm.expert.standing import position
from rlaif.testing.data.segments import state_records
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.rewards.game.ledger import EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions
from rlaif.trainer.rewards.learned.statistics import part_statistics

OBJECTIVES = 18
WEIGHTS = (1.0, 3.0, 10.0, 30.0)
GAMMA, LAMBDA = 0.999, 0.95
EPISODES, EPISODE_STEPS = 24, 450


@dataclass(frozen=True)
class Played:
    """One episode: `[T+1]` positions on the quest, `[T]` rewards of the game's own."""

    positions: NDArray[np.float64]
    rewards: NDArray[np.float32]

    def paid(self, weight: float) -> NDArray[np.float32]:
        """`[T]`; the episode is cut at its end."""
        phi = (2.0 * self.positions / OBJECTIVES - 1.0).astype(np.float32)[:, None, None]
        steps = len(self.rewards)
        none = np.zeros((steps, 1), dtype=np.bool_)
        shaper = PotentialShaper(gamma=GAMMA, weight=weight)
        return shaper.shape(
            0,
            Transitions(
                phi, none, none, np.zeros((0, 2), np.int64), np.zeros((0, 1), dtype=np.float32)
            ),
            lambda rows: rows[:, 0],
        )[:, 0]


class Visits:
    """In how many earlier episodes each square was visited."""

    def __init__(self) -> None:
        self._earlier: Counter[int] = Counter()
        self._now: set[int] = set()

    def episodes(self, square: int) -> int:
        """As `terms.VisitCounts`."""
        self._now.add(square)
        return self._earlier[square]

    def end_episode(self) -> None:
        """The running episode is an earlier one from now on."""
        self._earlier.update(self._now)
        self._now = set()


class Player:
    """Plays buttons on one emulator and looks after each decision step."""

    def __init__(self) -> None:
        cartridge = load_cartridge(None)
        self._words = words_of(cartridge.game, cartridge.data)
        self._emulator = PlayedEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
        self._visits = Visits()
        self._known: dict[str, float | None] = {}

    def play(self, state: bytes | None, pressed: Iterator[Held], steps: int) -> Played:
        """At most `steps` decision steps from a save state, or from power-on."""
        if state is not None:
            self._emulator.load_state(state)
        rewards = EpisodeRewards(preset("default"), self._visits)
        positions: list[float] = []
        earned: list[float] = []
        facts = None
        for frame, held in enumerate(pressed, start=1):
            self._emulator.frame(held)
            if frame % FRAME_SKIP:
                continue
            ram = read_blocks(self._emulator)
            at = self._position(ram)
            if facts is None:
                if at is None:
                    continue  # nobody plays yet
                facts = read_facts(ram)
                rewards.begin(facts)
                positions.append(at)
                continue
            facts = read_facts(ram, facts)
            earned.append(total(rewards.step(facts, 0)))
            # In a menu or a scene the player stands where he stood.
            positions.append(positions[-1] if at is None else at)
            if len(earned) == steps:
                break
        self._visits.end_episode()
        return Played(np.array(positions), np.array(earned, dtype=np.float32))

    def _position(self, ram: RamBlocks) -> float | None:
        told = json.loads(json.dumps(describe(decode(ram), self._words)))
        if not told.get("running", True):
            return None
        key = json.dumps([told["room"], told["player"], told["items"], told["dungeon_items"]])
        if key not in self._known:
            self._known[key] = position(summarise(described(state_records([told]))).end)
        return self._known[key]


def loudness(episodes: list[Played]) -> dict[str, dict[str, float | None]]:
    """Weight → share of absolute reward and of the advantages' variance."""
    ended = [np.eye(1, len(e.rewards), len(e.rewards) - 1, dtype=bool).T for e in episodes]
    found = {}
    for weight in WEIGHTS:
        parts = {
            "game": [e.rewards[:, None] for e in episodes],
            "shaping": [e.paid(weight)[:, None] for e in episodes],
        }
        of = part_statistics(parts, ended, decay=GAMMA * LAMBDA)["shaping"]
        found[f"{weight:g}"] = {"share": of.share, "advantage_share": of.advantage_share}
    return found


def segments(episodes: list[Played]) -> dict[str, float]:
    """Of segments that walk to the next objective without reaching it: the game's pay, the rise."""
    game, rise, whole = [], [], 0
    for episode in episodes:
        for at in range(0, len(episode.rewards) - STEPS, STEPS):
            start, end = episode.positions[[at, at + STEPS]]
            whole += 1
            if int(start) == int(end) and end - start > SAME_PLACE:
                game.append(float(episode.rewards[at : at + STEPS].sum()))
                rise.append(float(end - start))
    return {
        "segments": whole,
        "that_walk_closer": len(rise),
        "game_a_segment": float(np.mean(game)),
        "game_a_segment_median": float(np.median(game)),
        "objectives_a_segment": float(np.mean(rise)),
    }


def main() -> int:
    """Play, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    rng = np.random.default_rng(parser.parse_args().seed)
    walked = [Player().play(None, walkthrough_inputs(), 1 << 30)]
    places: list[Place] = walkthrough_places()
    player = Player()
    by_chance = [
        player.play(place.state, buttons("sticky", place, rng), EPISODE_STEPS)
        for place in (places[int(rng.integers(len(places)))] for _ in range(EPISODES))
    ]
    print(f"{platform.machine()}, Python {platform.python_version()}, one process")
    for name, episodes in (("walkthrough", walked), ("by chance", by_chance)):
        told = {"play": name, "steps": sum(len(e.rewards) for e in episodes)}
        told |= segments(episodes) | {"weights": loudness(episodes)}
        print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
