"""What PPO learns from: an iteration's fragments in, rewards and what each part weighs out.

total = game + reward model (potential or additive) + curiosity. The environments pay only the
game's own part; the rest is added here, in one batch with one mix of reward models for the whole
iteration, so that a new champion reaches every environment at the same moment.
"""

from dataclasses import dataclass, field

import numpy as np

from rlaif.contracts.observation import OBSERVATION_SIZE
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.learner.hot_load import check_reward_model
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.additive import (
    AdditiveRewards,
    Answers,
    lower_bound,
)
from rlaif.trainer.rewards.learned.curiosity import Curiosity
from rlaif.trainer.rewards.learned.reward_models import (
    ModelSchedule,
    NonsenseError,
    RewardModel,
    State,
)
from rlaif.trainer.rewards.learned.shaping import Bool, Float32, PotentialShaper
from rlaif.trainer.rewards.learned.statistics import PartStatistics, part_statistics
from rlaif.trainer.settings.rewards import RewardSettings

GAME, SHAPING, CURIOSITY = "game", "shaping", "curiosity"
"""Parts of the reward. `shaping` is the reward model's, in either mode."""


@dataclass(frozen=True)
class LearnedRewards:
    """The rewards of one iteration.

    Attributes:
        parts: Part → `[T, N] float32` for each fragment. They sum to the reward to learn from.
        reward_model_share: Of the model that counts in the mix with the one before it, 0 to 1.
        potential_mean: Mean potential of that model over the observations, in either mode. It rises
            when the policy learns to please the model: compare it with the milestones.
    """

    parts: dict[str, list[Float32]] = field(default_factory=dict)
    statistics: dict[str, PartStatistics] = field(default_factory=dict)
    reward_model_version: int | None = None
    reward_model_share: float = 0.0
    potential_mean: float | None = None

    @property
    def shaping(self) -> list[Float32]:
        """The reward model's part, `[T, N]` for each fragment."""
        return self.parts.get(SHAPING, [])

    @property
    def added(self) -> list[Float32]:
        """All that is not the game's own, `[T, N]` for each fragment."""
        others = [grids for name, grids in self.parts.items() if name != GAME]
        return [np.sum(grids, axis=0, dtype=np.float32) for grids in zip(*others, strict=True)]

    @property
    def total(self) -> list[Float32]:
        """The rewards to learn from, `[T, N]` for each fragment."""
        return [own + extra for own, extra in zip(self.parts[GAME], self.added, strict=True)]


