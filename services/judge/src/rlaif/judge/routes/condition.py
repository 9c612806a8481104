"""How a route is: well, or since when and why not, for text and for pictures apart.

One failure tells nothing of its cause. So a route is held to a question of the judge's own that is
known to be good (`rlaif.judge.routes.examining`): a route that answers it is well, and what failed
is the request; a route that does not is in trouble, and no request is to blame.
"""

from dataclasses import dataclass, field
from typing import Literal

from rlaif.judge.routes.errors import BreakReason
from rlaif.judge.settings import PatienceSettings
from rlaif.llm.ports import FaultyReplyError, Modality, ModelError, UnreadableAnswerError

TroubleKind = Literal["down", "refused", "unreadable"]
"""`down` may pass by itself: no connection, silence, 5xx, 429. `refused` needs people: a wrong key,
path or model name, or something that is no language model. `unreadable`: the model answers in a
form that the judge cannot read."""


@dataclass(frozen=True)
class Trouble:
    """Why a route cannot be used, found at `since`; `blind` when only pictures fail."""

    kind: TroubleKind
    since: float
    error: ModelError
    blind: bool = False

    @property
    def reason(self) -> BreakReason:
        """The word for records."""
        if self.kind == "unreadable":
            return "route_unreadable"
        if self.blind:
            return "route_blind"
        return "route_refused" if self.kind == "refused" else "route_down"


@dataclass
class Condition:
    """The state of one route; time is passed in, in seconds of any steady clock."""

    patience: PatienceSettings = field(default_factory=PatienceSettings)
    _troubles: dict[Modality, Trouble] = field(default_factory=dict, init=False)
    _answered: dict[Modality, float] = field(default_factory=dict, init=False)

    @property
    def known(self) -> bool:
        """Whether anything is known: an answer or a trouble."""
        return bool(self._answered or self._troubles)

    @property
    def answered_once(self) -> bool:
        """Whether it ever answered anything."""
        return bool(self._answered)

    def answered(self, now: float, modality: Modality) -> None:
        """The route answered; one that answers pictures answers text."""
        reached: tuple[Modality, ...] = (
            ("text", "pictures") if modality == "pictures" else ("text",)
        )
        for each in reached:
            self._answered[each] = now
            self._troubles.pop(each, None)

    def failed(self, now: float, modality: Modality, error: ModelError) -> Trouble:
        """The known question failed too; gives what is wrong now."""
        before = self._troubles.get(modality)
        kind: TroubleKind = "refused" if isinstance(error, FaultyReplyError) else "down"
        if isinstance(error, UnreadableAnswerError):
            kind = "unreadable"
        trouble = Trouble(
            kind=kind,
            since=before.since if before else now,
            error=error,
            blind=modality == "pictures" and kind != "unreadable",
        )
        self._troubles[modality] = trouble
        return trouble

    def answered_since(self, modality: Modality, then: float) -> bool:
        """Whether a request of this kind was answered at `then` or later."""
        at = self._answered.get(modality)
        return at is not None and at >= then

    def trouble(self, modality: Modality) -> Trouble | None:
        """What keeps a request of this kind from an answer; None for nothing known."""
        return self._troubles.get("text") or self._troubles.get(modality)

    def worst(self) -> Trouble | None:
        """The trouble of any kind; None when the route is well as far as is known."""
        return self.trouble("pictures")

    def broken(self, now: float, trouble: Trouble | None) -> BreakReason | None:
        """Why waiting for the route is over; None while it is well or may still get well."""
        if trouble is None:
            return None
        passes = trouble.kind == "down" and not trouble.blind
        limit = self.patience.outage_seconds if passes else self.patience.refused_seconds
        return trouble.reason if now - trouble.since >= limit else None
