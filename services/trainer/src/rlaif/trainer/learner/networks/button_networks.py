"""Networks for the action set of eight buttons: RLlib's MLP, or a CNN that reads screens."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.models.torch.torch_distributions import TorchCategorical
from torch import Tensor, nn

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.networks.fast_layers import SplitColumns, features
from rlaif.trainer.learner.networks.running_scale import ValueHead
from rlaif.trainer.play.followers.frame_stack import FRAMES, HEIGHT, WIDTH
from rlaif.trainer.play.zelda_env import ACTION_SPACE, OBSERVATION_SPACE

PICTURES = "pictures"
"""Column of a batch: `[B, 4, 72, 80] uint8`."""

_ACTIONS = 8
_FIRST, _SECOND = 16, 32
"""Channels of the two convolutions, 8 x 8 with stride 4 and 4 x 4 with stride 2 (Mnih et al. 2013,
arXiv 1312.5602)."""


class PictureModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]  # ray has no types
    """Maps screens and memory to logits and value, with shared layers.

    `model_config` contains `hidden`, the units of the last shared layer, and `normalize_values`,
    whether the critic learns normalized values.
    """

    def setup(self) -> None:
        hidden: int = self.model_config["hidden"]
        self.screens = nn.Conv2d(FRAMES, _FIRST, 8, stride=4)
        self.memory = nn.Linear(OBSERVATION_SIZE, _FIRST, bias=False)
        self.shapes = nn.Conv2d(_FIRST, _SECOND, 4, stride=2)
        with torch.no_grad():
            seen = self.shapes(self.screens(torch.zeros(1, FRAMES, HEIGHT, WIDTH)))
        self.shared = nn.Linear(seen[0].numel(), hidden)
        self.pi = nn.Linear(hidden, _ACTIONS)
        scales: bool = self.model_config.get("normalize_values", False)
        self.vf = ValueHead(hidden) if scales else nn.Linear(hidden, 1)
        # Small initial logits: the initial policy is nearly uniform.
        nn.init.orthogonal_(self.pi.weight, 0.01)
        nn.init.zeros_(self.pi.bias)
        self.action_dist_cls = TorchCategorical

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.pi(self._features(batch))}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        features = self._features(batch)
        return {Columns.ACTION_DIST_INPUTS: self.pi(features), Columns.EMBEDDINGS: features}

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        features = self._features(batch) if embeddings is None else embeddings
        values: Tensor = self.vf(features).squeeze(-1)
        return values

    def _features(self, batch: dict[str, Any]) -> Tensor:
        screens = self.screens(batch[PICTURES].to(torch.float32) / 255.0)
        memory = self.memory(batch[Columns.OBS])[:, :, None, None]
        shapes = torch.relu(self.shapes(torch.relu(screens + memory)))
        return torch.relu(self.shared(shapes.flatten(1)))


def picture_spec(hidden: int, *, normalize_values: bool = False) -> RLModuleSpec:
    """Return the specification of a `PictureModule`."""
    return RLModuleSpec(
        module_class=PictureModule,
        model_config={"hidden": hidden, "normalize_values": normalize_values},
    )


class PicturePolicy:
    """A `PictureModule` as a runner's policy (`rlaif.trainer.learner.runners.inference`)."""

    def __init__(self) -> None:
        self._module: Any = None

    def load(self, weights: Mapping[str, Any]) -> None:
        tensors = {name: torch.as_tensor(each) for name, each in weights.items()}
        if self._module is None:
            spec = picture_spec(len(tensors["shared.bias"]))
            spec.observation_space, spec.action_space = OBSERVATION_SPACE, ACTION_SPACE
            self._module = spec.build()
        self._module.load_state_dict(tensors, strict=False)  # the critic remains unchanged

    def logits(
        self,
        observations: npt.NDArray[np.float32],
        pictures: npt.NDArray[np.uint8] | None = None,
        policy_inputs: npt.NDArray[np.float32] | None = None,
    ) -> npt.NDArray[np.float32]:
        return module_logits(self._module.forward_inference, observations, pictures)


def module_logits(
    forward: Callable[[dict[str, Any]], dict[str, Any]],
    observations: npt.NDArray[np.float32],
    pictures: npt.NDArray[np.uint8] | None = None,
    policy_inputs: npt.NDArray[np.float32] | None = None,
) -> npt.NDArray[np.float32]:
    """Return logits computed by a forward method of an RLlib module."""
    batch = {Columns.OBS: torch.from_numpy(observations)}
    if pictures is not None:
        batch[PICTURES] = torch.from_numpy(pictures)
    if policy_inputs is not None:
        batch[POLICY_INPUTS] = torch.from_numpy(policy_inputs)
    with torch.inference_mode():
        logits: npt.NDArray[np.float32] = forward(batch)[Columns.ACTION_DIST_INPUTS].numpy()
    return logits


class MlpModule(DefaultPPOTorchRLModule):  # type: ignore[misc]  # ray has no types
    """RLlib's module with faster layers; runners compute the same output in numpy."""

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        split = SplitColumns.of(batch[Columns.OBS])
        found = [features(each.net.mlp, split) for each in self.encoder.children()]
        return {
            Columns.ACTION_DIST_INPUTS: self.pi(found[0]),
            Columns.EMBEDDINGS: found[-1],
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        if embeddings is None:
            *_, critic = self.encoder.children()
            embeddings = features(critic.net.mlp, SplitColumns.of(batch[Columns.OBS]))
        values: Tensor = self.vf(embeddings).squeeze(-1)
        return values


class ScaledMlpModule(MlpModule):
    """A `MlpModule` with a `ValueHead` as the critic's last layer, with the same weights."""

    def setup(self) -> None:
        super().setup()
        self.vf: Any
        (last,) = (part for part in self.vf.modules() if isinstance(part, nn.Linear))
        self.vf = ValueHead(last.in_features)
        self.vf.linear.load_state_dict(last.state_dict())


def mlp_spec(hidden: int, *, share_layers: bool, normalize_values: bool) -> RLModuleSpec:
    """Return the specification of an MLP with two layers of `hidden` units."""
    config = DefaultModelConfig(
        fcnet_hiddens=[hidden, hidden], fcnet_activation="tanh", vf_share_layers=share_layers
    )
    own = ScaledMlpModule if normalize_values else MlpModule
    return RLModuleSpec(module_class=own, model_config=config)
