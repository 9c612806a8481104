"""Numpy in, numpy out: the potential as the trainer calls it."""

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.reward_net.network import RewardNet


class PotentialFunction:
    """Φ of a batch of observations.

    Deterministic: the network has no dropout and no running statistics, and its weights are
    copied, so nothing outside can change what it answers. Thread counts are left as they are.

    Attributes:
        scale: Bound of the answers.
        inputs: Length of an observation.
    """

    def __init__(self, net: RewardNet) -> None:
        self._net = RewardNet(net.spec)
        self._net.load_state_dict(net.state_dict())
        self._net.eval().requires_grad_(False)
        self.scale = net.spec.scale
        self.inputs = net.spec.inputs

    def __call__(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Evaluate the potential.

        Args:
            observations: `[B, inputs]` float32 in [0, 1]; B may be 0.

        Returns:
            `[B]` float32 in [-scale, scale].

        Raises:
            ValueError: Another shape.
        """
        if observations.ndim != 2 or observations.shape[1] != self.inputs:
            raise ValueError(
                f"observations have shape {observations.shape}, expected [B, {self.inputs}]"
            )
        # A copy: the caller's array may be read-only, which torch.from_numpy warns about.
        x = torch.from_numpy(np.array(observations, dtype=np.float32))
        with torch.inference_mode():
            potentials: NDArray[np.float32] = self._net.potential(x).numpy()
        return potentials
