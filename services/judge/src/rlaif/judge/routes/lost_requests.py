"""Requests that fail again and again on a route that is well, and those that were given up.

Kept in this process only: after a restart, and in another process, counting starts anew.
"""

from collections import OrderedDict

from rlaif.judge.routes.cache import request_key
from rlaif.llm.ports import CompletionRequest

_REMEMBERED = 1000


class LostRequests:
    """What is known of the requests to one route."""

    def __init__(self, route: str) -> None:
        self._route = route
        self._rounds: OrderedDict[str, int] = OrderedDict()
        self._lost: OrderedDict[str, None] = OrderedDict()

    def failed(self, request: CompletionRequest) -> int:
        """Note a round of tries that all failed; gives how many there were."""
        key = self._key(request)
        rounds = self._rounds.pop(key, 0) + 1
        self._rounds[key] = rounds
        if len(self._rounds) > _REMEMBERED:
            self._rounds.popitem(last=False)
        return rounds

    def give_up(self, request: CompletionRequest) -> None:
        """Ask it no more."""
        self._lost[self._key(request)] = None
        if len(self._lost) > _REMEMBERED:
            self._lost.popitem(last=False)

    def answered(self, request: CompletionRequest) -> None:
        """It was answered after all."""
        if self._rounds or self._lost:
            key = self._key(request)
            self._rounds.pop(key, None)
            self._lost.pop(key, None)

    def __contains__(self, request: CompletionRequest) -> bool:
        return bool(self._lost) and self._key(request) in self._lost

    def _key(self, request: CompletionRequest) -> str:
        return request_key(request, route=self._route)
