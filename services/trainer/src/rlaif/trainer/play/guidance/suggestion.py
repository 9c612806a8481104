"""A suggestion as it is kept: which button, for which moment, and what became of it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from rlaif.contracts.plans import Mode
from rlaif.game.machine.actions import Action
from rlaif.trainer.play.planner_port import PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts

_TILE_PIXELS = 16

Fate = Literal["followed", "declined", "expired", "left", "replaced"]
"""How a suggestion ended. The policy chose its button; or another one, as often as it was compared;
it was too old before the policy came to decide there; the room, the episode or the policy's turn
was over; a newer one came."""


class Spot(NamedTuple):
    """Where the player was when a button was asked for.

    Attributes:
        x, y: Pixels in the room.
        reads: A text or a menu was open: the buttons mean something else then.
    """

    group: int
    room: int
    x: int
    y: int
    reads: bool

    @classmethod
    def of(cls, facts: GameFacts) -> "Spot":
        """The spot of one moment."""
        return cls(facts.group, facts.room, facts.x, facts.y, facts.text or facts.menu)

    def shares_room_with(self, other: "Spot") -> bool:
        """Whether both are in one room."""
        return self[:2] == other[:2]

    def is_like(self, other: "Spot", tiles: int) -> bool:
        """Whether both, of one room, are at most so many tiles apart, with or without a text."""
        apart = max(abs(self.x - other.x), abs(self.y - other.y))
        return self.reads == other.reads and apart <= tiles * _TILE_PIXELS


_NOWHERE = Spot(-1, -1, 0, 0, reads=False)


@dataclass
class KeptSuggestion:
    """The latest suggestion of one environment.

    Attributes:
        mode: Who was asked: `dialog` reads, `vision` looks.
        button: The action that was suggested.
        spot: Where the player was when it was asked for.
        asked_step: Decision step of the episode at which it was asked for; its age counts from it.
        latency_seconds: From question to answer.
        cached: Nobody was asked: an equal question had been answered.
        compared: Decisions of the policy that it was compared with.
        followed: Those among them that chose its button.
        paid: What following it has been paid.
        fate: How it ended; None while it counts.
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
    fate: Fate | None = None

    @classmethod
    def of(
        cls, reply: PlannerReply, spot: Spot | None = None, fate: Fate | None = None
    ) -> "KeptSuggestion":
        """What a model answered that was asked at `spot`; None where that does not matter more."""
        assert reply.suggestion is not None
        return cls(
            mode=reply.question.mode,
            button=Action[reply.suggestion.button],
            reason=reply.suggestion.reason,
            spot=spot or _NOWHERE,
            asked_step=reply.question.asked_step,
            latency_seconds=reply.latency_seconds,
            cached=reply.cached,
            fate=fate,
        )

    def age(self, step: int) -> int:
        """Decision steps since it was asked for, at decision step `step` of the same episode."""
        return step - self.asked_step

    def end(self, fate: Fate) -> None:
        """It counts no more; one that was followed before stays so."""
        self.fate = "followed" if self.followed else fate

    def plain(self) -> dict[str, Any]:
        """As plain values, for a checkpoint."""
        return {**asdict(self), "button": int(self.button), "spot": tuple(self.spot)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> "KeptSuggestion":
        """What `plain` gave."""
        button, spot = Action(values["button"]), Spot._make(values["spot"])
        return cls(**{**values, "button": button, "spot": spot})
