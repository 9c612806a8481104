"""The file of a reward network: it round-trips, and every bad file is refused by name."""

import base64
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net import artifact
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

SPEC = RewardNetSpec(layout_version="v1", shift=0.1, spread=0.5)


def network(seed: int = 0, spec: RewardNetSpec = SPEC) -> RewardNet:
    return RewardNet(spec, generator=torch.Generator().manual_seed(seed))


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refusal(data: bytes, *, sha256: str | None = None, layout: str = "v1") -> RewardNetError:
    with pytest.raises(RewardNetError) as caught:
        artifact.load(data, sha256=sha256 or sha(data), layout_version=layout)
    return caught.value


def test_a_saved_network_loads_with_equal_potentials():
    net = network()
    data = artifact.save(net, SPEC, version=7)
    loaded = artifact.load(data, sha256=sha(data), layout_version="v1")
    x = np.random.default_rng(0).random((50, 128), dtype=np.float32)
    assert (loaded.version, loaded.spec) == (7, SPEC)
    np.testing.assert_array_equal(PotentialFunction(net)(x), PotentialFunction(loaded.net)(x))


def test_a_file_over_the_cap_is_refused_before_it_is_read():
    assert refusal(b"\0" * (artifact.MAX_BYTES + 1)).reason == "too_large"


def test_a_flipped_byte_is_refused():
    data = artifact.save(network(), SPEC, version=1)
    changed = data[:-1] + bytes([data[-1] ^ 1])
    assert refusal(changed, sha256=sha(data)).reason == "hash_mismatch"


def _pickled() -> bytes:
    return network().to_rm_pt()


def _cut() -> bytes:
    return artifact.save(network(), SPEC, version=1)[:-40]


@pytest.mark.parametrize(
    "make",
    [lambda: b"", lambda: b"GIF89a..", _pickled, _cut],
    ids=["empty", "gif", "pickle", "cut"],
)
def test_a_file_that_is_not_safetensors_is_refused(make: Callable[[], bytes]):
    assert refusal(make()).reason == "not_safetensors"


def with_header(header: bytes, length: int | None = None) -> bytes:
    size = len(header) if length is None else length
    return size.to_bytes(8, "little") + header


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000,
        b'{"__metadata__":' + b'{"a":' * 100_000,
        b'{"__metadata__":{"rlaif_reward_net":"\\ud800"}}',
        b'{"__metadata__":NaN}',
        b'{"__metadata__":{},"__metadata__":{}}',
        b"9" * 5_000,
        b"\xff\xfe",
    ],
    ids=lambda header: repr(header[:20]),
)
def test_a_header_that_no_parser_bears_is_refused_by_name(header: bytes):
    assert refusal(with_header(header)).reason == "not_safetensors"


@pytest.mark.parametrize("length", [0, 2**63, 2**64 - 1])
def test_a_header_that_claims_any_length_is_refused_by_name(length: int):
    assert refusal(with_header(b"{}", length)).reason in {"not_safetensors", "bad_metadata"}


def shaped(**spec: Any) -> bytes:
    """A file whose spec says something else than its network."""
    metadata = metadata_of(GOOD)
    text = json.dumps(metadata | {"spec": metadata["spec"] | spec})
    return safetensors.torch.save(network().state_dict(), metadata={"rlaif_reward_net": text})


@pytest.mark.parametrize(
    "spec",
    [
        {"hidden": [10**30, 10**30]},
        {"hidden": [10**12]},
        {"hidden": [-1]},
        {"hidden": [2**62]},
        {"layout_version": "v1", "members": 32, "hidden": [64] * 8},
        {"shift": -1e308},
        {"layout_version": "v" * 1_000_000},
    ],
    ids=str,
)
def test_a_spec_of_any_size_is_refused_in_a_few_words(spec: dict[str, Any]):
    error = refusal(shaped(**spec))
    assert error.reason in {"wrong_tensors", "not_finite", "constant", "wrong_layout"}
    assert len(str(error)) < 1100


