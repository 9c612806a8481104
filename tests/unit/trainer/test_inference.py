"""The policies of the runners, in numpy, against the networks that the learner updates."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE, THINGS
from rlaif.trainer.learner.networks.button_networks import (
    PicturePolicy,
    mlp_spec,
    module_logits,
    picture_spec,
)
from rlaif.trainer.learner.networks.decision_layout import NEVER
from rlaif.trainer.learner.networks.decision_module import decision_spec
from rlaif.trainer.learner.runners.inference import (
    ButtonPolicy,
    DecisionPolicy,
    Policy,
)
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.settings.game import GameSettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS = 5
EQUAL = 1e-6


def module_of(spec: Any, actions: str) -> Any:
    spec.observation_space = OBSERVATION_SPACE
    spec.action_space = actions_of(GameSettings.model_validate({"actions": actions}))
    return spec.build()


def weights_of(module: Any) -> dict[str, Any]:
    return {name: value.numpy() for name, value in module.state_dict().items()}


def loaded(policy: Policy, module: Any) -> Policy:
    policy.load(weights_of(module))
    return policy


def move(module: Any, seed: int) -> None:
    """Other weights, as after some updates."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.01 * torch.randn(parameter.shape, generator=rng))


def observations(seed: int, rows: int = ROWS) -> Any:
    return np.random.default_rng(seed).random((rows, 128), dtype=np.float32)


def policy_inputs(seed: int, rows: int = ROWS) -> Any:
    """Any codes of any tiles: more than the game shows."""
    rng = np.random.default_rng(seed)
    inputs = np.zeros((rows, SIZE), dtype=np.float32)
    for field in POLICY_INPUT.fields:
        shape = rows, field.span.stop - field.span.start
        drawn = rng.random(shape) if field.codes is None else rng.integers(0, field.codes, shape)
        inputs[:, field.span] = drawn
    inputs[:, ALLOWED] = rng.random((rows, ALLOWED.stop - ALLOWED.start)) < 0.5
    inputs[:, THINGS] *= rng.random((rows, THINGS.stop - THINGS.start)) < 0.1
    return inputs


@pytest.mark.parametrize("shared", [True, False], ids=["one encoder", "two encoders"])
@pytest.mark.parametrize("scaled", [True, False], ids=["scaled values", "RLlib's values"])
@pytest.mark.parametrize("hidden", [16, 256])
def test_buttons_are_chosen_as_by_the_network(shared: bool, scaled: bool, hidden: int):
    module = module_of(mlp_spec(hidden, share_layers=shared, normalize_values=scaled), "seed")
    for seed in range(3):
        move(module, seed)
        rows = observations(seed)
        found = loaded(ButtonPolicy(), module).logits(rows)
        np.testing.assert_allclose(
            found, module_logits(module.forward_inference, rows), rtol=EQUAL, atol=EQUAL
        )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 9), has_learned=st.booleans())
def test_decisions_are_chosen_as_by_the_network(seed: int, rows: int, has_learned: bool):
    module = module_of(decision_spec(32, seed=seed % 1000), "macros")
    if has_learned:
        module.scale.observe(torch.from_numpy(observations(seed + 1, 50)))
        move(module, seed)
    seen, inputs = observations(seed, rows), policy_inputs(seed, rows)
    inputs[0, ALLOWED] = seed % 2  # nothing, or all
    expected = module_logits(module.forward_inference, seen, policy_inputs=inputs)
    found = loaded(DecisionPolicy(), module).logits(seen, policy_inputs=inputs)
    assert np.array_equal(found == NEVER, expected == NEVER)
    assert np.array_equal(found.argmax(axis=1), expected.argmax(axis=1))
    np.testing.assert_allclose(found, expected, rtol=EQUAL, atol=EQUAL)


def test_a_policy_with_pictures_is_the_network():
    module = module_of(picture_spec(16, normalize_values=True), "seed")
    pictures = np.random.default_rng(1).integers(0, 256, (ROWS, 4, 72, 80), dtype=np.uint8)
    found = loaded(PicturePolicy(), module).logits(observations(1), pictures)
    expected = module_logits(module.forward_inference, observations(1), pictures)
    assert np.array_equal(found, expected)
