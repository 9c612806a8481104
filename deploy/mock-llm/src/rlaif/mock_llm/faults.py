"""Faults on demand: which one a request meets, by header, by setting or by `PUT /faults`.

A plan is text such as `429:0.05,vision/garbage:1`: fault and chance, for all requests or for those
of one route or one model name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What can go wrong.

    `slow` answers after the slow delay, `timeout` never answers, `garbage` writes text that is no
    JSON, `truncated` cuts the answer off, `huge` sends a reply of 10 MB, `drip` sends a byte at a
    time, `endless` sends without end as fast as it is read, `constant` rates everything 1.
    `blind` answers text and fails with 500 on pictures, as llama.cpp does with a model for text;
    `400`, `401`, `404` refuse as a gateway does a wrong model name, key or path; `307` sends
    elsewhere, `418` is a status that nobody expects; `html` is a page, `empty` has no choices,
    `cut` breaks off within the body.
    """

    THROTTLED = "429"
    ERROR = "500"
    SLOW = "slow"
    TIMEOUT = "timeout"
    GARBAGE = "garbage"
    TRUNCATED = "truncated"
    HUGE = "huge"
    DRIP = "drip"
    ENDLESS = "endless"
    CONSTANT = "constant"
    BLIND = "blind"
    UNKNOWN_MODEL = "400"
    WRONG_KEY = "401"
    NOT_FOUND = "404"
    REDIRECT = "307"
    TEAPOT = "418"
    HTML = "html"
    EMPTY = "empty"
    CUT = "cut"


class FaultPlanError(ValueError):
    """The text is not a fault plan."""


@dataclass(frozen=True)
class PlannedFault:
    """One entry of a plan: `route` is a route or a model name, None all of them."""

    fault: Fault
    chance: float
    route: str | None = None


def parse_plan(text: str) -> tuple[PlannedFault, ...]:
    """Read a plan, else FaultPlanError; the empty text is no faults."""
    return tuple(_parse_entry(part.strip()) for part in text.split(",") if part.strip())


def parse_header(text: str) -> PlannedFault:
    """Read an `x-mock-fault` header such as `429` or `slow;p=0.3`, else FaultPlanError."""
    name, _, chance = text.partition(";")
    return _planned(name.strip(), chance.strip().removeprefix("p=") or "1", None)


def choose(
    plan: tuple[PlannedFault, ...], route: str, draw: Callable[[], float], *, model: str = ""
) -> Fault | None:
    """The fault that a request meets, or None; one draw in [0, 1) an entry that concerns it."""
    for entry in plan:
        if entry.route in (None, route, model) and draw() < entry.chance:
            return entry.fault
    return None


def _parse_entry(text: str) -> PlannedFault:
    name, _, chance = text.partition(":")
    target, slash, fault = name.rpartition("/")
    return _planned(fault, chance or "1", target if slash else None)


def _planned(name: str, chance: str, target: str | None) -> PlannedFault:
    try:
        share = float(chance)
        fault = Fault(name)
    except ValueError:
        known = ", ".join(fault.value for fault in Fault)
        raise FaultPlanError(f"{name}:{chance} is no fault; known with a chance: {known}") from None
    if not 0 <= share <= 1:
        raise FaultPlanError(f"chance {share:g} of {name} is not in [0, 1]")
    return PlannedFault(fault, share, target)
