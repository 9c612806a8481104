"""RLlib's PPO learner without what it does around each minibatch.

Module, loss, Adam, schedules and checkpoints are RLlib's. Its own loop spends almost as long on
slicing `SampleBatch` objects, on metrics, and on looking through every gradient twice as on the
gradients.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.algorithms.ppo.ppo import (
    LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY,
    LEARNER_RESULTS_VF_LOSS_UNCLIPPED_KEY,
)
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import VF_LOSS_KEY
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_MODULE_STEPS_TRAINED,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
    WEIGHTS_SEQ_NO,
)
from ray.rllib.utils.torch_utils import explained_variance
from torch.nn.utils import clip_grad_norm_

from rlaif.trainer.learner.algorithm.demonstrated import (
    SUBTASKS,
    ImitationFigures,
    WarmStart,
    demonstration_loss,
    figures_of,
    warm_start,
)
from rlaif.trainer.learner.algorithm.imitation import ImitationTerm, imitation_loss
from rlaif.trainer.learner.networks.button_networks import PICTURES
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.networks.running_scale import ValueHead, ValueLoss

_COLUMNS = (
    Columns.OBS,
    Columns.ACTIONS,
    Columns.ACTION_LOGP,
    Columns.ACTION_DIST_INPUTS,
    Postprocessing.ADVANTAGES,
    Postprocessing.VALUE_TARGETS,
)
"""What the PPO loss reads; a policy may read more."""

_DEMONSTRATED_SHARE = 0.25
"""Rows of demonstrations beside each row that was played: they are few, and seen often enough."""

_MORE = (PICTURES, POLICY_INPUTS)

VALUE_LOSS = "value_loss"
"""Key of `learner_config_dict`: a `ValueLoss`; None, or no such key, leaves it to RLlib's loss."""

NORMALIZE = "normalize_values"
"""Another: whether a `ValueHead` follows the returns."""


class _NoMetrics:
    """Takes what the loss reports for every minibatch, and drops it."""

    def log_dict(self, *args: Any, **kwargs: Any) -> None: ...

    def log_value(self, *args: Any, **kwargs: Any) -> None: ...


class _HeldSchedule:
    """An entropy schedule of RLlib's that goes no lower than a floor."""

    def __init__(self, schedule: Any) -> None:
        self._schedule = schedule
        self.floor = 0.0

    def get_current_value(self) -> Any:
        """The weight, as RLlib's loss reads it."""
        return max(self._schedule.get_current_value(), self.floor)

    def update(self, timestep: int) -> float:
        return max(float(self._schedule.update(timestep=timestep)), self.floor)


