"""Layers of an update give torch's results and gradients."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlaif.trainer.learner.networks.decision_module import LookUp, ScoreTiles
from rlaif.trainer.learner.networks.fast_layers import (
    Common,
    SplitColumns,
    SplitDense,
    features,
)

ROWS, INPUTS, HIDDEN, TILES = 20, 9, 12, 192


def rows_of(seed: int = 0) -> Tensor:
    """`[ROWS, INPUTS]`, of which columns 1, 4 and 8 are the same in all rows."""
    rows = torch.randn(ROWS, INPUTS, generator=torch.Generator().manual_seed(seed))
    rows[:, [1, 4, 8]] = torch.tensor([0.0, 2.0, -1.0])
    return rows


def gradients(loss: Tensor, parameters: list[Any]) -> list[np.ndarray]:
    return [each.numpy() for each in torch.autograd.grad(loss, parameters)]


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(np.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))


def test_layers_with_split_inputs_are_the_layers():
    torch.manual_seed(1)
    layers = nn.Sequential(
        nn.Linear(INPUTS, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh()
    )
    split = SplitColumns.of(rows_of())
    assert split.rows.shape == (ROWS, INPUTS - 3)
    assert split.columns[-3:].tolist() == [1, 4, 8]
    out, expected = features(layers, split), layers(rows_of())
    assert torch.allclose(out, expected, atol=1e-6)
    weights = torch.randn(ROWS, HIDDEN)
    parameters = list(layers.parameters())
    assert same(
        gradients((out * weights).sum(), parameters),
        gradients((expected * weights).sum(), parameters),
    )


def test_a_column_of_one_row_that_is_no_number_is_not_lost():
    rows = rows_of()[:1]
    rows[0, 4] = torch.nan
    split = SplitColumns.of(rows)
    assert split.rows.isnan().all()
    assert split.columns[0] == 4


def test_inputs_that_are_learned_get_their_gradient():
    torch.manual_seed(1)
    layer = nn.Linear(INPUTS, HIDDEN)
    learned = torch.randn(ROWS, 2, requires_grad=True)
    constant = torch.randn(3, requires_grad=True)
    shared = torch.randn(4, 2, requires_grad=True)
    which = torch.randint(0, 4, (ROWS,))
    common = Common.of(which.numpy())
    assert torch.equal(common.which, which)
    assert torch.equal(which[common.first], torch.arange(4))
    columns = torch.tensor([0, 2, 8, 1, 4, 5, 6, 3, 7])
    own = rows_of()[:, :2]
    out = SplitDense.apply(
        layer.weight, layer.bias, (own, columns), constant, "relu", learned, shared, common
    )
    rows = torch.cat([own, constant.expand(ROWS, 3), learned, shared[which]], dim=1)
    expected = torch.relu(layer(rows[:, columns.argsort()]))
    assert torch.allclose(out, expected, atol=1e-6)
    parameters = [layer.weight, layer.bias, constant, learned, shared]
    assert same(gradients((out**2).sum(), parameters), gradients((expected**2).sum(), parameters))


def test_what_is_looked_up_is_the_sum_of_the_tables_rows():
    torch.manual_seed(1)
    tables = [torch.randn(30, 8, requires_grad=True), torch.randn(7, 16, requires_grad=True)]
    rows = [torch.randint(0, 30, (ROWS, 5, 3)), torch.randint(0, 7, (ROWS, 2, 1))]
    out = LookUp.apply([each.to(torch.uint16) for each in rows], *tables)
    expected = torch.cat(
        [table[part].sum(2).flatten(1) for table, part in zip(tables, rows, strict=True)], dim=1
    )
    assert torch.allclose(out, expected, atol=1e-6)
    assert same(gradients((out**2).sum(), tables), gradients((expected**2).sum(), tables))


def test_scores_of_tiles_are_those_of_their_places_and_looks():
    torch.manual_seed(1)
    by_place = torch.randn(ROWS, 11, requires_grad=True)
    by_look = torch.randn(ROWS, 40, requires_grad=True)
    looks, here = torch.randint(0, 40, (ROWS, TILES, 3)), torch.randint(0, TILES, (ROWS,))
    places = torch.randint(0, 11, (TILES, TILES))
    out = ScoreTiles.apply(
        by_place, by_look, *[each.to(torch.uint16) for each in (looks, here, places)]
    )
    expected = by_place.gather(1, places[here])
    for number in range(3):
        expected = expected + by_look.gather(1, looks[:, :, number])
    assert torch.equal(out, expected)
    scored = [by_place, by_look]
    assert same(gradients((out**2).sum(), scored), gradients((expected**2).sum(), scored))
