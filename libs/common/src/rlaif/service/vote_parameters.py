"""Parameters of the routes on which people vote: one service keeps votes, another hands them on."""

from typing import Annotated

from fastapi import Header, Path

from rlaif.contracts.reviews import PAIR_PATTERN

PairId = Annotated[
    str,
    Path(pattern=PAIR_PATTERN, description="Both segments, the smaller id first: `one--other`."),
]
RequestId = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=128,
        description="The same request sent again with the same key is one vote.",
    ),
]
