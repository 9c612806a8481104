"""Attribution of the shaping reward to slots, and reports on published versions."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.champions.examination import (
    attribute,
    examine_version,
    rank_correlation,
)
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.settings import (
    CandidateSettings,
    FitSettings,
    GateSettings,
    gate_settings_of,
    settings_text,
)
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import DISCOUNT, paid
from rlaif.reward_net.potential import PotentialFunction

SETTINGS = CandidateSettings(fit=FitSettings(epochs=40, members=2))


def side_of(segments) -> Side:
    return Side("some", segments, PairTable(segments), [])


@pytest.fixture
def made(labels):
    return labels(episodes=8, each=6, signal=True, distractors=2, wrong=0.0)


@pytest.fixture
def net(made) -> RewardNet:
    train, _ = split_sides(made, SETTINGS)
    return fit_side(train, SETTINGS)


def test_the_slots_of_a_segment_sum_to_what_it_is_paid(made, net) -> None:
    slots, pay = attribute(net, side_of(made))
    potential = PotentialFunction(net)
    trainer = [paid(potential, item.observations) for item in made]
    np.testing.assert_allclose(pay, trainer, atol=1e-6)
    np.testing.assert_allclose(slots.sum(axis=1), trainer, atol=1e-3)
    assert np.abs(pay).max() > 0.1  # it pays at all


def test_a_slot_that_did_not_change_or_that_the_network_does_not_read_gets_nothing(
    made, net
) -> None:
    with torch.no_grad():
        net.get_parameter("net.0.weight")[..., 3] = 0.0
    still = [replace(item, observations=item.observations[[0, 0]]) for item in made[:2]]
    assert not attribute(net, side_of(still))[0].any()
    assert not attribute(net, side_of(made))[0][:, 3].any()


def test_a_potential_that_is_a_line_pays_each_slot_its_own_part(made) -> None:
    item = made[0]
    inputs = item.observations.shape[1]
    spec = RewardNetSpec(layout_version="layout-1", inputs=inputs, hidden=(1,), activation="tanh")
    net = RewardNet(spec)
    slope = np.linspace(-1e-3, 1e-3, inputs, dtype=np.float32)  # so small that tanh is a line
    with torch.no_grad():
        net.get_parameter("net.0.weight").copy_(torch.from_numpy(slope[None]))
        net.get_parameter("net.2.weight").fill_(1.0)
        for name in ("net.0.bias", "net.2.bias"):
            net.get_parameter(name).zero_()
    change = item.observations[-1] - item.observations[0]
    wanted = DISCOUNT ** (len(item.observations) - 1) * slope * change
    assert np.abs(wanted).max() > 1e-5
    np.testing.assert_allclose(attribute(net, side_of([item]))[0][0], wanted, rtol=1e-3, atol=1e-9)


def test_gate_settings_of_a_manifest_are_read_again_whatever_else_it_has() -> None:
    strict = CandidateSettings(gate=GateSettings(min_labels=40, simple_margin=0.2))
    text = settings_text(strict)
    assert gate_settings_of(text) == strict.gate
    older = text.replace('"gate": {', '"gate": {"level": 0.01, "max_ece": 0.25, ')
    assert gate_settings_of(older) == strict.gate
    assert gate_settings_of("") is None
    assert gate_settings_of('{"gate": {"of": "another time"}}') is None


def test_a_report_has_all_decided_pairs_by_confidence_and_the_reward_by_slot(made, net) -> None:
    class Registry:
        def network(self, version: int, *, layout_version: str) -> RewardNet:
            return net

    found = examine_version(Registry(), 1, made, SETTINGS)  # type: ignore[arg-type]  # all it asks
    _, heldout = split_sides(made, SETTINGS)
    assert sum(each.pairs for each in found.reliability) == len(heldout.decided)
    assert found.accuracy.pairs == len(heldout.decided)
    expected = [each.expected for each in found.reliability]
    assert expected == sorted(expected)
    assert all(0.5 <= each <= 1.0 for each in expected)
    assert found.calibration_error is not None
    assert found.pay.segments == len(made)
    assert sum(slot.mean for slot in found.pay.slots) == pytest.approx(found.pay.mean_pay, abs=1e-3)
    sizes = [slot.mean_absolute for slot in found.pay.slots]
    assert sizes == sorted(sizes, reverse=True)


def test_rank_correlation_knows_order_only() -> None:
    x = np.linspace(-1, 1, 20, dtype=np.float32)
    assert rank_correlation(x, np.tanh(5 * x)) == pytest.approx(1.0)
    assert rank_correlation(x, -x) == pytest.approx(-1.0)
    assert rank_correlation(x, np.zeros(20, np.float32)) is None
