"""What a planner's question shows of one moment, as the expert reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.judging.evidence import Moment
from rlaif.contracts.planning.briefing import Briefing
from rlaif.mock_llm.expert.room_plans import Tile

_TILE = 16


@dataclass(frozen=True)
class Situation:
    """One moment, for a planner.

    Attributes:
        moment: Room, place and possessions.
        tile: Where the player stands.
        text: What the open text says, empty where it cannot be read; None where none is open.
        to_do: Kind of an element, such as `torch`, → the tiles of those that are left to do.
        buttons: Item → the button that it lies on.
    """

    moment: Moment
    tile: Tile | None = None
    text: str | None = None
    to_do: Mapping[str, tuple[Tile, ...]] = field(default_factory=dict)
    buttons: Mapping[str, str] = field(default_factory=dict)

    @property
    def room(self) -> str | None:
        """`group/room`."""
        return self.moment.room

    def owns(self, item: str) -> bool:
        """Whether an item is known to be owned."""
        return item in (self.moment.items or ())

    def left(self, kind: str) -> tuple[Tile, ...]:
        """The tiles of the elements of a kind that are left to do."""
        return self.to_do.get(kind, ())


def situation_of(told: Briefing) -> Situation:
    """A briefing as the expert sees it; the player stands in the middle of his tile."""
    tile = None if told.at is None else (told.at[1], told.at[0])
    to_do: dict[str, tuple[Tile, ...]] = {}
    for kind, column, row in told.to_do:
        to_do[kind] = (*to_do.get(kind, ()), (row, column))
    pixels = None if told.at is None else tuple(_TILE * along + _TILE // 2 for along in told.at)
    moment = Moment.model_validate(
        {
            **told.model_dump(include={"game", "place", "room", "dungeon", "season", "items"}),
            **told.model_dump(include={"rupees", "keys", "boss_key", "essences"}),
            "at": pixels,
        }
    )
    text = (told.said or "") if told.text or told.said is not None else None
    on = {told.on_b: "B", told.on_a: "A"}
    return Situation(
        moment, tile, text, to_do, {item: button for item, button in on.items() if item}
    )