def test_a_network_without_units_is_refused():
    """It fits its spec, and building it divides by zero."""
    tensors = {
        "net.0.weight": torch.zeros(0, 128),
        "net.0.bias": torch.zeros(0),
        "net.2.weight": torch.zeros(1, 0),
        "net.2.bias": torch.zeros(1),
    }
    metadata = metadata_of(GOOD)
    metadata["spec"]["hidden"] = [0]
    text = json.dumps(metadata)
    data = safetensors.torch.save(tensors, metadata={"rlaif_reward_net": text})
    assert refusal(data).reason == "unreadable"


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_bytes_are_a_network_or_refused_by_name(data: st.DataObject):
    good = GOOD
    start = data.draw(st.integers(0, len(good)))
    stop = data.draw(st.integers(start, min(len(good), start + 64)))
    mixed = good[:start] + data.draw(st.binary(max_size=64)) + good[stop:]
    with suppress(RewardNetError):
        artifact.load(mixed, sha256=sha(mixed), layout_version="v1")


GOOD = artifact.save(network(), SPEC, version=1)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"rlaif_reward_net": "{"},
        {"rlaif_reward_net": "[]"},
        {"rlaif_reward_net": json.dumps({"format": 2, "version": 1, "spec": {}})},
        {"rlaif_reward_net": json.dumps({"format": 1, "version": 1, "spec": {"hidden": []}})},
        {
            "rlaif_reward_net": json.dumps(
                {"format": 1, "version": 1, "spec": SPEC.model_dump() | {"spread": float("nan")}}
            )
        },
    ],
    ids=["none", "not-json", "a-list", "format-2", "bad-spec", "nan-spread"],
)
def test_metadata_that_says_no_shape_is_refused(metadata: dict[str, str] | None):
    data = safetensors.torch.save(network().state_dict(), metadata=metadata)
    assert refusal(data).reason == "bad_metadata"


def test_another_observation_layout_is_refused():
    data = artifact.save(network(), SPEC, version=1)
    error = refusal(data, layout="v2")
    assert error.reason == "wrong_layout"
    assert "'v1'" in error.detail
    assert "'v2'" in error.detail


def planted(change: Callable[[dict[str, torch.Tensor]], object]) -> bytes:
    """A file with valid metadata whose tensors were changed."""
    tensors = {name: value.clone() for name, value in network().state_dict().items()}
    change(tensors)
    good = artifact.save(network(), SPEC, version=1)
    length = int.from_bytes(good[:8], "little")
    metadata = json.loads(good[8 : 8 + length])["__metadata__"]
    return safetensors.torch.save(tensors, metadata=metadata)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.pop("net.4.bias"),
        lambda t: t.update(extra=torch.zeros(1)),
        lambda t: t.update({"net.0.weight": torch.zeros(64, 127)}),
        lambda t: t.update({"net.0.weight": t["net.0.weight"].double()}),
    ],
    ids=["missing", "extra", "shape", "dtype"],
)
def test_tensors_that_the_spec_does_not_describe_are_refused(change):
    assert refusal(planted(change)).reason == "wrong_tensors"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(value: float):
    assert refusal(planted(lambda t: t["net.2.weight"][0].fill_(value))).reason == "not_finite"


def test_a_weight_that_no_output_shows_must_be_finite_too():
    # ReLU turns a unit with this bias off, so every potential is finite.
    error = refusal(planted(lambda t: t["net.2.bias"][:1].fill_(float("-inf"))))
    assert error.reason == "not_finite"
    assert "net.2.bias" in error.detail


def test_weights_that_overflow_on_an_observation_are_refused():
    def overflow(tensors: dict[str, torch.Tensor]) -> None:
        tensors["net.0.weight"].fill_(3e38)
        tensors["net.2.weight"].fill_(3e38)

    assert refusal(planted(overflow)).reason == "not_finite"


