"""How a request ends when its route was held to a known question.

To the tree of `rlaif.llm.ports` this adds:

ModelError
├── FaultyReplyError
│   └── FailedRequestError    the route answers other requests and, after some tries, never this one
└── BrokenRouteError          the route has answered nothing of the kind for too long to wait for it
"""

from typing import Literal

from rlaif.llm.ports import FaultyReplyError, ModelError


class FailedRequestError(FaultyReplyError):
    """The route answers other requests, and this one it does not."""

    fault = "request_failed"


BreakReason = Literal["route_refused", "route_blind", "route_unreadable", "route_down"]
"""`route_refused`: every answer is a refusal. `route_blind`: text is answered, pictures never.
`route_unreadable`: answers come and cannot be read. `route_down`: nothing is answered."""


class BrokenRouteError(ModelError):
    """The route is out of use until somebody mends it; it is asked again now and then."""

    def __init__(self, detail: str, reason: BreakReason) -> None:
        super().__init__(detail)
        self.reason = reason
        self.fault = reason
