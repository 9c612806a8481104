"""A reward network as a file: safetensors with its spec as metadata; never a pickle.

Equal weights, spec and version give equal bytes.
"""

import base64
import hashlib
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import safetensors.numpy
from pydantic import Field, ValidationError
from safetensors import SafetensorError

from rlaif.contracts.model import Contract
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.contracts.untrusted import read_json
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.pay import Float32, Potential
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Arrays, NetWeights, Weighted, tensor_shapes

MAX_BYTES = 4 * 1024 * 1024
"""Maximum file size; the default ensemble takes about 300 kB."""

# One key only: safetensors writes several metadata keys in no fixed order.
_METADATA_KEY = "rlaif_reward_net"
_HEADER_LENGTH = struct.Struct("<Q")
_PROBES = 64
_PROBE_SEED = 20
_MIN_PROBE_RANGE = 1e-6
_KEPT_PROBES = 16
_PROBE_DECIMALS = 7
_PROBE_TOLERANCE = 1e-5


class ProbeValues(Contract):
    """Observations and the potentials of the saved network, which every reader reproduces."""

    observations: str = Field(description="Base64 of `[P, inputs]` little-endian float32.")
    potentials: tuple[float, ...] = Field(min_length=1, max_length=256)

    @classmethod
    def of(cls, potential: Potential, observations: Float32) -> "ProbeValues":
        """Record a network's potentials of the first 16 of the observations `[P, inputs]`."""
        rows = np.ascontiguousarray(observations[:_KEPT_PROBES], dtype="<f4")
        answers = potential(rows.astype(np.float32))
        return cls(
            observations=base64.b64encode(rows.tobytes()).decode(),
            # Rounded, so that rounding differences of processors do not change the file.
            potentials=tuple(round(value, _PROBE_DECIMALS) for value in answers.tolist()),
        )

    def largest_error(self, potential: Potential, inputs: int) -> float:
        """Maximum difference from the recorded potentials; ValueError for unreadable ones."""
        raw = np.frombuffer(base64.b64decode(self.observations, validate=True), dtype="<f4")
        rows = raw.reshape(len(self.potentials), inputs).astype(np.float32)
        found = potential(rows).astype(np.float64)
        return float(np.abs(found - np.array(self.potentials)).max())


class _Metadata(Contract):
    format: Literal[1] = 1
    version: int = Field(ge=1)
    spec: RewardNetSpec
    probes: ProbeValues


@dataclass(frozen=True)
class LoadedRewardNet:
    """A network that passed every check."""

    net: NetWeights
    spec: RewardNetSpec
    version: int


def save(
    net: Weighted,
    spec: RewardNetSpec,
    *,
    version: int,
    probes: ProbeValues | None = None,
) -> bytes:
    """Write `net` as safetensors with `spec` as metadata.

    Readers must reproduce `probes`; None records those of random observations.

    Raises:
        RewardNetError: `spec` does not describe `net`.
    """
    tensors = dict(net.arrays())
    _check_tensors(tensors, spec)
    if probes is None:
        reader = PotentialFunction(NetWeights(spec, tensors))
        probes = ProbeValues.of(reader, _made_up(spec.inputs))
    text = _Metadata(version=version, spec=spec, probes=probes).model_dump_json()
    return safetensors.numpy.save(tensors, metadata={_METADATA_KEY: text})


def load(data: bytes, *, sha256: str, layout_version: str) -> LoadedRewardNet:
    """Read a network with this digest and observation layout.

    Raises:
        RewardNetError: Any check failed; `reason` names it.
    """
    try:
        return _load(data, sha256=sha256, layout_version=layout_version)
    except RewardNetError:
        raise
    except Exception as error:
        # A crafted file may make the libraries raise anything: reject it instead of failing.
        raise RewardNetError(
            "unreadable", f"the file cannot be read: {type(error).__name__}: {error}"
        ) from error


def _load(data: bytes, *, sha256: str, layout_version: str) -> LoadedRewardNet:
    _check_bytes(data, sha256)
    metadata = _read_metadata(data)
    spec = metadata.spec
    if spec.layout_version != layout_version:
        raise RewardNetError(
            "wrong_layout",
            f"the network reads observation layout {spec.layout_version!r} but this program "
            f"writes {layout_version!r}; train a network on the new layout",
        )
    try:
        tensors = safetensors.numpy.load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise RewardNetError("not_safetensors", f"the tensors cannot be read: {error}") from error
    _check_tensors(tensors, spec)
    _check_finite(tensors)
    net = NetWeights(spec, tensors)
    with np.errstate(all="ignore"):
        _check_answers(net, metadata.probes)
    return LoadedRewardNet(net=net, spec=spec, version=metadata.version)


