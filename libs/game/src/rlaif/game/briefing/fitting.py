"""Makes a briefing short enough: what a planner can best do without goes first."""

from collections.abc import Callable, Iterator
from typing import Any

from rlaif.contracts.briefing import MOST_TOKENS, Briefing
from rlaif.contracts.plans import USABLE_ITEMS

_SAID_CHARACTERS = 160
_FEW = 4


def fitted(briefing: Briefing) -> Briefing:
    """The same, with as much left out as `MOST_TOKENS` asks for."""
    for shorten in _steps():
        if briefing.tokens <= MOST_TOKENS:
            break
        briefing = briefing.model_copy(update=shorten(briefing))
    return briefing


def _steps() -> Iterator[Callable[[Briefing], dict[str, Any]]]:
    """What is left out, one thing after the other; all of it together always fits."""
    yield lambda long: {"exits": tuple(each for each in long.exits if each.reachable)}
    yield lambda long: {"things": long.things[:_FEW], "failed": long.failed[-1:]}
    yield lambda long: {"items": tuple(name for name in long.items if name in USABLE_ITEMS)}
    yield lambda long: {"said": None if long.said is None else long.said[:_SAID_CHARACTERS]}
    yield lambda long: {"exits": long.exits[:_FEW], "to_do": long.to_do[:_FEW]}
    yield lambda long: {"failed": (), "things": ()}
