"""The batches of one pass: at random, compared segments together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlaif.reward_model.learning.fit.bradley_terry import batches


def order(count, seed=0):
    return np.random.default_rng(seed).permutation(count)


@given(st.integers(1, 80), st.integers(1, 30), st.integers(0, 1000))
def test_every_segment_comes_once_in_few_batches_of_one_length(count, size, seed):
    rng = np.random.default_rng(seed)
    compared = rng.integers(0, count, (20, 2))
    compared = compared[compared[:, 0] != compared[:, 1]]
    found = list(batches(order(count, seed), compared, size))
    assert sorted(np.concatenate(found).tolist()) == list(range(count))
    lengths = [len(batch) for batch in found]
    assert len(found) == -(-count // size)
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1


def test_segments_that_were_compared_meet_in_a_batch():
    compared = np.arange(400).reshape(200, 2)
    together = [
        {a, b} <= set(batch.tolist())
        for batch in batches(order(1000), compared, 64)
        for a, b in compared.tolist()
        if a in batch
    ]
    assert len(together) == 200
    # Only the border of a batch parts some; by chance 64 of 1,000 would meet.
    assert np.mean(together) > 0.9


def test_a_segment_with_many_partners_meets_each_of_them_now_and_then():
    compared = np.array([[0, other] for other in range(1, 6)])
    met = set()
    for seed in range(60):
        joined = np.concatenate(list(batches(order(500, seed), compared, 500))).tolist()
        at = joined.index(0)
        met |= {joined[at - 1], joined[(at + 1) % 500]} & set(range(1, 6))
    assert met == set(range(1, 6))
