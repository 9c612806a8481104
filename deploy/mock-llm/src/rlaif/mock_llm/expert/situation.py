"""The state in a request to a planner."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.judging.evidence import Moment
from rlaif.contracts.planning.briefing import Briefing
from rlaif.mock_llm.expert.world import TILE, Tile


@dataclass(frozen=True)
class Situation:
    """One state, for a planner.

    Attributes:
        moment: Room, position and possessions.
        tile: Position of the player.
        text: The open text, empty if it cannot be read; None if none is open.
        to_do: Kind of an element, such as `torch` → tiles of the remaining ones.
        buttons: Item → the button to which it is assigned.
    """

    moment: Moment
    tile: Tile | None = None
    text: str | None = None
    to_do: Mapping[str, tuple[Tile, ...]] = field(default_factory=dict)
    buttons: Mapping[str, str] = field(default_factory=dict)

    @property
    def room(self) -> str | None:
        return self.moment.room

    def owns(self, item: str) -> bool:
        return item in (self.moment.items or ())


def situation_of(briefing: Briefing) -> Situation:
    """The situation of a briefing, with the player in the centre of the tile."""
    at = briefing.at
    to_do: dict[str, tuple[Tile, ...]] = {}
    for kind, column, row in briefing.to_do:
        to_do[kind] = (*to_do.get(kind, ()), (row, column))
    fields = {
        *("game", "place", "room", "dungeon", "season", "items"),
        *("rupees", "keys", "boss_key", "essences"),
    }
    pixels = None if at is None else tuple(TILE * along + TILE // 2 for along in at)
    moment = Moment.model_validate({**briefing.model_dump(include=fields), "at": pixels})
    return Situation(
        moment,
        None if at is None else (at[1], at[0]),
        (briefing.said or "") if briefing.text or briefing.said is not None else None,
        to_do,
        {item: name for item, name in ((briefing.on_b, "B"), (briefing.on_a, "A")) if item},
    )
