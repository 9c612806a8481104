"""One decision of one game: its number in, base steps to press out, and what it came to.

    step.begin(index)
    while (button := step.button()) is not None:    # one base step of four frames each
        ... the emulator plays it, `GameEnv.finish_step` gives an outcome ...
        step.note(outcome)
    step.reward, step.frames, step.died, step.ended

A decision lasts one base step at least. It is over when `carry_out` says so, when the episode ends,
or when the player dies: then it lasts until the game has put him somewhere again, so that a policy
decides where it can.
"""

from typing import Any

from rlaif.game.decisions.catalog import BUTTON, DECISIONS, Decision
from rlaif.game.decisions.in_vain import InVain
from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.room_graph import RoomGraph, RoomGraphError
from rlaif.game.skills.script import Option
from rlaif.trainer.play.game_env import GameEnv, StepOutcome
from rlaif.trainer.rewards.learned.discounting import discount_of

MOST_LYING = 150
"""Base steps that a dead player waits for his next life, 10 s; in a menu that asks what now, the
policy decides."""


def button_of(index: int) -> int:
    """The button that a decision comes to, as somebody would name it who sees the screen; or -1."""
    return _BUTTONS[index]


def _named(decision: Decision) -> int:
    match decision.family:
        case "BUTTON":
            return decision.index
        case "INTERACT":
            return int(Action.A)
        case "AIMED" | "FIGHT":
            return int(Action.B)
        case _:
            return -1 if decision.direction is None else int(decision.direction)


_BUTTONS = tuple(_named(decision) for decision in DECISIONS)


class DecisionStep:
    """The decisions of one environment, one after the other.

    Attributes:
        last: The decision played last in this episode; None before the first one.
        in_vain: What changed nothing where the game stands; whoever reads the moment in which the
            next decision is made lets it look.
        before: Decisions of this episode before this one; of its part since a resume.
        reward: The game's own, of all base steps of this decision; the later ones discounted.
        frames: Game frames of this decision, waits included.
        steps: Base steps of this decision.
        died: The player was dead at some moment of this decision and the episode went on.
        outcome: Of the base step played last.
    """

    frames: int
    outcome: StepOutcome | None

    def __init__(self, game: GameEnv, *, gamma: float) -> None:
        """Decide for `game`; `gamma` is the discount of four frames."""
        self._game, self._gamma = game, gamma
        self.begin_episode()

    def begin_episode(self) -> None:
        """Another episode starts: what was decided or walked in the one before is forgotten."""
        self._ways = RoomGraph()
        self.in_vain = InVain()
        self._option: Option | None = None
        self.last: int | None = None
        self.before = -1
        self._clear()

    def begin(self, index: int) -> None:
        """Make decision number `index` in this moment of the game."""
        self._clear()
        self.last = index
        self.in_vain.decide(index)
        self.before += 1
        self._button, self._option = index, None
        self.died = self._was_dead = self._game.facts.dead
        if index >= BUTTON.stop:
            ram = read_blocks(self._game.emulator)
            self._option = carry_out(index, ram, graph=self._ways)

    def button(self) -> int | None:
        """What is pressed in the base step that comes now; None: the decision is over."""
        if self.ended:
            return None
        if self.died and not self._was_dead:
            self._lying += 1
            lies = self._game.facts.dead and self._lying <= MOST_LYING
            return int(Action.NOP) if lies else None
        if self._option is None:
            return None if self.steps else self._button
        choice = self._option.next(read_blocks(self._game.emulator))
        if choice.over:
            return None if self.steps else int(Action.NOP)
        return int(choice.action)

    def note(self, outcome: StepOutcome) -> None:
        """The base step was played."""
        if outcome.reward:
            self.reward += discount_of(self.frames, self._gamma) * outcome.reward
        self.frames = self._game.frames - self._began
        self.steps += 1
        self.outcome = outcome
        if self._game.facts.dead and not outcome.terminated:
            self.died = True

    @property
    def ended(self) -> bool:
        """Whether the episode ended with this decision."""
        return self.outcome is not None and (self.outcome.terminated or self.outcome.truncated)

    def state_dict(self) -> dict[str, Any]:
        """What of the episode counts between two decisions, as plain values."""
        return {
            "last": self.last,
            "ways": self._ways.to_json(),
            "in_vain": self.in_vain.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume in the middle of an episode."""
        self.begin_episode()
        self.last = state["last"]
        if "in_vain" in state:  # else saved by another version
            self.in_vain.load_state_dict(state["in_vain"])
        try:
            self._ways = RoomGraph.from_json(state["ways"])
        except RoomGraphError:
            self._ways = RoomGraph()  # saved by another version

    def _clear(self) -> None:
        self._began = self._game.frames
        self._was_dead, self._lying = False, 0
        self.reward = 0.0
        self.frames = self.steps = 0
        self.died = False
        self.outcome = None
