"""RLlib's PPO learner with a faster minibatch loop and loss.

Module, Adam, schedules and checkpoints are RLlib's, and updates are equal to RLlib's up to
rounding. RLlib's loop spends almost as much time on slicing `SampleBatch` objects, metrics, the
loss, and checking every gradient twice as on the gradients.
"""

from collections.abc import Sequence
from math import hypot, inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_MODULE_STEPS_TRAINED,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
    WEIGHTS_SEQ_NO,
)

from rlaif.trainer.learner.algorithm.imitation import (
    SUBTASKS,
    ImitationTerm,
    Rows,
    accuracy,
    demonstration_loss,
    warm_start,
)
from rlaif.trainer.learner.algorithm.loss import LEARNED, PpoLoss, ValueLoss
from rlaif.trainer.learner.networks.button_networks import PICTURES
from rlaif.trainer.learner.networks.decision_module import CRITIC_INPUTS, POLICY_INPUTS
from rlaif.trainer.learner.networks.fast_layers import distinct
from rlaif.trainer.learner.networks.running_scale import ValueHead

_INPUTS = (Columns.OBS, PICTURES, POLICY_INPUTS, CRITIC_INPUTS)
"""Inputs of the networks; a batch contains some of them."""

_DEMONSTRATED_SHARE = 0.25
"""Rows of demonstrations for each row of a minibatch."""

VALUE_LOSS = "value_loss"
"""Key of `learner_config_dict`: a `ValueLoss`; default: squares clipped at `vf_clip_param`."""

NORMALIZE = "normalize_values"
"""Key of `learner_config_dict`: whether a `ValueHead` normalizes the returns."""