class LearnerRewards:
    """Makes the rewards of one run, iteration by iteration.

    A run resumes bit for bit with `state_dict`, taken and set between two iterations. It holds the
    reward models, the ramp, the carried potentials, the open episodes of the additive mode, and
    curiosity's networks, optimiser, running figures and random stream.

    Attributes:
        models: Which reward model counts. Between two iterations: `offer`, then `swap_if_due`.
        refused: Models that answered nonsense in the last iteration, and why; they paid nothing.
    """

    def __init__(
        self, settings: RewardSettings, *, gamma: float, gae_lambda: float, seed: int
    ) -> None:
        """Start anew. `gamma` must be PPO's discount; `gae_lambda` serves the statistics alone."""
        self._settings = settings
        self._decay = gamma * gae_lambda
        self._seen: list[Float32] = []
        self.refused: list[tuple[RewardModel, str]] = []
        self.models = ModelSchedule(
            settings.shaping.ramp_iterations, settings.shaping.swap_iterations
        )
        self._shaper = PotentialShaper(gamma=gamma, weight=settings.shaping.weight)
        self._additive = AdditiveRewards(settings.additive)
        self._curiosity = (
            Curiosity(inputs=OBSERVATION_SIZE, weight=settings.curiosity.weight, seed=seed)
            if settings.curiosity.weight > 0
            else None
        )

    @property
    def version(self) -> int | None:
        """Of the reward model that counts; None for none."""
        return self.models.live.version if self.models.live else None

    def learn_from(self, fragments: list[Fragment]) -> LearnedRewards:
        """Rewards of one iteration; each fragment follows the last one of its runner."""
        parts = {GAME: [fragment.rewards for fragment in fragments]}
        parts[SHAPING] = self._judged(fragments)
        if self._curiosity is not None:
            parts[CURIOSITY] = self._curiosity.pay(
                [fragment.runner for fragment in fragments],
                [fragment.transitions for fragment in fragments],
                [fragment.continues for fragment in fragments],
            )
        ended: list[Bool] = [fragment.transitions.ended for fragment in fragments]
        learned = LearnedRewards(
            parts=parts,
            statistics=part_statistics(parts, ended, decay=self._decay),
            reward_model_version=self.version,
            reward_model_share=self.models.share if self.models.live else 0.0,
            potential_mean=float(np.concatenate(self._seen).mean()) if self._seen else None,
        )
        self.models.end_iteration()
        return learned

    def _judged(self, fragments: list[Fragment]) -> list[Float32]:
        """The reward model's part. One mix of models for all fragments.

        All of them are asked about before any is paid: a model that answers nonsense to one is
        refused, and the model before it pays for all.
        """
        is_potential = self._settings.shaping.mode == "potential"
        asked = [
            fragment.transitions.visited() if is_potential else fragment.transitions.landed()
            for fragment in fragments
        ]
        answers = self._answers(asked)
        rewarder = self._shaper.shape if is_potential else self._additive.pay
        return [
            rewarder(fragment.runner, fragment.transitions, known, continues=fragment.continues)
            for fragment, known in zip(fragments, answers, strict=True)
        ]

    def _answers(self, asked: list[Float32]) -> list[Answers | None]:
        """For each fragment's `[B, D]` observations a function that knows the answers already."""
        self.refused = []
        read = self._potential if self._settings.shaping.mode == "potential" else self._z
        while (mixed := self.models.mixed(read)) is not None:
            self._seen = []
            try:
                found = [mixed(observations) for observations in asked]
            except NonsenseError as error:
                self.models.refuse(error.model)
                self.refused.append((error.model, str(error)))
                continue
            return [lambda observations, known=each: known for each in found]  # type: ignore[misc]  # a default binds it
        self._seen = []
        return [None] * len(asked)

    def _potential(self, network: PotentialFunction, observations: Float32) -> Float32:
        potentials = network(observations)
        self._look_at(network, potentials)
        return potentials

    def _z(self, network: PotentialFunction, observations: Float32) -> Float32:
        members = network.normalised(observations)
        self._look_at(network, network.scale * np.tanh(members.mean(axis=0)))
        return lower_bound(members, self._settings.additive.caution)

    def _look_at(self, network: PotentialFunction, potentials: Float32) -> None:
        if self.models.live is not None and network is self.models.live.answers:
            self._seen.append(potentials)

    def state_dict(self) -> State:
        """Everything that the next iteration depends on; see the class."""
        state = {f"models/{key}": value for key, value in self.models.state_dict().items()}
        for name, part in self._stateful().items():
            state |= {f"{name}/{key}": value for key, value in part.state_dict().items()}
        return state

    def load_state_dict(self, state: State) -> None:
        """Resume with what `state_dict` gave; raises `RewardNetError` for a damaged reward model.

        A part that the state does not hold, because it was off then, starts anew.
        """
        self.models.load_state_dict(_below(state, "models/"), check_reward_model)
        for name, part in self._stateful().items():
            found = _below(state, f"{name}/")
            if found:
                part.load_state_dict(found)

    def _stateful(self) -> dict[str, PotentialShaper | AdditiveRewards | Curiosity]:
        parts: dict[str, PotentialShaper | AdditiveRewards | Curiosity] = {
            "potentials": self._shaper,
            "additive": self._additive,
        }
        return parts if self._curiosity is None else parts | {"curiosity": self._curiosity}


def _below(state: State, prefix: str) -> State:
    return {key[len(prefix) :]: value for key, value in state.items() if key.startswith(prefix)}
