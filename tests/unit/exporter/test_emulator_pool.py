import pytest

from rlaif.exporter.replay_process import EmulatorPool


class Machine:
    def __init__(self, sound):
        self.sound, self.closed = sound, False

    def close(self):
        self.closed = True


@pytest.fixture
def made():
    return []


@pytest.fixture
def pool(made):
    def start(sound):
        made.append(Machine(sound))
        return made[-1]

    return EmulatorPool(start)


def test_an_emulator_is_used_again(pool, made):
    for _ in range(3):
        with pool.lend(sound_emulated=False):
            pass
    assert len(made) == 1


def test_two_at_once_are_two(pool, made):
    with pool.lend(sound_emulated=False) as one, pool.lend(sound_emulated=False) as two:
        assert one is not two
    assert len(made) == 2


def test_the_sound_setting_is_kept_apart(pool):
    with pool.lend(sound_emulated=False) as quiet:
        pass
    with pool.lend(sound_emulated=True) as loud:
        assert loud is not quiet
        assert loud.sound


def test_one_whose_replay_failed_is_not_used_again(pool, made):
    with pytest.raises(RuntimeError), pool.lend(sound_emulated=False):
        raise RuntimeError
    assert made[0].closed
    with pool.lend(sound_emulated=False) as other:
        assert other is not made[0]