class ArrayLearner(PPOTorchLearner):  # type: ignore[misc]  # ray has no types
    """Updates on one complete batch; metrics are those of the last minibatch, as in RLlib."""

    metrics: Any
    _weights_seq_no: int

    def build(self) -> None:
        super().build()
        self._demonstrated = ImitationTerm(demonstration_loss, share=_DEMONSTRATED_SHARE)
        self._subtasks_of_rows: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        squared = ValueLoss("squared", self.config.vf_clip_param)
        self._loss = PpoLoss(
            self.config.clip_param,
            self.config.learner_config_dict.get(VALUE_LOSS, squared),
            self.config.vf_loss_coeff,
        )
        self._entropy = self.entropy_coeff_schedulers_per_module[DEFAULT_MODULE_ID]
        self._groups = _parameter_groups(self.module[DEFAULT_MODULE_ID])

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register Adam with RLlib's parameters, fused into one kernel."""
        params = self.get_parameters(self.module[module_id])
        self.register_optimizer(
            module_id=module_id,
            optimizer=torch.optim.Adam(params, fused=True),
            params=params,
            lr_or_lr_schedule=config.lr,
        )

    def follow(self, demonstrations: Rows, *, augmentation: float = 0.0) -> None:
        """Set the rows from which `imitate_subtasks` selects."""
        self._demonstrated.augmentation = augmentation
        self._demonstrated.take(demonstrations, self._device)
        self._subtasks_of_rows = demonstrations[SUBTASKS]

    def imitate_subtasks(self, subtasks: Sequence[int] | None, weight: float) -> None:
        """Imitate only the rows of these subtasks from now on; all rows if None."""
        self._demonstrated.choose(
            None if subtasks is None else np.isin(self._subtasks_of_rows, subtasks)
        )
        self._demonstrated.weight = weight

    def warm_up(
        self, rows: Rows, tested: Rows, *, steps: int, augmentation: float
    ) -> tuple[float, float]:
        module = self.module[DEFAULT_MODULE_ID]
        own, held_out = (
            {name: torch.as_tensor(array).to(self._device) for name, array in each.items()}
            for each in (rows, tested)
        )
        seed = self.config.seed or 0
        warm_start(module, own, steps=steps, seed=seed, augmentation=augmentation)
        return accuracy(module, own), accuracy(module, held_out)

    def update(
        self,
        batch: MultiAgentBatch | None = None,
        *,
        training_data: Any = None,
        timesteps: dict[str, Any] | None = None,
        num_epochs: int = 1,
        minibatch_size: int | None = None,
        shuffle_batch_per_epoch: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Run the epochs over a batch of the default module, as RLlib's `Learner.update` does.

        `shuffle_batch_per_epoch` shuffles every epoch, including the first. The order depends only
        on the run's seed and the number of this update, so that a resumed run is the same.
        """
        rows = (training_data.batch if batch is None else batch)[DEFAULT_MODULE_ID]
        timesteps = timesteps or {}
        self._check_is_built()
        self.before_gradient_based_update(timesteps=timesteps)
        self._weights_seq_no += 1
        # Until the end of the first update after a resume, RLlib's schedule has its initial value.
        self._entropy.update(timestep=timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))
        inputs = {name: np.asarray(rows[name]) for name in _INPUTS if name in rows}
        played = {name: np.asarray(rows[name]) for name in LEARNED}
        size = minibatch_size or len(rows)
        orders = self._minibatches(len(rows), num_epochs, size, shuffle_batch_per_epoch)
        rng = np.random.default_rng([self.config.seed or 0, 0x1A, self._weights_seq_no])
        module = self.module[DEFAULT_MODULE_ID]
        head = getattr(module, "vf", None)
        if self.config.learner_config_dict.get(NORMALIZE) and isinstance(head, ValueHead):
            head.follow(torch.from_numpy(played[Postprocessing.VALUE_TARGETS]))
        left_out, numbers = 0, distinct(*inputs.values())
        for order in orders:
            _, first, which = np.unique(numbers[order], return_index=True, return_inverse=True)
            figures, is_done = self._step(
                {name: torch.from_numpy(rows[order[first]]) for name, rows in inputs.items()},
                which,
                {name: rows[order] for name, rows in played.items()},
                rng,
            )
            left_out += not is_done
        if hasattr(module, "observe"):
            module.observe({name: torch.from_numpy(rows) for name, rows in inputs.items()})
        self._log(
            {
                **figures,
                "steps_left_out": left_out,
                "gradient_steps": len(orders),
                WEIGHTS_SEQ_NO: self._weights_seq_no,
            },
            trained=sum(len(order) for order in orders),
        )
        self.after_gradient_based_update(timesteps=timesteps)
        return self.metrics.reduce()

    def _minibatches(
        self, rows: int, epochs: int, size: int, shuffle: bool
    ) -> list[npt.NDArray[np.int64]]:
        """Return the rows of each minibatch, as in RLlib.

        If an epoch does not fill its last minibatch, the rest is taken from the next epoch.
        """
        rng = np.random.default_rng([self.config.seed or 0, 0x5F, self._weights_seq_no])
        total = -(-epochs * rows // size) * size
        order = [
            rng.permutation(rows) if shuffle else np.arange(rows) for _ in range(-(-total // rows))
        ]
        return np.split(np.concatenate(order)[:total], range(size, total, size))

    def _step(
        self,
        inputs: dict[str, torch.Tensor],
        which: npt.NDArray[np.int64],
        played: dict[str, npt.NDArray[Any]],
        rng: np.random.Generator,
    ) -> tuple[dict[str, float], bool]:
        """Perform a gradient step if it is finite; returns metrics and whether it was done.

        `inputs` are the distinct rows of the minibatch, and `which` is the index of each row in
        them. The gradient of a critic with its own layers is clipped separately, so that it does
        not shorten the policy's steps.
        """
        module = self.module[DEFAULT_MODULE_ID].unwrapped()
        out = module.forward_train(inputs)
        logits = out[Columns.ACTION_DIST_INPUTS]
        values = module.compute_values(inputs, embeddings=out.get(Columns.EMBEDDINGS))
        found = self._loss.gradients(
            logits.detach().numpy(),
            values.detach().numpy(),
            which,
            played,
            entropy_weight=self._entropy.get_current_value(),
            spread=float(module.vf.spread) if isinstance(module.vf, ValueHead) else 1.0,
        )
        term = self._demonstrated.of(module, len(which), rng)
        imitated = [] if term is None else [term]
        parameters = [each for group in self._groups for each in group]
        for each in parameters:
            each.grad = None
        given = [torch.from_numpy(each) for each in (found.logits, found.values)]
        torch.autograd.backward([logits, values, *imitated], [*given, *[None] * len(imitated)])
        limit = inf if self.config.grad_clip is None else self.config.grad_clip
        norm = hypot(*[_clipped(group, limit) for group in self._groups])
        if isfinite(norm):
            self.get_optimizer(DEFAULT_MODULE_ID).step()
        total = found.figures[self.TOTAL_LOSS_KEY] + sum(each.item() for each in imitated)
        figures = {self.TOTAL_LOSS_KEY: total, "gradients_default_optimizer_global_norm": norm}
        return found.figures | figures, isfinite(norm)

    def _log(self, figures: dict[str, Any], *, trained: int) -> None:
        own, log = DEFAULT_MODULE_ID, self.metrics.log_value
        for name, value in figures.items():
            log((own, name), value, window=1)
        for module_id in (own, ALL_MODULES):
            log((module_id, NUM_MODULE_STEPS_TRAINED), trained, reduce="sum")
            log((module_id, NUM_MODULE_STEPS_TRAINED_LIFETIME), trained, reduce="lifetime_sum")


def _clipped(parameters: Sequence[torch.nn.Parameter], limit: float) -> float:
    """Scale gradients down to a norm as `clip_grad_norm_` does; returns the norm before."""
    gradients = [each.grad for each in parameters if each.grad is not None]
    norm = float(torch.stack(torch._foreach_norm(gradients)).norm())
    if norm > limit:
        torch._foreach_mul_(gradients, limit / (norm + 1e-6))
    return norm


def _parameter_groups(module: Any) -> list[list[torch.nn.Parameter]]:
    """Return groups of policy and critic, or one of all parameters if they share layers."""
    named = list(module.named_parameters())
    critic: tuple[str, ...] = ()
    if isinstance(module, InferenceOnlyAPI):
        critic = tuple(f"{name}." for name in module.get_non_inference_attributes())
    if all(name == "vf." for name in critic):
        return [[each for _, each in named]]
    return [
        [each for name, each in named if name.startswith(critic) == of_critic]
        for of_critic in (False, True)
    ]