def test_a_network_that_answers_always_the_same_is_refused():
    assert refusal(planted(lambda t: t["net.0.weight"].fill_(0.0))).reason == "constant"


def metadata_of(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[:8], "little")
    text = json.loads(data[8 : 8 + length])["__metadata__"]["rlaif_reward_net"]
    metadata: dict[str, Any] = json.loads(text)
    return metadata


def with_probes(change: Callable[[dict[str, Any]], None], seed: int = 0) -> bytes:
    """A file whose probe values were changed after it was written."""
    metadata = metadata_of(artifact.save(network(seed), SPEC, version=1))
    change(metadata)
    return safetensors.torch.save(
        network(seed).state_dict(), metadata={"rlaif_reward_net": json.dumps(metadata)}
    )


def test_the_answers_to_probe_observations_travel_in_the_file():
    probes = np.random.default_rng(1).random((40, 128), dtype=np.float32)
    values = artifact.ProbeValues.of(PotentialFunction(network()), probes)
    data = artifact.save(network(), SPEC, version=1, probes=values)
    artifact.load(data, sha256=sha(data), layout_version="v1")
    kept = metadata_of(data)["probes"]
    rows = np.frombuffer(base64.b64decode(kept["observations"]), "<f4").reshape(-1, 128)
    np.testing.assert_array_equal(rows, probes[:16])
    np.testing.assert_allclose(kept["potentials"], PotentialFunction(network())(rows), atol=1e-6)


def test_a_network_that_does_not_give_its_recorded_answers_is_refused():
    def shift(metadata: dict[str, Any]) -> None:
        metadata["probes"]["potentials"][3] += 2e-5

    error = refusal(with_probes(shift))
    assert error.reason == "wrong_answers"
    assert "2e-05" in error.detail


def test_weights_of_another_network_do_not_give_the_recorded_answers():
    data = artifact.save(network(), SPEC, version=1)
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    swapped = safetensors.torch.save(network(1).state_dict(), metadata=metadata)
    assert refusal(swapped).reason == "wrong_answers"


def test_answers_that_differ_by_the_last_bits_only_are_the_same():
    def nudge(metadata: dict[str, Any]) -> None:
        metadata["probes"]["potentials"][0] += 5e-6

    data = with_probes(nudge)
    artifact.load(data, sha256=sha(data), layout_version="v1")


@pytest.mark.parametrize("probes", [None, "absent"])
def test_a_file_without_probe_values_is_refused(probes: str | None):
    def spoil(metadata: dict[str, Any]) -> None:
        del metadata["probes"]
        if probes is None:
            metadata["probes"] = None

    assert refusal(with_probes(spoil)).reason == "bad_metadata"


def test_an_inverted_network_does_not_give_the_recorded_answers():
    metadata = metadata_of(artifact.save(network(), SPEC, version=1))
    tensors = network().state_dict()
    last = max(name for name in tensors if name.endswith("weight"))
    inverted = safetensors.torch.save(
        tensors | {last: -tensors[last]}, metadata={"rlaif_reward_net": json.dumps(metadata)}
    )
    assert refusal(inverted).reason == "wrong_answers"


@pytest.mark.parametrize("change", [{"spread": 1e-300}, {"spread": 1e9}, {"scale": 100.0}])
def test_an_absurd_spread_or_scale_is_refused(change: dict[str, float]):
    error = refusal(with_probes(lambda metadata: metadata["spec"].update(change)))
    assert error.reason == "bad_metadata"


@pytest.mark.parametrize("observations", ["no base64!", "AAAA", ""])
def test_probe_values_that_cannot_be_read_are_refused(observations: str):
    def spoil(metadata: dict[str, Any]) -> None:
        metadata["probes"]["observations"] = observations

    assert refusal(with_probes(spoil)).reason == "bad_metadata"


def test_saving_under_a_spec_of_another_shape_is_refused():
    with pytest.raises(RewardNetError, match="wrong_tensors"):
        artifact.save(network(), SPEC.model_copy(update={"hidden": (32,)}), version=1)
