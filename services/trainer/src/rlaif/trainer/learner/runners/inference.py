"""The forward pass of a policy for the few rows of a sampling step.

It uses numpy, because torch takes several times as long for 8 rows and 300 MB in every runner. The
results agree up to float32 rounding. Only policies that read pictures use torch.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT
from rlaif.trainer.learner.networks import decision_layout as layout
from rlaif.trainer.learner.networks import kernels
from rlaif.trainer.play.config import EnvConfig

Float32 = npt.NDArray[np.float32]

Weights = Mapping[str, Any]
"""Parameters and buffers by name, as arrays or numbers; the critic's are ignored."""


class Policy(Protocol):
    """A policy in a runner."""

    def load(self, weights: Weights) -> None: ...

    def logits(
        self,
        observations: Float32,
        pictures: npt.NDArray[np.uint8] | None = None,
        policy_inputs: Float32 | None = None,
    ) -> Float32:
        """Return logits `[N, A]` for observations `[N, 128]`.

        For policies that read them, `pictures` are `[N, 4, 72, 80]`, `policy_inputs` `[N, SIZE]`.
        """
        ...


def policy_for(env: EnvConfig) -> Policy:
    """Return a policy, still without weights, for these environments."""
    if env.pictures:
        # Imported here, because only this policy needs torch.
        from rlaif.trainer.learner.networks.button_networks import PicturePolicy

        policy: Policy = PicturePolicy()
        return policy
    return DecisionPolicy() if env.game.by_decisions else ButtonPolicy()


class _Linear:
    """A linear layer with given weights."""

    def __init__(self, weights: Weights, name: str) -> None:
        self._weights: Float32 = np.asarray(weights[f"{name}.weight"]).T.copy()
        self._bias: Float32 = np.array(weights[f"{name}.bias"])
        self.inputs = len(self._weights)

    def __call__(self, rows: Float32) -> Float32:
        out: Float32 = rows @ self._weights
        out += self._bias
        return out


class ButtonPolicy:
    """RLlib's MLP: tanh layers and a linear output layer."""

    def load(self, weights: Weights) -> None:
        # A critic with its own layers has its own encoder.
        encoders = ("encoder.actor_encoder.", "encoder.encoder.")
        names = [name for name in weights if name.startswith(encoders) and name.endswith(".weight")]
        self._hidden = [_Linear(weights, name.removesuffix(".weight")) for name in sorted(names)]
        self._last = _Linear(weights, "pi.net.mlp.0")

    def logits(
        self,
        observations: Float32,
        pictures: npt.NDArray[np.uint8] | None = None,
        policy_inputs: Float32 | None = None,
    ) -> Float32:
        rows = observations
        for layer in self._hidden:
            rows = layer(rows)
            np.tanh(rows, out=rows)
        return self._last(rows)


_CODE_COLUMNS = np.array(layout.code_table()[0])
_CODE_OFFSETS = np.array(layout.code_table()[1], dtype=np.float32)
_NUMBER_COLUMNS = np.array(layout.number_columns())
_TILE_PLACES = layout.places()


class DecisionPolicy:
    """`rlaif.trainer.learner.networks.decision_module` without its critic."""

    def load(self, weights: Weights) -> None:
        # Copies, because the learner updates its weights in place, maybe in this process.
        array = {name: np.array(each) for name, each in weights.items()}
        self._scales = bool(array["scale.count"].any())
        self._mean = array["scale.mean"]
        deviation = np.sqrt(array["scale.variance"])
        self._deviation = np.maximum(deviation, np.float32(layout.MIN_DEVIATION))
        self._tables = [array[f"sight.{name}.weight"] for name in ("codes", "rooms", "looks")]
        self._first, self._second = _Linear(array, "sight.first"), _Linear(array, "sight.second")
        self._named = _Linear(array, "named")
        self._question = _Linear(array, "pointer.question")
        self._looks: Float32 = array["pointer.looks"].T.copy()
        self._places: Float32 = array["pointer.places"].T.copy()

    def logits(
        self,
        observations: Float32,
        pictures: npt.NDArray[np.uint8] | None = None,
        policy_inputs: Float32 | None = None,
    ) -> Float32:
        """Return logits, with `layout.NEVER` where a decision is not allowed."""
        assert policy_inputs is not None
        room = layout.see_rooms(policy_inputs)
        features = self._features(observations, policy_inputs, room)
        question = self._question(features)
        scores = np.empty(room.looks.shape[:2], dtype=np.float32)
        scored = question @ self._places, question @ self._looks
        kernels.score_tiles(*scored, room.looks, room.here, _TILE_PLACES, scores)
        logits = np.concatenate([self._named(features), scores], axis=1)
        allowed = policy_inputs[:, ALLOWED] > 0.5
        # Logits must also be finite in rows that are not from play and allow no decision.
        logits[~allowed & allowed.any(axis=1, keepdims=True)] = layout.NEVER
        return logits

    def _features(self, observations: Float32, inputs: Float32, room: layout.RoomsSeen) -> Float32:
        """Return features of the state, `[N, hidden]`."""
        if self._scales:
            observations = (observations - self._mean) / self._deviation
            np.clip(observations, -layout.MAX_DEVIATIONS, layout.MAX_DEVIATIONS, out=observations)
        codes = (inputs.take(_CODE_COLUMNS, axis=1) + _CODE_OFFSETS).astype(np.uint16)
        rooms = inputs[:, POLICY_INPUT["room"].span].astype(np.uint16, order="C")
        before, after = [observations, inputs.take(_NUMBER_COLUMNS, axis=1)], room.nearest
        begin = sum(each.shape[1] for each in before)
        rows = np.empty((len(inputs), self._first.inputs), dtype=np.float32)
        np.concatenate(before, axis=1, out=rows[:, :begin])
        looked_up = (codes[:, :, None], rooms[:, :, None], room.near)
        for table, found in zip(self._tables, looked_up, strict=True):
            kernels.look_up(table, found, begin, rows)
            begin += found.shape[1] * table.shape[1]
        rows[:, begin:] = after
        features = self._first(rows)
        np.maximum(features, 0, out=features)
        features = self._second(features)
        np.maximum(features, 0, out=features)
        return features


def log_probabilities(logits: Float32, actions: npt.NDArray[np.int64]) -> Float32:
    """Return the log probability of each action, `[...] float32`, for logits `[..., A]`."""
    top = logits.max(axis=-1)
    total = np.log(np.exp(logits - top[..., None]).sum(axis=-1)) + top
    chosen = np.take_along_axis(logits, actions[..., None], axis=-1)[..., 0]
    result: Float32 = (chosen - total).astype(np.float32)
    return result
