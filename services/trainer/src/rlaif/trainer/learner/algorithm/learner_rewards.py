"""What PPO learns from: an iteration's fragments in, rewards and what each part weighs out.

total = game + reward model (potential or additive) + curiosity + guidance. The environments say
what the game pays and what following a suggestion does. The rest is made here, in one batch with
one mix of reward models for the whole iteration, so that a new champion reaches every environment
at the same moment.

A planner's steps are paid nothing (ADR 0023): they are 0 in every part, and no figure counts them.
"""

from dataclasses import dataclass, field

import numpy as np

from rlaif.contracts.observation import OBSERVATION_SIZE
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.learner.algorithm.gae import cut_by_planner
from rlaif.trainer.learner.hot_load import check_reward_model
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.additive import (
    AdditiveRewards,
    Answers,
    lower_bound,
)
from rlaif.trainer.rewards.learned.curiosity import Curiosity
from rlaif.trainer.rewards.learned.discounting import discounts
from rlaif.trainer.rewards.learned.reward_models import (
    ModelSchedule,
    NonsenseError,
    RewardModel,
    State,
)
from rlaif.trainer.rewards.learned.shaping import Bool, Float32, PotentialShaper
from rlaif.trainer.rewards.learned.statistics import PartStatistics, part_statistics
from rlaif.trainer.settings.rewards import RewardSettings

GAME, SHAPING, CURIOSITY, GUIDANCE = "game", "shaping", "curiosity", "guidance"
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
        self._gamma, self._lambda = gamma, gae_lambda
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
        by_planner: list[Bool] = [fragment.by_planner for fragment in fragments]
        parts = {GAME: [fragment.rewards for fragment in fragments]}
        parts[SHAPING] = self._judged(fragments)
        parts |= _guided(fragments)
        if self._curiosity is not None:
            parts[CURIOSITY] = self._curiosity.pay(
                [fragment.runner for fragment in fragments],
                [fragment.transitions for fragment in fragments],
                [fragment.continues for fragment in fragments],
                by_planner,
            )
        parts = {
            name: [_unpaid(grid, taken) for grid, taken in zip(grids, by_planner, strict=True)]
            for name, grids in parts.items()
        }
        ended: list[Bool] = [
            cut_by_planner(fragment.transitions.ended, fragment.by_planner)
            for fragment in fragments
        ]
        own = [~taken for taken in by_planner]
        decays = [
            self._lambda * discounts(fragment.transitions.frames, self._gamma)
            for fragment in fragments
        ]
        learned = LearnedRewards(
            parts=parts,
            statistics=part_statistics(parts, ended, decay=decays, own=own),
            reward_model_version=self.version,
            reward_model_share=self.models.share if self.models.live else 0.0,
            potential_mean=self._potential_mean(fragments),
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
        return [
            # A potential is a matter of states: a takeover moves it on, whoever is paid for that.
            self._shaper.shape(
                fragment.runner, fragment.transitions, known, continues=fragment.continues
            )
            if is_potential
            else self._additive.pay(
                fragment.runner,
                fragment.transitions,
                known,
                continues=fragment.continues,
                by_planner=fragment.by_planner,
            )
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

    def _potential_mean(self, fragments: list[Fragment]) -> float | None:
        """Over the observations of the policy's own steps; None without any, or without a model."""
        if not self._seen:
            return None
        is_potential = self._settings.shaping.mode == "potential"
        seen = np.concatenate(self._seen)
        if any(fragment.by_planner.any() for fragment in fragments):
            seen = seen[
                np.concatenate([_asked_by_policy(each, is_potential) for each in fragments])
            ]
        return float(seen.mean()) if len(seen) else None

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


def _unpaid(grid: Float32, by_planner: Bool) -> Float32:
    """The same rewards but for the planner's steps; the same array where there are none."""
    return np.where(by_planner, np.float32(0.0), grid) if by_planner.any() else grid


def _asked_by_policy(fragment: Fragment, is_potential: bool) -> Bool:
    """Which observations of `Transitions.visited`, or of `landed`, are of the policy's steps."""
    trans, own = fragment.transitions, ~fragment.by_planner
    if not is_potential:
        return own.reshape(-1)
    t, n = trans.final_index.T
    return np.concatenate([own.reshape(-1), np.ones(own.shape[1], dtype=np.bool_), own[t, n]])


def _guided(fragments: list[Fragment]) -> dict[str, list[Float32]]:
    """What following suggestions was paid; no part at all where nobody suggests anything."""
    if all(fragment.guidance is None for fragment in fragments):
        return {}
    nothing = [np.zeros_like(fragment.rewards) for fragment in fragments]
    paid = [fragment.guidance for fragment in fragments]
    return {
        GUIDANCE: [
            zeros if grid is None else grid for grid, zeros in zip(paid, nothing, strict=True)
        ]
    }


def _below(state: State, prefix: str) -> State:
    return {key[len(prefix) :]: value for key, value in state.items() if key.startswith(prefix)}
