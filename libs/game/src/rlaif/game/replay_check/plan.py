"""How a ROM is played for the check: numbers in, the same random actions for every emulator out."""

import random
from dataclasses import dataclass

from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator

_LONGEST_HOLD = 12
_BOOT_PRESS_FRAMES = 8
_MAY_BE_ZERO = frozenset({"boot_frames", "boot_presses", "seed"})


class WrongPlanError(ValueError):
    """The plan proves nothing; the message says which number is wrong."""


@dataclass(frozen=True)
class CheckPlan:
    """How much to play."""

    segments: int = 200
    steps: int = 75  # decision steps a segment
    frame_skip: int = 4  # frames a decision step
    boot_frames: int = 240  # without a button after power-on
    boot_presses: int = 120  # random, eight frames each, to get past title screens
    trace_steps: int = 300  # after boot, compared between processes and settings
    save_points: int = 40  # states to save and load in the middle of play
    tampered: int = 20  # segments; 0 only for a second look with the other sound setting
    seed: int = 0  # decides all random actions

    def check(self) -> None:
        """Raise WrongPlanError unless every check has something to look at."""
        for name, number in vars(self).items():
            least = 0 if name in _MAY_BE_ZERO else 1
            if number < least:
                raise WrongPlanError(
                    f"--{name.replace('_', '-')} {number} leaves nothing to prove: "
                    f"give {least} or more"
                )

    def actions(self, number: int, purpose: str) -> list[Action]:
        """`number` random actions; each is held for 1 to 12 steps, as a player would.

        The same purpose and seed give the same actions in every process.
        """
        rng = random.Random(f"{self.seed} {purpose}")
        found: list[Action] = []
        while len(found) < number:
            found += [rng.choice(tuple(Action))] * rng.randint(1, _LONGEST_HOLD)
        return found[:number]

    def places(self, number: int, below: int, purpose: str) -> list[int]:
        """At most `number` different random numbers from 0 to `below` - 1, in order."""
        rng = random.Random(f"{self.seed} {purpose}")
        return sorted(rng.sample(range(below), min(number, below)))

    def boot(self, emulator: Emulator) -> None:
        """From power-on to somewhere: frames, then random presses with START every other time."""
        emulator.tick(self.boot_frames)
        for number, action in enumerate(self.actions(self.boot_presses, "boot")):
            emulator.step(Action.START if number % 2 else action, _BOOT_PRESS_FRAMES)
