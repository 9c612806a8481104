"""The network of decisions: what is not allowed, whose gradient goes where, what is kept."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.models.torch.torch_distributions import TorchCategorical

from rlaif.game.decisions.catalog import COUNT, GO_TO
from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE, THINGS
from rlaif.trainer.learner.networks.decision_module import (
    CRITIC_INPUTS,
    POLICY_INPUTS,
    DecisionModule,
    decision_spec,
)
from rlaif.trainer.learner.runners.inference import log_probabilities

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS, HIDDEN = 6, 32


def module_of(
    *, inference_only: bool = False, seed: int = 0, share: bool = False, **more: Any
) -> Any:
    spec = decision_spec(HIDDEN, share_layers=share, seed=seed, **more)
    spec.observation_space = gym.spaces.Box(0.0, 1.0, (128,), np.float32)
    spec.action_space = gym.spaces.Discrete(COUNT)
    spec.inference_only = inference_only
    return spec.build()


def batch_of(rows: int = ROWS, seed: int = 1) -> dict[str, torch.Tensor]:
    """Random rows within the bounds of the layout; about half of the decisions are allowed."""
    rng = np.random.default_rng(seed)
    inputs = np.zeros((rows, SIZE), dtype=np.float32)
    for field in POLICY_INPUT.fields:
        shape = (rows, len(field.slots))
        if field.codes is None:
            inputs[:, field.span] = rng.integers(0, 2, shape)
        else:
            inputs[:, field.span] = rng.integers(0, field.codes, shape)
    return {
        Columns.OBS: torch.from_numpy(rng.random((rows, 128), dtype=np.float32)),
        POLICY_INPUTS: torch.from_numpy(inputs),
        CRITIC_INPUTS: torch.from_numpy(rng.random((rows, 2), dtype=np.float32)),
    }


def allowed(batch: dict[str, torch.Tensor]) -> torch.Tensor:
    return batch[POLICY_INPUTS][:, ALLOWED] > 0.5


def of_critic(module: DecisionModule) -> set[str]:
    of = ("critic", "vf.")
    return {name for name, _ in module.named_parameters() if name.startswith(of)}


def test_what_is_not_allowed_has_probability_0_and_all_is_a_number():
    batch = batch_of()
    logits = module_of().forward_train(batch)[Columns.ACTION_DIST_INPUTS]
    chances = torch.softmax(logits, dim=1)
    assert torch.equal(chances > 0, allowed(batch))
    assert torch.allclose(chances.sum(1), torch.ones(ROWS))
    reported = TorchCategorical.from_logits(logits)
    every = torch.arange(COUNT)
    assert torch.isfinite(reported.entropy()).all()
    assert all(torch.isfinite(reported.logp(every[n].expand(ROWS))).all() for n in range(COUNT))
    actions = np.tile(np.arange(COUNT)[:, None], ROWS)
    assert np.isfinite(
        log_probabilities(np.tile(logits.detach().numpy(), (COUNT, 1, 1)), actions)
    ).all()


def test_a_masked_decision_gets_no_gradient():
    """The entropy and the log probability of another decision move nothing that belongs to it."""
    module, batch = module_of(), batch_of()
    batch[POLICY_INPUTS][:, ALLOWED] = 1
    batch[POLICY_INPUTS][:, ALLOWED.start + 5] = 0
    reported = TorchCategorical.from_logits(module.forward_train(batch)[Columns.ACTION_DIST_INPUTS])
    (
        reported.entropy().sum() + reported.logp(torch.zeros(ROWS, dtype=torch.int64)).sum()
    ).backward()
    gradient = module.named.weight.grad
    assert not gradient[5].any()
    assert not module.named.bias.grad[5].any()
    assert gradient[6].any()


def test_the_first_policy_is_nearly_uniform_over_what_is_allowed():
    batch = batch_of()
    logits = module_of().forward_train(batch)[Columns.ACTION_DIST_INPUTS]
    reported = TorchCategorical.from_logits(logits).entropy()
    most = allowed(batch).sum(1).float().log()
    assert torch.allclose(reported, most, atol=0.02)


def test_the_critics_loss_moves_nothing_of_the_policy_and_the_policys_nothing_of_the_critic():
    module, batch = module_of(), batch_of()
    critic = of_critic(module)
    out = module.forward_train(batch)
    module.compute_values(batch, embeddings=out[Columns.EMBEDDINGS]).sum().backward()
    moved = {name for name, each in module.named_parameters() if each.grad is not None}
    assert moved == critic
    module.zero_grad(set_to_none=True)
    out = module.forward_train(batch)[Columns.ACTION_DIST_INPUTS]
    TorchCategorical.from_logits(out).entropy().sum().backward()
    moved = {name for name, each in module.named_parameters() if each.grad is not None}
    assert moved == {name for name, _ in module.named_parameters()} - critic


@pytest.mark.parametrize("reads", [True, False], ids=["it reads them", "it does not"])
def test_the_critic_learns_what_depends_on_reference_and_deadline_alone(reads: bool):
    """One state: worth less the higher above its reference, and nothing close to a deadline."""
    module, rows = module_of(), 64
    batch = {name: each[:1].expand(rows, -1).contiguous() for name, each in batch_of().items()}
    counted, near = np.random.default_rng(2).random((2, rows), dtype=np.float32)
    batch[CRITIC_INPUTS] = torch.from_numpy(np.stack([5 * counted, near], axis=1))
    returns = torch.from_numpy((1 - near) * (4 - 5 * counted))
    if not reads:
        del batch[CRITIC_INPUTS]
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(300):
        loss = (module.compute_values(batch) - returns).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    share = float(loss.detach()) / float(returns.var())
    assert share < 0.1 if reads else share > 0.9


def test_the_policy_does_not_read_what_the_critic_does():
    module, batch = module_of(), batch_of()
    other = batch | {CRITIC_INPUTS: torch.ones(ROWS, 2)}
    with torch.no_grad():
        logits = [module.forward_train(each)[Columns.ACTION_DIST_INPUTS] for each in (batch, other)]
    assert torch.equal(*logits)


@pytest.mark.parametrize("share", [True, False])
def test_values_are_the_same_with_what_the_forward_pass_kept(share: bool):
    module, batch = module_of(share=share), batch_of()
    kept = module.forward_train(batch)[Columns.EMBEDDINGS]
    assert torch.equal(module.compute_values(batch, embeddings=kept), module.compute_values(batch))


def test_equal_seeds_give_equal_weights_whatever_was_drawn_before():
    first = module_of(seed=7).state_dict()
    torch.rand(3)
    again, other = module_of(seed=7).state_dict(), module_of(seed=8).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_runner_gets_what_plays_and_nothing_of_the_critic():
    module = module_of()
    module.observe(batch_of(64))
    runner = module_of(inference_only=True, seed=9)
    sent = module.get_state(inference_only=True)
    assert not [name for name in sent if name.startswith(("critic", "vf"))]
    runner.set_state(sent)
    batch = batch_of()
    expected = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS].numpy()
    given = runner.forward_inference(batch)[Columns.ACTION_DIST_INPUTS].numpy()
    assert np.array_equal(given, expected)


def test_every_part_of_the_input_counts():
    """No field can be changed without the logits or the value changing: all of it is read."""
    module, batch = module_of(), batch_of(1)
    before = reported_of(module, batch)
    unread = []
    for field in POLICY_INPUT.fields:
        changed = {name: rows.clone() for name, rows in batch.items()}
        cells = changed[POLICY_INPUTS][:, field.span]
        changed[POLICY_INPUTS][:, field.span] = (cells + 1) % (field.codes or 2)
        if np.array_equal(reported_of(module, changed), before):
            unread.append(field.name)
    assert unread == []


def test_inputs_are_normalised_unless_they_shall_not_be():
    batch = batch_of(64)
    for follows in (True, False):
        module = module_of(normalize_inputs=follows)
        before = reported_of(module, batch)
        module.observe(batch)
        assert np.array_equal(reported_of(module, batch), before) is not follows


def test_neither_policy_nor_critic_is_another_one_because_other_rows_came():
    module, batch = module_of(), batch_of(64)
    module.observe(batch)
    before = reported_of(module, batch)
    other = batch_of(64, seed=2)
    other[Columns.OBS] = 0.3 + 0.5 * other[Columns.OBS]
    module.observe(other)
    assert module.scale.mean.mean() > 0.52, "the figures have moved"
    assert np.allclose(reported_of(module, batch), before, rtol=1e-3, atol=1e-4)


def reported_of(module: Any, batch: dict[str, torch.Tensor]) -> np.ndarray:
    with torch.no_grad():
        logits = module.forward_train(batch)[Columns.ACTION_DIST_INPUTS]
        return np.append(logits.numpy().ravel(), module.compute_values(batch).numpy())


def test_what_was_learned_of_a_thing_holds_wherever_it_lies_as_far_from_here():
    """The player and a chest, both one tile further right: the chest gets the same score."""
    module, batch = module_of(), batch_of(1)
    inputs = batch[POLICY_INPUTS]
    inputs[:, ALLOWED] = 1
    inputs[:, THINGS] = 0
    inputs[:, POLICY_INPUT["tiles"].span] = 0
    scores = []
    for step in range(2):
        moved = inputs.clone()
        moved[:, POLICY_INPUT["tile_row"].span] = 4
        moved[:, POLICY_INPUT["tile_column"].span] = 5 + step
        moved[:, THINGS.start + 4 * 16 + 7 + step] = 3
        seen = module.reader(batch[Columns.OBS], moved)
        features = torch.ones(1, HIDDEN)
        scores.append(module.pointer(features, seen)[0, 4 * 16 + 7 + step].item())
    assert scores[0] == scores[1] != 0


def test_the_scores_of_tiles_belong_to_the_decisions_that_name_them():
    module, batch = module_of(), batch_of()
    batch[POLICY_INPUTS][:, ALLOWED] = 1
    seen = module.reader(batch[Columns.OBS], batch[POLICY_INPUTS])
    features = module.sight(seen)
    logits = module.forward_train(batch)[Columns.ACTION_DIST_INPUTS]
    assert torch.allclose(logits[:, GO_TO.start :], module.pointer(features, seen), atol=1e-7)


def test_an_update_sees_what_plays():
    """Outputs and gradients are those of the layers that play, whatever is equal in all rows."""
    module, batch = module_of(), batch_of(40)
    batch[POLICY_INPUTS][:, 8:300] = batch[POLICY_INPUTS][0, 8:300]
    batch[Columns.OBS][:, 50:] = 0.5
    seen = module.reader(module.scale(batch[Columns.OBS]), batch[POLICY_INPUTS])
    varying = module.reader.varying(seen)
    assert varying.rows.shape[1] < seen.numbers.shape[1] / 2
    assert 0 < varying.codes.shape[1] < seen.codes.shape[1]
    played, learned = module.sight(seen), module.sight.learn(seen, varying)
    assert torch.allclose(played, learned, atol=1e-5)
    parameters = list(module.sight.parameters())
    for one, other in zip(
        *[torch.autograd.grad((out**2).sum(), parameters) for out in (played, learned)],
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-3, rtol=1e-4)


def test_a_tile_looks_as_the_input_says_and_beyond_the_buffer_like_its_last_tile():
    module, batch = module_of(), batch_of(3)
    inputs = batch[POLICY_INPUTS]
    inputs[:, POLICY_INPUT["tile_row"].span] = 0
    inputs[:, POLICY_INPUT["tile_column"].span] = 5
    seen = module.reader(batch[Columns.OBS], inputs)
    assert seen.here.tolist() == [5, 5, 5]
    looks, near = seen.looks.long(), seen.near.long()
    tiles, things = inputs[:, POLICY_INPUT["tiles"].span].long(), inputs[:, THINGS].long()
    kinds, collisions = 1024, 6
    expected = [tiles % kinds, tiles // kinds + kinds, things + kinds + collisions]
    assert torch.equal(looks, torch.stack(expected, dim=2))
    assert torch.equal(near[:, 3 * 7 + 3], looks[:, 5]), "the middle"
    assert torch.equal(near[:, 5 * 7 + 6], looks[:, 2 * 16 + 8]), "two down, three right"
    assert torch.equal(near[:, 2 * 7 + 3], looks[:, 191]), "above the buffer"


def test_the_nearest_of_each_kind_is_found():
    batch = batch_of(1)
    inputs = batch[POLICY_INPUTS]
    inputs[:, THINGS] = 0
    inputs[:, POLICY_INPUT["tile_row"].span] = 4
    inputs[:, POLICY_INPUT["tile_column"].span] = 5
    inputs[:, THINGS.start + 4 * 16 + 9] = 2  # four to the right
    inputs[:, THINGS.start + 5 * 16 + 3] = 2  # two to the left, one below
    inputs[:, ALLOWED] = 0
    inputs[:, ALLOWED.start + GO_TO.start + 5 * 16 + 3] = 1
    nearest = module_of().reader(batch[Columns.OBS], inputs).nearest[0]
    kinds = len(nearest) // 4
    assert nearest[:kinds].nonzero().flatten().tolist() == [1]
    assert nearest[kinds : 2 * kinds].nonzero().flatten().tolist() == [1], "one may go there"
    right, down = nearest[2 * kinds :].view(kinds, 2)[1].tolist()
    assert (right, down) == pytest.approx((-2 / 16, 1 / 12))
