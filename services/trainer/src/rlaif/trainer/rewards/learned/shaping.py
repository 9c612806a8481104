"""Shaping rewards of fragments of experience by a reward model.

Both modes count the potential Phi from a reference, P(s) = Phi(s) - reference:

* `potential`: F = weight * (gamma * P(s') - P(s)); the reference is Phi of the episode's first
  state, and P is 0 after the game's end (`rlaif.reward_net.pay`). Over an episode that the game
  ends the discounted sum of F is 0, whatever start it had.
* `height`: F = weight * max(0, P(s')); the reference is the highest Phi of the episode so far. The
  sum of F over an episode is weight * (highest Phi - Phi of the first state): bounded, and
  independent of detours. F is never negative.

weight * P is stored when its state is reached (Devlin & Kudenko, AAMAS 2012):

* After a swap of models within an episode, P continues from its value with the differences of the
  new model: the swap gives no reward.
* A change of the weight gives no reward either.
* Nor does the end of a failed attempt: it counts as a truncation, although the critic's value is 0.
* A death after which the player is placed somewhere else is a step like any other for `potential`,
  so that the way back is not rewarded twice. `height` rewards no such jump.

P is the part of the state that determines F and is not in the observation: the critic reads it.

For decisions of different lengths, gamma is that of their frames (`discounts`).
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.reward_net.pay import step_pay
from rlaif.trainer.settings.game import STEP_FRAMES

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]


def discounts(frames: Int32 | None, gamma: float) -> float | Float32:
    """Discount after each decision; one number for all if `frames` is None.

    Args:
        frames: `[T, N] int32`, game frames of each decision.
        gamma: Discount of four frames, above 0.
    """
    if frames is None:
        return gamma
    powers: Float32 = np.power(gamma, frames / STEP_FRAMES).astype(np.float32)
    return powers


def discount_of(frames: int, gamma: float) -> float:
    """Discount of this many frames."""
    return float(gamma ** (frames / STEP_FRAMES))


Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Transitions:
    """T decisions of N environments, in time order.

    Attributes:
        observations: `[T+1, N, D] float32`; row t is the input of action t. After the end of
            an episode the next row is the first of the new episode.
        terminated, truncated: `[T, N] bool`.
        final_index: `[K, 2] int64`; (t, n) of each truncated step, in order.
        final_observations: `[K, D] float32`; the observation after each of them.
        frames: `[T, N] int32`, game frames of each decision, waits included; None: four.
        died: `[T, N] bool`; the player died and the episode continued at the respawn point; None:
            deaths end episodes.
        lost: `[T, N] bool`; those of `terminated` that ended a failed attempt, not the game; None:
            there are no attempts.
    """

    observations: Float32
    terminated: Bool
    truncated: Bool
    final_index: npt.NDArray[np.int64]
    final_observations: Float32
    frames: Int32 | None = None
    died: Bool | None = None
    lost: Bool | None = None

    def visited(self) -> Float32:
        """`[(T+1)*N + K, D]`: every row, then every final observation."""
        rows = self.observations
        flat = rows.reshape(rows.shape[0] * rows.shape[1], rows.shape[2])
        return np.concatenate([flat, self.final_observations])

    @property
    def ended(self) -> Bool:
        return self.terminated | self.truncated

    @property
    def torn(self) -> Bool:
        """`[T, N]`: the state after the step is unknown, or that after a respawn."""
        return self.terminated if self.died is None else self.terminated | self.died

    def reached(self) -> Float32:
        """`[T, N, D]`: the observation after each step.

        After a terminated step it is the first of the next episode: the last one is not stored.
        """
        rows = self.observations[1:]
        if not len(self.final_index):
            return rows
        rows = rows.copy()
        t, n = self.final_index.T
        rows[t, n] = self.final_observations
        return rows


ShapingMode = Literal["potential", "height"]


class Shaped(NamedTuple):
    """The shaping of a fragment.

    Attributes:
        rewards: `[T, N] float32`
        counted: `[T+1, N] float32`, weight * P of each row of the observations.
        final_counted: `[K] float32`, weight * P of each final observation.
        rises: `[T, N] float32`, change of weight * P by each step, without the discount: standing
            still is 0. For display; also 0 where the state after the step is unknown.
    """

    rewards: Float32
    counted: Float32
    final_counted: Float32
    rises: Float32


class _Last(NamedTuple):
    """The states in which a runner's last fragment ended, and their values."""

    potentials: Float64
    observations: Float32


