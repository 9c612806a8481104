"""Computes the rewards to learn from and the statistics of their parts.

total = game + shaping by the reward model + curiosity + guidance. The environments compute the
game's reward and the guidance bonus. The rest is computed here, in one batch with one mix of reward
models per iteration, so that a new champion applies to every environment at the same time.

The planner's steps have reward 0 in every part and are excluded from all statistics (ADR 0023).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.learner.algorithm.batch import cut_by_planner
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.curiosity import Curiosity
from rlaif.trainer.rewards.learned.reward_models import (
    ModelSchedule,
    NonsenseError,
    RewardModel,
    State,
    check_reward_model,
)
from rlaif.trainer.rewards.learned.shaping import (
    Bool,
    Float32,
    PotentialShaper,
    Shaped,
    discounts,
)
from rlaif.trainer.rewards.learned.statistics import part_statistics
from rlaif.trainer.run_folder.protocol import PartFigures
from rlaif.trainer.settings.learning import RewardSettings

GAME, SHAPING, CURIOSITY, GUIDANCE = "game", "shaping", "curiosity", "guidance"
"""Parts of the reward; `shaping` is the reward model's."""


@dataclass(frozen=True)
class LearnedRewards:
    """The rewards of one iteration.

    Attributes:
        parts: Part → `[T, N] float32` for each fragment. They sum to the reward to learn from.
        reward_model_share: Share of the live model in the mix with its predecessor, 0 to 1.
        shaped: Shaping of each fragment; the critic reads its `counted`.
        rises: `Shaped.rises` of each fragment; 0 in the planner's steps.
        potential_mean: Mean potential of the live model over the observations. If it rises but the
            milestones do not, the policy exploits the model.
        policy_lag: Updates between the sampling policy and the updated one; 1 if sampling overlaps
            the update, else 0.
        samples_left_out: Number of the policy's steps that were excluded from the update because
            their advantage is not finite.
    """

    parts: dict[str, list[Float32]] = field(default_factory=dict)
    statistics: dict[str, PartFigures] = field(default_factory=dict)
    shaped: list[Shaped] = field(default_factory=list)
    rises: list[Float32] = field(default_factory=list)
    reward_model_version: int | None = None
    reward_model_share: float = 0.0
    potential_mean: float | None = None
    policy_lag: int = 0
    samples_left_out: int = 0

    @property
    def added(self) -> list[Float32]:
        """Sum of all parts except the game's reward, `[T, N]` for each fragment."""
        others = [grids for name, grids in self.parts.items() if name != GAME]
        return [np.sum(grids, axis=0, dtype=np.float32) for grids in zip(*others, strict=True)]

    @property
    def total(self) -> list[Float32]:
        return [own + extra for own, extra in zip(self.parts[GAME], self.added, strict=True)]


