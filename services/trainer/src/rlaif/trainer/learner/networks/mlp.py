"""RLlib's own policy of two layers, with a critic that learns values in their own deviations."""

from typing import Any

from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from torch import nn

from rlaif.trainer.learner.networks.running_scale import ValueHead


class ScaledMlpModule(DefaultPPOTorchRLModule):  # type: ignore[misc]  # ray has no types
    """RLlib's module but for the critic's last layer."""

    def setup(self) -> None:
        """Build RLlib's, then put the same layer, with figures, in the place of the last one."""
        super().setup()
        self.vf: Any
        (last,) = (part for part in self.vf.modules() if isinstance(part, nn.Linear))
        self.vf = ValueHead(last.in_features)
        self.vf.linear.load_state_dict(last.state_dict())


def mlp_spec(hidden: int, *, share_layers: bool, normalize_values: bool) -> RLModuleSpec:
    """How RLlib builds two layers of `hidden` units; without figures it is RLlib's own module."""
    config = DefaultModelConfig(
        fcnet_hiddens=[hidden, hidden], fcnet_activation="tanh", vf_share_layers=share_layers
    )
    own = ScaledMlpModule if normalize_values else DefaultPPOTorchRLModule
    return RLModuleSpec(module_class=own, model_config=config)
