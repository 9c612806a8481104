"""Of too many scores the newest half becomes labels, and a sample of all older episodes."""

import numpy as np
import pytest

from rlaif.reward_model.labels.label_log import sample
from rlaif.storage import keys


def scores(count, *, each=30, name="r1", first=0):
    """Key → time of scores a second apart, oldest first, in episodes of `each`."""
    return {
        keys.score("c", f"{name}-{place // each}-s{place:06d}"): float(first + place)
        for place in range(count)
    }


def segment(key):
    return key.rpartition("/")[2].removesuffix(".json")


def kept(many, limit):
    """Time → episode of the scores in the sample."""
    found = {many[key]: segment(key).rpartition("-")[0] for key in sample(many, limit)}
    assert len(found) == min(limit, len(many))
    return found


@pytest.mark.parametrize("limit", [10, 99, 500, 4000])
def test_the_newest_half_is_kept_and_never_more_than_the_limit(limit):
    found = kept(scores(3000), limit)
    assert found.keys() >= set(range(3000 - limit + limit // 2, 3000))


def test_every_age_has_its_share_of_the_older_half():
    found = kept(scores(6200, each=5), 400)
    counts, _ = np.histogram([at for at in found if at < 6000], 6, (0, 6000))
    assert counts.sum() == 200
    assert counts.min() >= 20


def test_no_episode_fills_the_sample():
    many = scores(2000, each=2000, name="long") | scores(2000, each=20, first=2000)
    older = [episode for at, episode in kept(many, 100).items() if at < 3950]
    assert older.count("long-0") == 1


def test_held_segments_are_in_the_sample_before_all_others():
    held = {"r1-0-s000001", "r1-0-s000002"}
    found = {segment(key) for key in sample(scores(100), 3, held)}
    assert found == {*held, "r1-3-s000099"}


def test_the_order_of_the_scores_changes_nothing():
    many = scores(3000)
    items = list(many.items())
    shuffled = [items[at] for at in np.random.default_rng(0).permutation(len(many))]
    assert sample(dict(shuffled), 200) == sample(many, 200)


def test_a_service_that_runs_for_long_keeps_about_the_sample_of_a_restart():
    many = scores(6000, each=10)
    running: dict[str, float] = {}
    for place, key in enumerate(many, 1):
        running[key] = many[key]
        if place % 10 == 0:
            running = {kept: many[kept] for kept in sample(running, 300)}
    assert len(running) == 300
    assert len(sample(many, 300) & running.keys()) >= 250
