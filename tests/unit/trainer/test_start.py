import numpy as np

from rlaif.trainer.play.start import Start, StartSet


def starts(count):
    return [Start.of(bytes([n]) * 50, f"state-{n}") for n in range(count)]


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