class ArrayLearner(PPOTorchLearner):  # type: ignore[misc]  # ray has no types
    """Updates on one finished batch; figures are those of the last minibatch, as in RLlib.

    Episodes, several modules and anything else than a finished batch of the default module go
    through RLlib's own loop.
    """

    metrics: Any
    _weights_seq_no: int

    _policy_alone: Any = None

    def build(self) -> None:
        """Build RLlib's, with an entropy schedule that can be held up."""
        super().build()
        self._best = ImitationTerm(imitation_loss)
        self._demonstrated = ImitationTerm(demonstration_loss, share=_DEMONSTRATED_SHARE)
        self._subtasks_of_rows: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._value_loss: ValueLoss | None = self.config.learner_config_dict.get(VALUE_LOSS)
        schedules = self.entropy_coeff_schedulers_per_module
        self._apart = _policy_and_critic(self.module[DEFAULT_MODULE_ID])
        self._entropy = _HeldSchedule(schedules[DEFAULT_MODULE_ID])
        schedules[DEFAULT_MODULE_ID] = self._entropy

    def hold_entropy(self, floor: float) -> None:
        self._entropy.floor = floor

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Adam with RLlib's numbers, in one kernel for all parameters."""
        params = self.get_parameters(self.module[module_id])
        self.register_optimizer(
            module_id=module_id,
            optimizer=torch.optim.Adam(params, fused=True),
            params=params,
            lr_or_lr_schedule=config.lr,
        )

    def update(self, batch: MultiAgentBatch | None = None, **kwargs: Any) -> Any:
        """Run the epochs over one batch; see RLlib's `Learner.update` for arguments and result.

        `shuffle_batch_per_epoch` draws every pass, the first one too, in an order that depends on
        the run's seed and on the number of this update only: a resumed run draws the same.
        """
        data = kwargs.get("training_data")
        given: Any = batch if data is None else data.batch
        if not self._takes(given):
            return super().update(batch=batch, **kwargs)
        return self._update_on(
            given,
            timesteps=kwargs.get("timesteps") or {},
            epochs=kwargs.get("num_epochs", 1),
            size=kwargs.get("minibatch_size") or len(given[DEFAULT_MODULE_ID]),
            shuffle=kwargs.get("shuffle_batch_per_epoch", False),
        )

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        """RLlib's PPO loss, with the critic's part by the settings where they are not RLlib's."""
        if self._value_loss is None:
            loss: torch.Tensor = super().compute_loss_for_module(
                module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
            )
            return loss
        module = self.module[module_id].unwrapped()
        values = module.compute_values(batch, embeddings=fwd_out.get(Columns.EMBEDDINGS))
        loss = super().compute_loss_for_module(
            module_id=module_id, config=self._without_critic(config), batch=batch, fwd_out=fwd_out
        )
        returns = batch[Postprocessing.VALUE_TARGETS]
        spread = module.vf.spread if isinstance(module.vf, ValueHead) else 1.0
        of_critic = self._value_loss(values, returns, spread).mean()
        loss = loss + config.vf_loss_coeff * of_critic
        self.metrics.log_dict(
            {
                VF_LOSS_KEY: of_critic,
                LEARNER_RESULTS_VF_LOSS_UNCLIPPED_KEY: ((values - returns) ** 2).mean(),
                LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY: explained_variance(returns, values),
            },
            key=module_id,
            window=1,
        )
        return loss

    def _without_critic(self, config: Any) -> Any:
        """The configuration in which RLlib's loss leaves the critic out."""
        if self._policy_alone is None:
            self._policy_alone = config.copy(copy_frozen=False)
            self._policy_alone.use_critic = False
        return self._policy_alone

    def imitate(self, rows: dict[str, np.ndarray[Any, Any]] | None, weight: float) -> None:
        """Add imitation of `TopSegments.rows`, if any, to the loss of the updates from now on."""
        self._best.take(rows, self._device)
        self._best.weight = weight

    def follow(
        self, demonstrations: dict[str, np.ndarray[Any, Any]], *, strayed: float = 0.0
    ) -> None:
        """Imitate these rows from now on, as far as `imitate_subtasks` says.

        `strayed` of what they show comes from others (`straying.strayed`).
        """
        self._demonstrated.strayed = strayed
        self._demonstrated.take(demonstrations, self._device)
        self._subtasks_of_rows = demonstrations[SUBTASKS]

    def imitate_subtasks(self, subtasks: Sequence[int] | None, weight: float) -> None:
        """From now on imitate only what leads to these subtasks; None: everything."""
        self._demonstrated.choose(
            None if subtasks is None else np.isin(self._subtasks_of_rows, subtasks)
        )
        self._demonstrated.weight = weight

    def warm_up(
        self,
        rows: dict[str, np.ndarray[Any, Any]],
        tested: dict[str, np.ndarray[Any, Any]],
        settings: WarmStart,
    ) -> ImitationFigures:
        module = self.module[DEFAULT_MODULE_ID]
        own, apart = (
            {name: torch.as_tensor(array).to(self._device) for name, array in each.items()}
            for each in (rows, tested)
        )
        warm_start(module, own, settings, seed=self.config.seed or 0)
        return figures_of(module, own, apart)

    def _takes(self, batch: Any) -> bool:
        return (
            isinstance(batch, MultiAgentBatch)
            and set(batch.policy_batches) == {DEFAULT_MODULE_ID}
            and all(name in batch[DEFAULT_MODULE_ID] for name in _COLUMNS)
            and Columns.LOSS_MASK not in batch[DEFAULT_MODULE_ID]
            and not self.config.use_kl_loss
            and (self.config.grad_clip is None or self.config.grad_clip_by == "global_norm")
        )

    def _update_on(
        self,
        given: MultiAgentBatch,
        *,
        timesteps: dict[str, Any],
        epochs: int,
        size: int,
        shuffle: bool,
    ) -> Any:
        self._check_is_built()
        self.before_gradient_based_update(timesteps=timesteps)
        self._weights_seq_no += 1
        self._steps_left_out = 0
        # After a resume, too: RLlib's own has only the first value until an update is over.
        self._entropy.update(timestep=timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))
        self._imitation_rng = np.random.default_rng(
            [self.config.seed or 0, 0x1A, self._weights_seq_no]
        )
        rows = given[DEFAULT_MODULE_ID]
        names = (*_COLUMNS, *(name for name in _MORE if name in rows))
        batch = {name: torch.as_tensor(rows[name]).to(self._device) for name in names}
        orders = list(self._orders(len(rows), epochs, size, shuffle))
        self._gradient_steps = len(orders)
        optimizer = self.get_optimizer(DEFAULT_MODULE_ID)
        self._before_steps(batch)
        with self._quiet():
            for order in orders[:-1]:
                self._step(optimizer, {name: array[order] for name, array in batch.items()})
        last = {name: array[orders[-1]] for name, array in batch.items()}
        loss, norm = self._step(optimizer, last)
        self._after_steps(batch)
        self._log(loss, norm, trained=sum(len(order) for order in orders))
        self.after_gradient_based_update(timesteps=timesteps)
        return self.metrics.reduce()

    def _before_steps(self, batch: dict[str, torch.Tensor]) -> None:
        """The critic's head takes over the figures of the returns that it is about to learn."""
        head = getattr(self.module[DEFAULT_MODULE_ID], "vf", None)
        if self.config.learner_config_dict.get(NORMALIZE) and isinstance(head, ValueHead):
            head.follow(batch[Postprocessing.VALUE_TARGETS])

    def _after_steps(self, batch: dict[str, torch.Tensor]) -> None:
        observe = getattr(self.module[DEFAULT_MODULE_ID], "observe", None)
        if observe is not None:
            observe(batch)

    def _orders(self, rows: int, epochs: int, size: int, shuffle: bool) -> Iterator[torch.Tensor]:
        """The rows of each minibatch. A pass that does not fill its last one borrows of the next.

        The same minibatches as RLlib's, which also ends with the one that completes the passes.
        """
        rng = np.random.default_rng([self.config.seed or 0, 0x5F, self._weights_seq_no])
        passes = -(-epochs * rows // size) * size
        whole = -(-passes // rows)
        order = [rng.permutation(rows) if shuffle else np.arange(rows) for _ in range(whole)]
        every = torch.from_numpy(np.concatenate(order)[:passes])
        return iter(torch.split(every, size))

    def _step(
        self, optimizer: torch.optim.Optimizer, batch: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        module = self.module[DEFAULT_MODULE_ID]
        loss = self.compute_loss_for_module(
            module_id=DEFAULT_MODULE_ID,
            config=self.config.get_config_for_module(DEFAULT_MODULE_ID),
            batch=batch,
            fwd_out=module.forward_train(batch),
        )
        for term in (self._best, self._demonstrated):
            imitated = term.of(module, len(batch[Columns.ACTIONS]), self._imitation_rng)
            loss = loss if imitated is None else loss + imitated
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch is untyped here
        norm = self._clipped(module)
        # One look at the norm finds what RLlib looks for in each gradient. A step that is not
        # finite is left out.
        if torch.isfinite(norm):
            optimizer.step()
        else:
            self._steps_left_out += 1
        return loss.detach(), norm

    def _clipped(self, module: Any) -> torch.Tensor:
        """Clip the gradients; gives their norm before it.

        A critic with layers of its own is clipped apart: its errors do not shorten the policy's
        steps.
        """
        limit = self.config.grad_clip
        most = inf if limit is None else limit
        groups = self._apart or [list(module.parameters())]
        norms = [clip_grad_norm_(group, most, foreach=True) for group in groups]
        return norms[0] if len(norms) == 1 else torch.stack(norms).norm()

    def _log(self, loss: torch.Tensor, norm: torch.Tensor, *, trained: int) -> None:
        own = DEFAULT_MODULE_ID
        log = self.metrics.log_value
        log((own, self.TOTAL_LOSS_KEY), loss, window=1)
        log((own, "gradients_default_optimizer_global_norm"), norm, window=1)
        log((own, "steps_left_out"), self._steps_left_out, window=1)
        log((own, "gradient_steps"), self._gradient_steps, window=1)
        log((own, WEIGHTS_SEQ_NO), self._weights_seq_no, window=1)
        for whose in (own, ALL_MODULES):
            log((whose, NUM_MODULE_STEPS_TRAINED), trained, reduce="sum")
            log((whose, NUM_MODULE_STEPS_TRAINED_LIFETIME), trained, reduce="lifetime_sum")

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        metrics, self.metrics = self.metrics, _NoMetrics()
        try:
            yield
        finally:
            self.metrics = metrics


def _policy_and_critic(module: Any) -> list[list[torch.nn.Parameter]]:
    if not isinstance(module, InferenceOnlyAPI):
        return []
    apart = tuple(f"{name}." for name in module.get_non_inference_attributes())
    if all(name == "vf." for name in apart):
        return []
    named = list(module.named_parameters())
    return [
        [each for name, each in named if name.startswith(apart) == of_critic]
        for of_critic in (False, True)
    ]
