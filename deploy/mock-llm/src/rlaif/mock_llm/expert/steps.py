"""One button towards the next objective: a moment in, the button of now out."""

from collections.abc import Mapping
from types import MappingProxyType

from rlaif.mock_llm.expert import way
from rlaif.mock_llm.expert.answers import YES, choice, offer_of
from rlaif.mock_llm.expert.objectives import FEATHER, OBJECTIVES, ROD, next_objective
from rlaif.mock_llm.expert.situation import Situation
from rlaif.mock_llm.expert.standing import next_move

_BUTTONS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
)
_WANT_A_DEED = "botcdmK"
"""Signs of the map that a blade, a lift or a tool opens."""

_MATS_ROW = 7


def button(situation: Situation) -> tuple[str, str]:
    """(button, why). A tool that lies on no button is fetched by START."""
    if situation.text is not None:
        return _in_a_text(situation)
    number, tile = next_objective(situation.moment), situation.tile
    if number is None or situation.room is None or tile is None:
        return "NOP", "where to go is unknown"
    title = OBJECTIVES[number].title
    if (situation.room, tile) in OBJECTIVES[number].spots:
        return "A", f"here is {title}"
    move = next_move(situation.moment, tile)
    if move is None:
        return "NOP", f"no way to {title} is known"
    return _towards(*move, situation), f"towards {title}"


def _in_a_text(situation: Situation) -> tuple[str, str]:
    """Reads on with A; at an offer that the quest has no use for B, which means no."""
    if offer_of(situation.text or "") is None:
        return "A", "read on"
    number, why = choice(situation)
    return ("A" if number == YES else "B"), why


def _towards(here: way.Node, there: way.Node, situation: Situation) -> str:
    (spot, season), (goal, later) = here, there
    if season != later:
        return situation.buttons.get(ROD, "START")
    for name, (dy, dx) in _BUTTONS.items():
        ahead = way.beside(spot, dy, dx)
        if ahead == goal:
            return "A" if way.sign_at(goal) in _WANT_A_DEED else name
        if ahead is not None and way.beside(ahead, dy, dx) == goal:
            return situation.buttons.get(FEATHER, "START")
    return "DOWN" if spot[1][0] == _MATS_ROW else "UP"  # through a door