@dataclass
class PotentialShaper:
    """Shapes consecutive fragments of the same environments.

    Attributes:
        gamma: Discount of the run, equal to PPO's; another one would break the invariance.
        weight: Scale of the shaping reward; may change between two fragments.
    """

    gamma: float
    weight: float
    mode: ShapingMode = "potential"
    _last: dict[int, _Last] = field(default_factory=dict)

    def shape(
        self,
        runner: int,
        transitions: Transitions,
        potentials: Float32 | None,
        *,
        continues: bool = True,
    ) -> Shaped:
        """Shaping of one fragment by the potentials of its `visited` rows; without any it is 0.

        The state of a runner is dropped if its fragment does not continue the last one.
        """
        steps, envs = transitions.terminated.shape
        # Weighted here, and in float64: F is a small difference of large numbers.
        phi = np.zeros((steps + 1, envs), dtype=np.float64)
        phi_final = np.zeros(len(transitions.final_index), dtype=np.float64)
        if potentials is not None:
            phi += self.weight * potentials[: phi.size].reshape(phi.shape)
            phi_final += self.weight * potentials[phi.size :]
        carried = self._carried(runner, transitions, continues)
        reference = _references(phi, carried, transitions, self.mode)
        counted = phi - reference
        self._last[runner] = _Last(counted[steps].copy(), transitions.observations[steps].copy())

        t, n = transitions.final_index.T
        counted_final = phi_final - reference[t, n]
        after = phi[1:] - reference[:-1]
        after[t, n] = counted_final
        after[transitions.terminated] = 0.0
        jumped = transitions.died if self.mode == "height" else None
        for unpaid in (jumped, transitions.lost):
            if unpaid is not None:
                after[unpaid] = counted[:-1][unpaid]
        if self.mode == "height":
            rewards, counted_final = np.maximum(after, 0.0), np.minimum(counted_final, 0.0)
        else:
            gamma = np.asarray(discounts(transitions.frames, self.gamma), dtype=np.float64)
            rewards = step_pay(counted[:-1], after, gamma=gamma)
        rises = rewards
        if self.mode == "potential":
            rises = np.where(transitions.terminated, 0.0, after - counted[:-1])
        found = (rewards, counted, counted_final, rises)
        return Shaped(*[each.astype(np.float32) for each in found])

    def _carried(self, runner: int, transitions: Transitions, continues: bool) -> Float64:
        """`[N]` value of the first row; 0 where an episode begins or is unknown."""
        first = transitions.observations[0]
        last = self._last.get(runner)
        if not continues or last is None:
            return np.zeros(len(first), dtype=np.float64)
        # After a lost fragment the stored state is another one.
        same = (last.observations == first).all(axis=1)
        return np.where(same, last.potentials, 0.0)

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The state in which the last fragment of each runner ended.

        `N/potentials` is `[N] float64`, weighted and counted from the episode's start;
        `N/observations` is `[N, D] float32`.
        """
        return {
            f"{runner}/{name}": array.copy()
            for runner, last in self._last.items()
            for name, array in last._asdict().items()
        }

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        runners = {key.split("/")[0] for key in state}
        self._last = {
            int(runner): _Last(*(state[f"{runner}/{name}"].copy() for name in _Last._fields))
            for runner in runners
        }


def _references(
    phi: Float64, carried: Float64, transitions: Transitions, mode: ShapingMode
) -> Float64:
    """`[T+1, N]` references, to be subtracted from each row's potential `phi`.

    An episode's first row then counts 0. `carried`, `[N]`, is the value of the first row.
    """
    reference = np.empty_like(phi)
    # A run that was shaped by `potential` before has values above 0.
    reference[0] = phi[0] - (np.minimum(carried, 0.0) if mode == "height" else carried)
    for t, ends in enumerate(transitions.ended):
        continued = reference[t]
        if mode == "height":
            continued = np.maximum(continued, phi[t + 1])
        reference[t + 1] = np.where(ends, phi[t + 1], continued)
    return reference
