"""Figures reported by trainer and reward-model service."""

from rlaif.local.loop_watch import LoopReading

NEEDS = [
    {"what": "labels", "found": 17, "least": 24},
    {"what": "episodes", "found": 4, "least": 4},
    {"what": "new labels", "found": 17, "least": 12},
]
MET = [{"what": "labels", "found": 24, "least": 24}]


def training(**changes):
    return {"state": "idle", "needs": NEEDS, "pairs": None, "last_attempt": None} | changes


def next_model(**changes):
    return LoopReading.of({}, training(**changes)).next_model


def test_it_says_what_the_next_model_waits_for():
    assert next_model() == "17 of 24 labels"
    assert "next model: 17 of 24 labels" in LoopReading.of({}, training()).sentence()


def test_it_says_the_pairs_that_the_gate_missed():
    pairs = {"what": "pairs", "found": 17, "least": 20}
    new = [{"what": "new labels", "found": 3, "least": 12}]
    assert next_model(needs=new, pairs=pairs) == "17 of 20 pairs, 3 of 12 new labels"
    assert next_model(needs=new, pairs=pairs | {"found": 20}) == "3 of 12 new labels"


def test_training_and_loading_of_a_model_are_shown():
    assert next_model(needs=MET) == next_model(state="training") == "training"
    published = {"outcome": "published", "version": 2}
    assert next_model(last_attempt=published) == "v2 published, not loaded yet"
    loaded = LoopReading.of({"reward_model_version": 2}, training(last_attempt=published))
    assert loaded.next_model == "17 of 24 labels"


def test_a_start_shows_its_duration():
    reading = LoopReading.of({"status": "starting", "env_steps": 0}, training())
    assert reading.sentence(starting=12.3) == (
        "training is starting emulators, 12 s · next model: 17 of 24 labels"
    )


def test_a_rejected_candidate_is_reported_with_its_reasons():
    attempt = {"candidate_id": "c1", "labels": 24, "reasons": ["17 pairs, needs 20", "no signal"]}
    refusal = LoopReading.of({}, training(last_rejection=attempt)).refusal
    assert refusal == (
        "c1", "no new reward model from 24 labels yet: 17 pairs, needs 20 (and 1 more)"
    )  # fmt: skip
