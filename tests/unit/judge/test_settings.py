from datetime import timedelta

import pytest
from pydantic import ValidationError

from rlaif.judge.settings import JudgeSettings


@pytest.mark.parametrize(
    ("slow", "least"),
    [
        # Two answers of a vote, each at the end of its timeout.
        ({"call_timeout_seconds": 1500.0, "llm_concurrency": 64}, timedelta(seconds=2 * 1500)),
        # Four segments with three votes each, one call at a time.
        ({"call_timeout_seconds": 90.0, "llm_concurrency": 1}, timedelta(seconds=4 * 3 * 2 * 90)),
    ],
    ids=["slow calls", "few calls at a time"],
)
def test_a_segment_is_not_given_up_while_its_calls_are_within_their_timeouts(
    slow: dict[str, float], least: timedelta
) -> None:
    worker = JudgeSettings.model_validate(slow).worker
    assert worker.deadline >= least
    assert worker.concurrency == 4


@pytest.mark.parametrize("name", ["state_model", "puzzle_model", "vision_model"])
def test_a_model_has_a_name(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        JudgeSettings.model_validate({name: " "})