def _check_bytes(data: bytes, sha256: str) -> None:
    if len(data) > MAX_BYTES:
        raise RewardNetError(
            "too_large", f"the file has {len(data)} bytes, more than the {MAX_BYTES} that are read"
        )
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise RewardNetError(
            "hash_mismatch",
            f"the file's SHA-256 is {found}, the publication has {sha256}; the object was "
            "changed or truncated, so publish the version again",
        )


def _read_metadata(data: bytes) -> _Metadata:
    text = _header(data).get("__metadata__", {}).get(_METADATA_KEY)
    if not isinstance(text, str):
        raise RewardNetError(
            "bad_metadata", f"the file has no {_METADATA_KEY!r} metadata, so its shape is unknown"
        )
    try:
        return _Metadata.model_validate_json(text)
    except ValidationError as error:
        raise RewardNetError("bad_metadata", f"the metadata cannot be read: {error}") from error


def _header(data: bytes) -> dict[str, Any]:
    try:
        (length,) = _HEADER_LENGTH.unpack_from(data)
        header = read_json(data[_HEADER_LENGTH.size : _HEADER_LENGTH.size + length])
    except (struct.error, ValueError) as error:
        raise RewardNetError("not_safetensors", f"the header cannot be read: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise RewardNetError("not_safetensors", "the header is not a JSON object")
    return header


def _check_tensors(tensors: Arrays, spec: RewardNetSpec) -> None:
    expected = tensor_shapes(spec)
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if found != expected:
        differing = sorted(
            name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)
        )
        name = differing[0]
        raise RewardNetError(
            "wrong_tensors",
            f"{len(differing)} tensors differ from the spec; the first is {name!r}: found "
            f"{found.get(name, 'nothing')}, expected {expected.get(name, 'nothing')}",
        )
    wrong = sorted(name for name, value in tensors.items() if value.dtype != np.float32)
    if wrong:
        raise RewardNetError(
            "wrong_tensors", f"{wrong[0]!r} is {tensors[wrong[0]].dtype}, expected float32"
        )


def _check_finite(tensors: Arrays) -> None:
    for name in sorted(tensors):
        if not np.isfinite(tensors[name]).all():
            raise RewardNetError(
                "not_finite", f"tensor {name!r} holds NaN or infinity; the training diverged"
            )


def _check_answers(net: NetWeights, probes: ProbeValues) -> None:
    """Reject a network that does not reproduce its probes.

    It is also rejected if its answers to fixed random observations are not finite, or all equal.
    """
    potential, x = PotentialFunction(net), _made_up(net.spec.inputs)
    # Before tanh: a probe may lie far from the training data, where tanh is flat.
    units = potential.normalised(x).mean(axis=0)
    if not (np.isfinite(units).all() and np.isfinite(potential(x)).all()):
        raise RewardNetError(
            "not_finite", "the potential of a probe observation is NaN or infinite"
        )
    if float(units.max() - units.min()) < _MIN_PROBE_RANGE:
        raise RewardNetError(
            "constant",
            f"the network has the same output for {_PROBES} different observations, so it "
            "is useless",
        )
    _check_probe_values(potential, probes)


def _check_probe_values(potential: PotentialFunction, probes: ProbeValues) -> None:
    try:
        error = probes.largest_error(potential, potential.inputs)
    except ValueError as reason:
        raise RewardNetError(
            "bad_metadata", f"the probe values cannot be read: {reason}"
        ) from reason
    if not error <= _PROBE_TOLERANCE:
        raise RewardNetError(
            "wrong_answers",
            f"the network's outputs for its probe observations differ by up to {error:.2g} "
            f"(allowed {_PROBE_TOLERANCE:g}) from those recorded: this program interprets the file "
            "differently than its writer; run the same version of both",
        )


def _made_up(inputs: int) -> Float32:
    """`[64, inputs]` observations, uniform in [0, 1), equal in every call."""
    return np.random.default_rng(_PROBE_SEED).random((_PROBES, inputs)).astype(np.float32)
