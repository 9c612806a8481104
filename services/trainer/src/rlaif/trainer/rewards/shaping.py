"""Potential-based shaping from a reward model: fragments of experience in, shaping rewards out.

F(s, s') = weight * (gamma * Phi(s') - Phi(s)), with Phi(terminal) = 0. Each potential is read with
the model that was live when its state was visited (Devlin & Kudenko, AAMAS 2012), so swapping the
model in the middle of an episode adds nothing: over an episode that ends, the discounted sum of F
is -weight * Phi(s0), whatever was swapped. Reading both terms with the new model would not keep
that.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]


class Potential(Protocol):
    """Phi: `[B, 128] float32` observations to `[B] float32` potentials."""

    def __call__(self, observations: Float32) -> Float32:
        """Evaluate a batch."""
        ...


@dataclass(frozen=True)
class Transitions:
    """T decision steps of N environments, in time order.

    Attributes:
        observations: `[T+1, N, D] float32`; row t is what action t was chosen on. After the end of
            an episode the next row is the first of the new episode.
        terminated: `[T, N] bool`; the episode ended in the game.
        truncated: `[T, N] bool`; the episode was cut by a limit.
        final_index: `[K, 2] int64`; (t, n) of each truncated step, in order.
        final_observations: `[K, D] float32`; the observation after each of them.
    """

    observations: Float32
    terminated: Bool
    truncated: Bool
    final_index: npt.NDArray[np.int64]
    final_observations: Float32


@dataclass
class PotentialShaper:
    """Shapes consecutive fragments of the same environments.

    Attributes:
        gamma: Discount of the run, the same as PPO's; another one would break the invariance.
        weight: Scale of the shaping reward. Higher makes the judges' taste louder while the
            critic learns; 0 turns shaping off.
    """

    gamma: float
    weight: float
    _carried: dict[int, Float32] = field(default_factory=dict)

    def shape(
        self,
        runner: int,
        transitions: Transitions,
        potential: Potential | None,
        *,
        continues: bool = True,
    ) -> Float32:
        """Shaping rewards of one fragment, evaluated with one model version.

        Args:
            runner: Which environment runner it came from; its last potentials are remembered.
            transitions: The fragment.
            potential: The live model; None while there is none, which is Phi = 0.
            continues: True when it follows this runner's last fragment; False when the runner was
                started anew and what is remembered of it is void.

        Returns:
            `[T, N] float32`.
        """
        steps, envs = transitions.terminated.shape
        phi = np.zeros((steps + 1, envs), dtype=np.float32)
        phi_final = np.zeros(len(transitions.final_index), dtype=np.float32)
        if potential is not None:
            phi, phi_final = _evaluate(transitions, potential)
        carried = self._carried.get(runner)
        if continues and carried is not None:
            phi[0] = carried
        self._carried[runner] = phi[steps].copy()

        phi_next = phi[1:].copy()
        phi_next[transitions.terminated] = 0.0
        if len(phi_final):
            t, n = transitions.final_index.T
            phi_next[t, n] = phi_final
        return self.weight * (np.float32(self.gamma) * phi_next - phi[:-1])


def _evaluate(transitions: Transitions, potential: Potential) -> tuple[Float32, Float32]:
    """Phi of every row and of every final observation, in one batch."""
    rows = transitions.observations
    count = rows.shape[0] * rows.shape[1]
    flat = rows.reshape(count, rows.shape[2])
    values = potential(np.concatenate([flat, transitions.final_observations]))
    return values[:count].reshape(rows.shape[:2]).copy(), values[count:].copy()
