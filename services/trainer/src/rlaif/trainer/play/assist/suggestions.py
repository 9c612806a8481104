"""Suggestions of a language model: one button for one place each, and their outcomes."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from rlaif.contracts.planning.plans import Mode
from rlaif.contracts.telemetry.assistance import AssistanceEvent
from rlaif.game.machine.actions import Action
from rlaif.trainer.play.assist.figures import SuggestionFate, reason, wanted
from rlaif.trainer.play.planner_port import PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts

_TILE_PIXELS = 16


class Spot(NamedTuple):
    """Position of the player when a button was requested.

    Attributes:
        x, y: Pixels in the room.
        reads: Whether a text or a menu was open, where buttons have another meaning.
    """

    group: int
    room: int
    x: int
    y: int
    reads: bool

    @classmethod
    def of(cls, facts: GameFacts) -> "Spot":
        return cls(facts.group, facts.room, facts.x, facts.y, facts.text or facts.menu)

    def shares_room_with(self, other: "Spot") -> bool:
        return self[:2] == other[:2]

    def is_like(self, other: "Spot", tiles: int) -> bool:
        """Whether two spots of a room are within so many tiles, both with or without text."""
        apart = max(abs(self.x - other.x), abs(self.y - other.y))
        return self.reads == other.reads and apart <= tiles * _TILE_PIXELS


NOWHERE = Spot(-1, -1, 0, 0, reads=False)


@dataclass
class KeptSuggestion:
    """The latest suggestion of one environment.

    Attributes:
        mode: `dialog` for a text model, `vision` for one that sees the screen.
        spot: Where the player was when it was requested.
        asked_step: Emulator step of the episode at which it was requested.
        cached: An equal question had been answered before.
        compared: Decisions of the policy that it was compared with.
        followed: Of these, decisions that chose its button.
        paid: Bonus for following it.
        fate: How it ended; None while it is open.
    """

    mode: Mode
    button: Action
    reason: str
    spot: Spot
    asked_step: int
    latency_seconds: float = 0.0
    cached: bool = False
    compared: int = 0
    followed: int = 0
    paid: float = 0.0
    fate: SuggestionFate | None = None

    @classmethod
    def of(cls, reply: PlannerReply, spot: Spot) -> "KeptSuggestion":
        assert reply.suggestion is not None
        return cls(
            mode=reply.question.mode,
            button=Action[reply.suggestion.button],
            reason=reply.suggestion.reason,
            spot=spot,
            asked_step=reply.question.asked_step,
            latency_seconds=reply.latency_seconds,
            cached=reply.cached,
        )

    def event(self, env: str) -> AssistanceEvent:
        """The report on a suggestion for environment `env` that has ended."""
        assert self.fate is not None
        return AssistanceEvent(
            kind="suggestion",
            mode=self.mode,
            env=env,
            step=self.asked_step,
            call="ok",
            wanted=wanted([self.button.name]),
            reason=reason(self.reason),
            followed=self.fate == "followed",
            ending=self.fate,
            latency_seconds=self.latency_seconds,
            cached=self.cached,
        )

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "button": int(self.button), "spot": tuple(self.spot)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> "KeptSuggestion":
        button, spot = Action(values["button"]), Spot._make(values["spot"])
        return cls(**{**values, "button": button, "spot": spot})
