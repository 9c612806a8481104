"""Suggestions of a language model: one button for one place, and how each of them ended."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from rlaif.contracts.planning.plans import Mode
from rlaif.contracts.telemetry.assistance import AssistanceEvent
from rlaif.game.machine.actions import Action
from rlaif.trainer.play.assist.figures import AssistanceFigures, reason, wanted
from rlaif.trainer.play.planner_port import PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts

_TILE_PIXELS = 16

Fate = Literal["followed", "declined", "expired", "left", "replaced"]
"""How a suggestion ended. The policy chose its button; or another one, as often as it was compared;
it expired; the room, the episode or the policy's turn was over; a newer one arrived."""

_MAX_EVENTS = 8
"""Newest suggestions in a report: there are more suggestions than plans, and both need room."""


class Spot(NamedTuple):
    """Where the player was when a button was asked for.

    Attributes:
        x, y: Pixels in the room.
        reads: A text or a menu was open: buttons mean something else then.
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


_NOWHERE = Spot(-1, -1, 0, 0, reads=False)


@dataclass
class KeptSuggestion:
    """The latest suggestion of one environment.

    Attributes:
        mode: `dialog` for a model that reads, `vision` for one that sees the screen.
        spot: Where the player was when it was requested.
        asked_step: Decision step of the episode at which it was requested.
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
    fate: Fate | None = None

    @classmethod
    def of(
        cls, reply: PlannerReply, spot: Spot | None = None, fate: Fate | None = None
    ) -> "KeptSuggestion":
        """The answer of a model that was asked at `spot`; None where the spot is irrelevant."""
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

    def end(self, fate: Fate) -> None:
        """Close it; one that was followed before counts as followed."""
        self.fate = "followed" if self.followed else fate

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "button": int(self.button), "spot": tuple(self.spot)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> "KeptSuggestion":
        button, spot = Action(values["button"]), Spot._make(values["spot"])
        return cls(**{**values, "button": button, "spot": spot})


class GuidanceRecord:
    """Counts and events of a runner's suggestions since the last report."""

    def __init__(self, runner: int) -> None:
        self._runner = runner
        self.account = AssistanceFigures()

    def end(self, n: int, suggestion: KeptSuggestion) -> None:
        """A suggestion for environment `n` has ended."""
        assert suggestion.fate is not None
        self.account.note_suggestion(suggestion.mode, suggestion.fate)
        self._note(
            AssistanceEvent(
                kind="suggestion",
                mode=suggestion.mode,
                env=f"{self._runner}-{n}",
                step=suggestion.asked_step,
                call="ok",
                wanted=wanted([suggestion.button.name]),
                reason=reason(suggestion.reason),
                followed=suggestion.fate == "followed",
                ending=suggestion.fate,
                latency_seconds=suggestion.latency_seconds,
                cached=suggestion.cached,
            )
        )

    def fail(self, reply: PlannerReply) -> None:
        """A question had no usable answer."""
        question = reply.question
        self._note(
            AssistanceEvent(
                kind="suggestion",
                mode=question.mode,
                env=f"{self._runner}-{question.env}",
                step=question.asked_step,
                call=reply.outcome,
                ending_reason=reason(reply.detail or ""),
                latency_seconds=reply.latency_seconds,
            )
        )

    def report(self, account: AssistanceFigures) -> None:
        """Add everything to `account` and start again."""
        account.add(self.account)
        self.account = AssistanceFigures()

    def _note(self, event: AssistanceEvent) -> None:
        self.account.note_event(event)
        del self.account.events[:-_MAX_EVENTS]
