"""RLlib's PPO learner without what it does around each minibatch.

Module, loss, Adam, schedules and checkpoints are RLlib's. Its own loop spends almost as long on
slicing `SampleBatch` objects, on metrics, and on looking through every gradient twice as on the
gradients.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch
from ray.rllib.utils.metrics import (
    NUM_MODULE_STEPS_TRAINED,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
    WEIGHTS_SEQ_NO,
)
from torch.nn.utils import clip_grad_norm_

from rlaif.trainer.learner.options.imitation import imitation_loss
from rlaif.trainer.learner.options.picture_policy import PICTURES

_COLUMNS = (
    Columns.OBS,
    Columns.ACTIONS,
    Columns.ACTION_LOGP,
    Columns.ACTION_DIST_INPUTS,
    Postprocessing.ADVANTAGES,
    Postprocessing.VALUE_TARGETS,
)
"""What the PPO loss reads; a policy may read more."""


class _NoMetrics:
    """Takes what the loss reports for every minibatch, and drops it."""

    def log_dict(self, *args: Any, **kwargs: Any) -> None:
        """Nothing."""

    def log_value(self, *args: Any, **kwargs: Any) -> None:
        """Nothing."""


class ArrayLearner(PPOTorchLearner):  # type: ignore[misc]  # ray has no types
    """Updates on one finished batch; figures are those of the last minibatch, as in RLlib.

    Episodes, several modules and anything else than a finished batch of the default module go
    through RLlib's own loop.
    """

    metrics: Any
    _weights_seq_no: int

    _imitated: dict[str, torch.Tensor] | None = None
    _imitation_weight = 0.0

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

    def imitate(self, rows: dict[str, np.ndarray[Any, Any]] | None, weight: float) -> None:
        """Add imitation of `TopSegments.rows`, if any, to the loss of the updates from now on."""
        self._imitated = None
        if rows is not None:
            self._imitated = {
                name: torch.as_tensor(array).to(self._device) for name, array in rows.items()
            }
        self._imitation_weight = weight

    def _imitation(self, size: int) -> torch.Tensor:
        """The weighted term for some of the rows, drawn anew for each minibatch."""
        assert self._imitated is not None
        drawn = self._imitation_rng.integers(0, len(self._imitated[Columns.ACTIONS]), size)
        order = torch.from_numpy(drawn).to(self._device)
        rows = {name: array[order] for name, array in self._imitated.items()}
        return self._imitation_weight * imitation_loss(self.module[DEFAULT_MODULE_ID], rows)

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
        self._imitation_rng = np.random.default_rng(
            [self.config.seed or 0, 0x1A, self._weights_seq_no]
        )
        rows = given[DEFAULT_MODULE_ID]
        names = (*_COLUMNS, PICTURES) if PICTURES in rows else _COLUMNS
        batch = {name: torch.as_tensor(rows[name]).to(self._device) for name in names}
        orders = list(self._orders(len(rows), epochs, size, shuffle))
        self._gradient_steps = len(orders)
        optimizer = self.get_optimizer(DEFAULT_MODULE_ID)
        with self._quiet():
            for order in orders[:-1]:
                self._step(optimizer, {name: array[order] for name, array in batch.items()})
        last = {name: array[orders[-1]] for name, array in batch.items()}
        loss, norm = self._step(optimizer, last)
        self._log(loss, norm, trained=sum(len(order) for order in orders))
        self.after_gradient_based_update(timesteps=timesteps)
        return self.metrics.reduce()

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
        """One gradient step; returns the loss, and the norm of its gradient before clipping."""
        module = self.module[DEFAULT_MODULE_ID]
        loss = self.compute_loss_for_module(
            module_id=DEFAULT_MODULE_ID,
            config=self.config.get_config_for_module(DEFAULT_MODULE_ID),
            batch=batch,
            fwd_out=module.forward_train(batch),
        )
        if self._imitated is not None:
            loss = loss + self._imitation(len(batch[Columns.ACTIONS]))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        limit = self.config.grad_clip
        norm = clip_grad_norm_(module.parameters(), inf if limit is None else limit, foreach=True)
        # One look at the norm finds what RLlib looks for in each gradient. A step that is not
        # finite is left out.
        if torch.isfinite(norm):
            optimizer.step()
        else:
            self._steps_left_out += 1
        return loss.detach(), norm

    def _log(self, loss: torch.Tensor, norm: torch.Tensor, *, trained: int) -> None:
        """What RLlib logs after each minibatch, once."""
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
