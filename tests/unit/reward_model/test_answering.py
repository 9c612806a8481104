"""Errors of the store as problems of the API."""

import pytest

from rlaif.reward_model.api.problems import store_problems
from rlaif.reward_model.champions.registry import ChampionConflictError
from rlaif.service.problems import Problem
from rlaif.storage.ports import StoreUnavailableError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ChampionConflictError("another process was faster"), 409),
        (StoreUnavailableError("no answer"), 503),
    ],
)
def test_a_champion_that_another_changed_is_a_conflict_and_no_outage(error, status):
    with pytest.raises(Problem) as caught, store_problems():
        raise error
    assert caught.value.status == status