class LearnerRewards:
    """Computes the rewards of a run, iteration by iteration.

    `state_dict` contains the state for a bit-for-bit resume between two iterations: the reward
    models and their ramp-in, the last potentials, and the curiosity.

    Attributes:
        models: The reward models; call `offer` and `swap_if_due` between two iterations only.
        refused: Models that returned NaN or infinity in the last iteration, with reasons.
    """

    def __init__(
        self, settings: RewardSettings, *, gamma: float, gae_lambda: float, seed: int
    ) -> None:
        """`gamma` must be PPO's discount factor; only the statistics use `gae_lambda`."""
        self._gamma, self._lambda = gamma, gae_lambda
        self._seen: list[Float32] = []
        self.refused: list[tuple[RewardModel, str]] = []
        self.models = ModelSchedule(
            settings.shaping.ramp_iterations, settings.shaping.swap_iterations
        )
        self._shaper = PotentialShaper(
            gamma=gamma, weight=settings.shaping.weight, mode=settings.shaping.mode
        )
        weight = settings.curiosity.weight
        self._curiosity = (
            Curiosity(inputs=OBSERVATION_SIZE, weight=weight, seed=seed) if weight > 0 else None
        )

    @property
    def version(self) -> int | None:
        return self.models.live.version if self.models.live else None

    def learn_from(self, fragments: list[Fragment]) -> LearnedRewards:
        by_planner: list[Bool] = [fragment.by_planner for fragment in fragments]
        parts = {GAME: [fragment.rewards for fragment in fragments]}
        shaped = self._shaping(fragments)
        parts[SHAPING] = [each.rewards for each in shaped]
        if any(fragment.guidance is not None for fragment in fragments):
            parts[GUIDANCE] = [
                np.zeros_like(each.rewards) if each.guidance is None else each.guidance
                for each in fragments
            ]
        if self._curiosity is not None:
            parts[CURIOSITY] = self._curiosity.pay(
                [fragment.runner for fragment in fragments],
                [fragment.transitions for fragment in fragments],
                [fragment.continues for fragment in fragments],
                by_planner,
            )
        parts = {
            name: [
                np.where(taken, np.float32(0.0), grid) if taken.any() else grid
                for grid, taken in zip(grids, by_planner, strict=True)
            ]
            for name, grids in parts.items()
        }
        learned = LearnedRewards(
            parts=parts,
            statistics=part_statistics(
                parts,
                [cut_by_planner(each.transitions.ended, each.by_planner) for each in fragments],
                decay=[
                    self._lambda * discounts(each.transitions.frames, self._gamma)
                    for each in fragments
                ],
                own=[~taken for taken in by_planner],
            ),
            shaped=shaped,
            rises=[
                np.where(taken, np.float32(0.0), each.rises)
                for each, taken in zip(shaped, by_planner, strict=True)
            ],
            reward_model_version=self.version,
            reward_model_share=self.models.share if self.models.live else 0.0,
            potential_mean=self._potential_mean(fragments),
        )
        self.models.end_iteration()
        return learned

    def _shaping(self, fragments: list[Fragment]) -> list[Shaped]:
        """Return the shaping of all fragments by one mix of models.

        Steps of the planner change the potential, too, although they are not rewarded.
        """
        potentials = self._potentials([each.transitions.visited() for each in fragments])
        return [
            self._shaper.shape(
                fragment.runner, fragment.transitions, known, continues=fragment.continues
            )
            for fragment, known in zip(fragments, potentials, strict=True)
        ]

    def _potentials(self, visited: list[Float32]) -> Sequence[Float32 | None]:
        """Return the potentials of each fragment's `[B, D]` observations; None without a model.

        If a model returns NaN for a fragment, it is rejected and its predecessor shapes all.
        """
        self.refused, self._seen = [], []
        while (mixed := self.models.mixed(self._potential)) is not None:
            self._seen = []
            try:
                return [mixed(observations) for observations in visited]
            except NonsenseError as error:
                self.models.refuse(error.model)
                self.refused.append((error.model, str(error)))
                self._seen = []
        return [None] * len(visited)

    def _potential(self, network: PotentialFunction, observations: Float32) -> Float32:
        potentials = network(observations)
        if self.models.live is not None and network is self.models.live.answers:
            self._seen.append(potentials)
        return potentials

    def _potential_mean(self, fragments: list[Fragment]) -> float | None:
        """Return the mean over the policy's steps; None if there are none, or without a model."""
        if not self._seen:
            return None
        seen = np.concatenate(self._seen)
        if any(fragment.by_planner.any() for fragment in fragments):
            seen = seen[np.concatenate([_visited_by_policy(each) for each in fragments])]
        return float(seen.mean()) if len(seen) else None

    def state_dict(self) -> State:
        return {
            f"{name}/{key}": value
            for name, part in self._stateful().items()
            for key, value in part.state_dict().items()
        }

    def load_state_dict(self, state: State) -> None:
        """Resume from `state_dict`; raises `RewardNetError` for a damaged reward model.

        A part that the state does not contain, because it was disabled, keeps its initial state.
        """
        self.models.load_state_dict(_below(state, "models/"), check_reward_model)
        for name, part in self._stateful().items():
            found = _below(state, f"{name}/")
            if found and not isinstance(part, ModelSchedule):
                part.load_state_dict(found)

    def _stateful(self) -> dict[str, ModelSchedule | PotentialShaper | Curiosity]:
        parts: dict[str, ModelSchedule | PotentialShaper | Curiosity] = {
            "models": self.models,
            "potentials": self._shaper,
        }
        return parts if self._curiosity is None else parts | {"curiosity": self._curiosity}


def _visited_by_policy(fragment: Fragment) -> Bool:
    trans, own = fragment.transitions, ~fragment.by_planner
    t, n = trans.final_index.T
    return np.concatenate([own.reshape(-1), np.ones(own.shape[1], dtype=np.bool_), own[t, n]])


def _below(state: State, prefix: str) -> State:
    return {key[len(prefix) :]: value for key, value in state.items() if key.startswith(prefix)}
