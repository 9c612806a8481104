"""Runners that are away are asked for without waiting, as long as another one plays."""

from types import SimpleNamespace
from typing import Any

import pytest

from rlaif.trainer.learner.algorithm.ppo import ShapedPPO

PATIENCE = 30.0


class Group:
    """Stands for RLlib's runners, of which some are away; none answers."""

    def __init__(self, *, away: set[int]) -> None:
        self._worker_manager = SimpleNamespace(
            actor_ids=lambda: [1, 2],
            is_actor_healthy=lambda index: index not in away,
            num_actors=lambda: 2,
        )
        self.asked: list[int] = []
        self.waited: list[float] = []

    def foreach_env_runner_async(self, call: str, *, remote_worker_ids: list[int], **_: Any):
        assert call == "ping"
        self.asked += remote_worker_ids

    def fetch_ready_async_reqs(self, *, timeout_seconds: float, **_: Any):
        self.waited.append(timeout_seconds)


@pytest.mark.parametrize(
    ("away", "waited"),
    [(set(), []), ({2}, [0.0]), ({1, 2}, [PATIENCE])],
    ids=["all well", "one away", "nobody plays"],
)
def test_only_when_nobody_plays_a_lost_runner_is_waited_for(away: set[int], waited: list[float]):
    algorithm: Any = SimpleNamespace(
        config=SimpleNamespace(env_runner_health_probe_timeout_s=PATIENCE)
    )
    group = Group(away=away)
    assert ShapedPPO.restore_env_runners(algorithm, group) == []
    assert group.asked == sorted(away)
    assert group.waited == waited
