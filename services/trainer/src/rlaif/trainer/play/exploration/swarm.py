"""Swarming: where one environment reached a milestone, others start for a while."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class _Call:
    milestone: str
    offers: int = 0


class Swarm:
    """Milestones that were reached lately, and how many starts may still go there.

    Each episode that could start there is an offer. The first offers are taken with the chance
    `share`, later ones with `decay` times the chance of the one before, and after `limit` offers
    the milestone is old. So a milestone draws at most share / (1 - decay) starts on average.
    """

    def __init__(self, *, share: float, decay: float = 0.8, limit: int = 16) -> None:
        """Draw environments to new milestones; a `share` of 0 never does."""
        if not 0 <= share <= 1 or not 0 <= decay < 1:
            raise ValueError(f"swarm share {share} must be 0 to 1 and decay {decay} below 1")
        self._share, self._decay, self._limit = share, decay, limit
        self._calls: list[_Call] = []
        self._known: set[str] = set()

    def know(self, milestones: tuple[str, ...]) -> None:
        """These are no news: the start state has them, or an earlier process reached them."""
        self._known.update(milestones)

    def unknown(self, milestones: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the milestones that nobody had yet."""
        return tuple(name for name in milestones if name not in self._known)

    def reached(self, milestones: tuple[str, ...]) -> tuple[str, ...]:
        """Some environment has these; returns, and calls to, those that are news."""
        news = self.unknown(milestones)
        self._known.update(news)
        if self._share > 0:
            self._calls.extend(map(_Call, news))
        return news

    @property
    def calling(self) -> tuple[str, ...]:
        """Milestones that still draw starts, the oldest first."""
        return tuple(call.milestone for call in self._calls)

    def state_dict(self) -> dict[str, Any]:
        """Who calls, and what is known, as plain values."""
        calls = [(call.milestone, call.offers) for call in self._calls]
        return {"calls": calls, "known": set(self._known)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume with what `state_dict` gave; what became known since then stays known."""
        self._calls = [_Call(*call) for call in state["calls"]]
        self._known |= state["known"]

    def offer(self, rng: np.random.Generator) -> str | None:
        """An episode starts: the milestone to start at, or None. The newest one calls first."""
        if not self._calls:
            return None
        call = self._calls[-1]
        chance = self._share * self._decay**call.offers
        call.offers += 1
        if call.offers >= self._limit:
            self._calls.pop()
        return call.milestone if rng.random() < chance else None
