import pytest
from pydantic import ValidationError

from rlaif.reward_model.settings import RewardModelSettings


def test_more_labels_cannot_be_required_than_are_kept() -> None:
    with pytest.raises(ValidationError, match="no training would start"):
        RewardModelSettings(min_labels=2001, most_labels=2000)
    RewardModelSettings(min_labels=2000, most_labels=2000)
