"""Which labels the reservoir keeps, as an object in the store, so that a restart keeps the same.

What a segment shows is in its score, and a start cannot read all scores to find the rare ones. So
their list is written now and then. It may be lost, old or junk without harm: then a start samples
by age and episode alone.
"""

from pydantic import AwareDatetime, Field, ValidationError

from rlaif.contracts.ids import Id
from rlaif.contracts.model import Contract
from rlaif.storage import keys
from rlaif.storage.ports import BINARY, ObjectNotFoundError, ObjectStore


class KeptOfConfig(Contract):
    """The labels of one judge configuration."""

    kinds: dict[Id, str] = Field(description="Segment → what it shows.")
    until: AwareDatetime = Field(description="When the newest score that was known was made.")


class KeptLabels(Contract):
    """`reward_model/kept_labels.json` in the models' bucket."""

    configs: dict[Id, KeptOfConfig] = Field(default_factory=dict)


def load_kept(store: ObjectStore) -> KeptLabels:
    """What was written last; nothing when there is none, or junk."""
    try:
        return KeptLabels.model_validate_json(store.get(keys.KEPT_LABELS))
    except (ObjectNotFoundError, ValidationError):
        return KeptLabels()


def save_kept(store: ObjectStore, kept: KeptLabels) -> None:
    """Write it in place of the one before."""
    store.put(keys.KEPT_LABELS, kept.model_dump_json().encode(), content_type=BINARY)
