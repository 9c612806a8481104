"""Numpy in, numpy out: the potential, and the plain reward, as the trainer calls them."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

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
        self._shift, self._spread = net.spec.shift, net.spec.spread

    def __call__(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Evaluate the potential.

        Args:
            observations: `[B, inputs]` float32 in [0, 1]; B may be 0.

        Returns:
            `[B]` float32 in [-scale, scale].

        Raises:
            ValueError: Another shape.
        """
        with torch.inference_mode():
            potentials: NDArray[np.float32] = self._net.potential(
                self._tensor(observations)
            ).numpy()
        return potentials

    def normalised(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """The network's plain answer in its own units: `(r(x) - shift) / spread`.

        The constants were frozen at training: about 0 where episodes start, and root mean square
        1 over the training data.

        Args:
            observations: As for the potential.

        Returns:
            `[M, B]` float32, one row for each member of the ensemble; unbounded. Their standard
            deviation over the rows says how unsure the model is of an observation.

        Raises:
            ValueError: Another shape.
        """
        with torch.inference_mode():
            logits = self._net.member_logits(self._tensor(observations))
            units: NDArray[np.float32] = ((logits - self._shift) / self._spread).numpy()
        return units

    def _tensor(self, observations: NDArray[np.float32]) -> Tensor:
        if observations.ndim != 2 or observations.shape[1] != self.inputs:
            raise ValueError(
                f"observations have shape {observations.shape}, expected [B, {self.inputs}]"
            )
        # A copy: the caller's array may be read-only, which torch.from_numpy warns about.
        return torch.from_numpy(np.array(observations, dtype=np.float32))
