"""What the expert does about an open text: reads on, and chooses where it asks.

The words are a few of each question, in small letters, as it stands on the screen.
"""

from dataclasses import dataclass
from types import MappingProxyType

from rlaif.mock_llm.expert.objectives import BOMBS, BOMBS_PRICE, SHIELD, SHIELD_PRICE
from rlaif.mock_llm.expert.situation import Situation

YES, NO = 0, 1


@dataclass(frozen=True)
class Offer:
    """Something that is sold, and what it costs."""

    item: str
    price: int


_OFFERS = MappingProxyType(
    {
        "wooden shield": Offer(SHIELD, SHIELD_PRICE),
        "ten bombs": Offer(BOMBS, BOMBS_PRICE),
        "ten ember seeds": Offer("ember_seeds", 10),
    }
)
"""Words of a question → what it offers."""

_FOR_THE_QUEST = frozenset({SHIELD, BOMBS})
"""What an objective asks for; ember seeds lie about in bushes."""


def offer_of(text: str) -> Offer | None:
    """What a text offers for coins; None when it sells nothing."""
    words = " ".join(text.split()).casefold()
    if "?" not in words or "coins" not in words:
        return None
    return next((offer for begin, offer in _OFFERS.items() if words.startswith(begin)), None)


def choice(situation: Situation) -> tuple[int, str]:
    """(number of the answer, why): yes to what the quest needs and the purse can pay, else no.

    A text that asks nothing takes any number: the last page is closed.
    """
    offer = offer_of(situation.text or "")
    if offer is None:
        return NO, "read it to its end"
    if offer.item not in _FOR_THE_QUEST:
        return NO, f"the quest needs no {offer.item}"
    if situation.owns(offer.item):
        return NO, f"the {offer.item} is there already"
    if (situation.moment.rupees or 0) < offer.price:
        return NO, f"{offer.price} coins are not there"
    return YES, f"the quest needs the {offer.item}, and {offer.price} coins are there"
