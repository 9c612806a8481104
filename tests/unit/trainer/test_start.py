import numpy as np
import pytest

from rlaif.trainer.play.start import Start, StartSet


def starts(count):
    return [Start.of(bytes([n]) * 50, f"state-{n}") for n in range(count)]


def test_a_start_carries_its_state_as_captures_store_it():
    start = Start.of(b"state" * 40, "here")
    assert start.provenance == "here"
    assert len(start.keyframe.sha256) == 64
    assert len(start.keyframe.data) < 200


def test_the_same_generator_chooses_the_same_starts():
    given = StartSet(starts(5))

    def chosen(seed):
        rng = np.random.default_rng(seed)
        return [given.choose(rng).provenance for _ in range(20)]

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)
    assert len(set(chosen(1))) == 5


def test_weights_say_how_often_each_is_chosen():
    given = StartSet(starts(3), [0, 1, 3])
    rng = np.random.default_rng(0)
    chosen = [given.choose(rng).provenance for _ in range(400)]
    assert chosen.count("state-0") == 0
    assert 2 < chosen.count("state-2") / chosen.count("state-1") < 4


@pytest.mark.parametrize(("count", "weights"), [(2, [1]), (2, [1, -1]), (2, [0, 0]), (0, [])])
def test_weights_that_do_not_fit_are_refused(count, weights):
    with pytest.raises(ValueError, match="start"):
        StartSet(starts(count), weights)
