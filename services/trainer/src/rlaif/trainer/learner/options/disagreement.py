"""How much a reward model's networks disagree, for the runners, which select captures by it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import ray

from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.learner.hot_load import check_reward_model
from rlaif.trainer.play.recording import Disagreement
from rlaif.trainer.rewards.learned.reward_models import RewardModel
from rlaif.trainer.rewards.learned.shaping import Float32


@dataclass(frozen=True)
class RunnerRewardModel:
    """A reward model on its way to the runners; `data` may be Ray's reference, fetched once."""

    version: int
    sha256: str
    data: Any

    @classmethod
    def of(cls, model: RewardModel, *, remote: bool) -> "RunnerRewardModel":
        """The model, put where runners in other processes find it when there are any."""
        return cls(model.version, model.sha256, ray.put(model.data) if remote else model.data)

    def answers(self) -> PotentialFunction:
        data = ray.get(self.data) if isinstance(self.data, ray.ObjectRef) else self.data
        return check_reward_model(data, version=self.version, sha256=self.sha256).answers


def disagreement_by(answers: PotentialFunction) -> Disagreement | None:
    """What measures it by this model; None when it is a single network."""

    def measure(observations: Float32) -> float:
        """Standard deviation over the networks, the mean over the observations."""
        return float(answers.normalised(observations).std(axis=0).mean())

    ensemble = len(answers.normalised(np.zeros((1, answers.inputs), dtype=np.float32))) > 1
    return measure if ensemble else None
