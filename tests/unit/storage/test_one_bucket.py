"""Both stores fit into one bucket, as where a platform gives one and its keys (deploy: s3-odf)."""

import pytest

from rlaif.storage import keys

OF_MODELS = [
    keys.CHAMPION, keys.WANTED_COMPARISONS, keys.PROGRESS,
    "reward_model/kept_labels.json",  # written by 0.1.0
    keys.reward_model(3, "manifest.json"), keys.reward_model(3, "rm.safetensors"),
    keys.activation(7),
    keys.checkpoint(3, "manifest.json"),
    keys.run_checkpoint("run-1", "iteration_9", "manifest.json"),
    keys.evaluation("run-1", "run-1-e0003"), keys.evaluation_summary(3),
]  # fmt: skip
OF_EPISODES = [
    keys.capture("run-1-e2", "run-1-e2-s3"), keys.keyframe("ab" * 32),
    keys.manifest("run-1-e2", "run-1-e2-s3"),
    keys.segment("run-1-e2", "run-1-e2-s3", "states.jsonl"),
    keys.score("config-1", "run-1-e2-s3"), keys.comparison("config-1", "a", "b"),
    keys.rejudge("config-1", "s"), keys.rejudged("config-1", "s"),
    keys.epoch_scores(3, "jsonl"), keys.spent_tokens("2026-11-22", "judge-1"),
]  # fmt: skip


def test_what_reads_episodes_takes_nothing_of_the_models_for_its_own():
    for key in OF_MODELS:
        assert keys.manifest_ids(key) is None
        assert keys.score_ids(key) is None


def test_what_reads_models_takes_nothing_of_the_episodes_for_its_own():
    for key in OF_EPISODES:
        assert keys.reward_model_version(key) is None
        assert keys.activation_number(key) is None


@pytest.mark.parametrize("key", OF_EPISODES)
def test_a_listing_of_the_models_finds_nothing_of_the_episodes(key: str):
    listed = (keys.REWARD_MODELS, keys.ACTIVATIONS, keys.run_checkpoints("run-1"), "evaluations/")
    assert not key.startswith(listed)


@pytest.mark.parametrize("key", OF_MODELS)
def test_a_listing_of_the_episodes_by_prefix_finds_nothing_of_the_models(key: str):
    listed = (
        keys.scores(), keys.comparisons(), keys.rejudge("config-1"),
        keys.SPENT_TOKENS, "captures/", "keyframes/",
    )  # fmt: skip
    assert not key.startswith(listed)
