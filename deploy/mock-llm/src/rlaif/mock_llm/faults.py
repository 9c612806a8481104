"""Faults on demand: which one a request meets, by header, by setting or by `PUT /faults`.

A plan is text such as `429:0.05,vision/garbage:1`: fault and chance, for all routes or for one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What can go wrong.

    `slow` answers after the slow delay, `timeout` never answers, `garbage` writes text that is no
    JSON, `truncated` cuts the answer off, `huge` sends a reply of 10 MB, `drip` sends a byte at a
    time, `endless` sends without end as fast as it is read, `constant` rates everything 1.
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


class FaultPlanError(ValueError):
    """The text is not a fault plan."""


@dataclass(frozen=True)
class PlannedFault:
    """One entry of a plan: `route` None stands for all of them."""

    fault: Fault
    chance: float
    route: str | None = None


def parse_plan(text: str) -> tuple[PlannedFault, ...]:
    """Read a plan such as `429:0.05,vision/garbage:1`; the empty text is no faults.

    Raises:
        FaultPlanError: An unknown fault, or a chance outside [0, 1].
    """
    return tuple(_parse_entry(part.strip()) for part in text.split(",") if part.strip())


def parse_header(text: str) -> PlannedFault:
    """Read an `x-mock-fault` header such as `429` or `slow;p=0.3`.

    Raises:
        FaultPlanError: An unknown fault, or a chance outside [0, 1].
    """
    name, _, chance = text.partition(";")
    return _planned(name.strip(), chance.strip().removeprefix("p=") or "1", None)


def choose(plan: tuple[PlannedFault, ...], route: str, draw: Callable[[], float]) -> Fault | None:
    """The fault that a request on `route` meets, or None; one draw in [0, 1) an entry."""
    for entry in plan:
        if entry.route in (None, route) and draw() < entry.chance:
            return entry.fault
    return None


def _parse_entry(text: str) -> PlannedFault:
    name, _, chance = text.partition(":")
    route, slash, fault = name.rpartition("/")
    return _planned(fault, chance or "1", route if slash else None)


def _planned(name: str, chance: str, route: str | None) -> PlannedFault:
    try:
        share = float(chance)
        fault = Fault(name)
    except ValueError:
        known = ", ".join(fault.value for fault in Fault)
        raise FaultPlanError(f"{name}:{chance} is no fault; known with a chance: {known}") from None
    if not 0 <= share <= 1:
        raise FaultPlanError(f"chance {share:g} of {name} is not in [0, 1]")
    return PlannedFault(fault, share, route)
