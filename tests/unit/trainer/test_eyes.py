"""What a policy sees is rebuilt by the learner as it was."""

import numpy as np

from rlaif.trainer.play.followers.frame_stack import FRAMES, HEIGHT, WIDTH, Eyes, Pictures, grey

STEPS, ENVS = 9, 2


def screen(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 256, (144, 160, 3), dtype=np.uint8)


def test_a_screen_becomes_grey_and_half_as_large():
    picture = np.zeros((144, 160, 3), dtype=np.uint8)
    picture[0, 0], picture[0, 2], picture[2, 0] = (255, 0, 0), (0, 255, 0), (255, 255, 255)
    small = grey(picture)
    assert small.shape == (HEIGHT, WIDTH)
    assert small.dtype == np.uint8
    assert small[0, :3].tolist() == [76, 149, 0]
    assert small[1, 0] == 255


def test_the_latest_picture_is_the_last_and_an_episode_begins_with_nothing():
    eyes, rng = Eyes(ENVS), np.random.default_rng(0)
    seen = [eyes.look(1, screen(rng)) for _ in range(FRAMES + 1)]
    assert np.array_equal(eyes.stacks[1], seen[1:])
    assert not eyes.stacks[0].any()
    eyes.forget(1)
    assert not eyes.stacks.any()


def test_the_learner_sees_what_the_runner_saw_also_where_episodes_end():
    eyes, rng = Eyes(ENVS), np.random.default_rng(1)
    for n in (0, 1, 1, 1):
        eyes.look(n, screen(rng))
    first = eyes.stacks.copy()
    ended = np.zeros((STEPS, ENVS), dtype=np.bool_)
    ended[2, 0] = ended[3, 0] = ended[5, 1] = True
    final_index = np.array([(3, 0), (5, 1)])
    frames = np.zeros((STEPS, ENVS, HEIGHT, WIDTH), dtype=np.uint8)
    stacks, finals = [first], []
    for t in range(STEPS):
        for n in range(ENVS):
            frames[t, n] = eyes.look(n, screen(rng))
            if [t, n] in final_index.tolist():
                finals.append(eyes.stacks[n].copy())
            if ended[t, n]:
                eyes.forget(n)
        stacks.append(eyes.stacks.copy())
    again, cut = Pictures(first, frames).stacks(ended, final_index)
    assert np.array_equal(again, stacks)
    assert np.array_equal(cut, finals)
