"""What a policy sees is rebuilt by the learner as it was."""

import numpy as np

from rlaif.trainer.play.followers.frame_stack import (
    FRAMES,
    HEIGHT,
    WIDTH,
    FrameStack,
    PictureFragment,
    grey,
)

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
    frame_stack, rng = FrameStack(ENVS), np.random.default_rng(0)
    seen = [frame_stack.push(1, screen(rng)) for _ in range(FRAMES + 1)]
    assert np.array_equal(frame_stack.stacks[1], seen[1:])
    assert not frame_stack.stacks[0].any()
    frame_stack.clear(1)
    assert not frame_stack.stacks.any()


def test_the_learner_sees_what_the_runner_saw_also_where_episodes_end():
    frame_stack, rng = FrameStack(ENVS), np.random.default_rng(1)
    for n in (0, 1, 1, 1):
        frame_stack.push(n, screen(rng))
    first = frame_stack.stacks.copy()
    ended = np.zeros((STEPS, ENVS), dtype=np.bool_)
    ended[2, 0] = ended[3, 0] = ended[5, 1] = True
    final_index = np.array([(3, 0), (5, 1)])
    frames = np.zeros((STEPS, ENVS, HEIGHT, WIDTH), dtype=np.uint8)
    stacks, finals = [first], []
    for t in range(STEPS):
        for n in range(ENVS):
            frames[t, n] = frame_stack.push(n, screen(rng))
            if [t, n] in final_index.tolist():
                finals.append(frame_stack.stacks[n].copy())
            if ended[t, n]:
                frame_stack.clear(n)
        stacks.append(frame_stack.stacks.copy())
    again, cut = PictureFragment(first, frames).stacks(ended, final_index)
    assert np.array_equal(again, stacks)
    assert np.array_equal(cut, finals)
