"""The curve of a run of mode quest: rows for the report, and every message still passed on."""

from rlaif.trainer.run_folder import quest_curve
from rlaif.trainer.run_folder.protocol import CurriculumReport, IterationDone, Message, SearchReport
from rlaif.trainer.run_folder.quest_curve import ROW_SECONDS, QuestCurve

SEARCHED = SearchReport(running=True, frames=1000, seconds=20, workers=1, nodes=3, level=2, marks=5)
ITERATED = IterationDone(
    iteration=3,
    env_steps=4096,
    episodes=1,
    steps_per_second=100,
    episode_return_mean=1.5,
    shaped_return_mean=None,
    episode_length_mean=None,
    rooms_mean=None,
    milestones_mean=2.25,
    segments_captured=0,
    segments_skipped=0,
    trained_seconds=60.04,
    reward_parts={},
    learner={},
)
COURSE = CurriculumReport(
    phase="backward",
    power_on_share=0.1,
    demonstrations=1,
    all_segments=2,
    mastered=1,
    tries=9,
    frontier_mean=0.25,
    success_mean=None,
    whole_tries=64,
    whole_success=0.75,
)


class Moments:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_search_and_a_training_leave_rows_in_one_file(tmp_path):
    passed: list[Message] = []
    clock = Moments()
    curve = QuestCurve(tmp_path, passed.append, clock)
    curve.send(SEARCHED)
    clock.now += ROW_SECONDS
    curve.send(COURSE)
    curve.send(ITERATED)
    assert passed == [SEARCHED, COURSE, ITERATED]
    first, second = quest_curve.read(tmp_path)
    assert (first["phase"], first["marks"], first["milestones_mean"]) == ("search", "5", "")
    assert (second["phase"], second["seconds"], second["milestones_mean"]) == (
        "policy",
        "60.0",
        "2.25",
    )
    assert (second["segments"], second["mastered"], second["frontier"]) == ("2", "1", "0.25")
    assert (first["whole_success"], second["whole_success"]) == ("", "0.75")
    assert second["marks"] == ""


def test_rows_keep_their_distance_but_for_the_end_of_the_search(tmp_path):
    clock = Moments()
    curve = QuestCurve(tmp_path, lambda message: None, clock)
    curve.send(SEARCHED)
    curve.send(SEARCHED)
    curve.send(SEARCHED.model_copy(update={"running": False, "marks": 6}))
    assert [row["marks"] for row in quest_curve.read(tmp_path)] == ["5", "6"]


def test_a_disk_that_does_not_take_it_costs_the_curve_alone(tmp_path):
    passed: list[Message] = []
    no_folder = tmp_path / "file"
    no_folder.touch()
    QuestCurve(no_folder, passed.append, Moments()).send(SEARCHED)
    assert passed == [SEARCHED]
