"""What a runner counts of the language model's help: additive, bounded, plain."""

import json

from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.telemetry.assistance import AssistanceEvent
from rlaif.trainer.play.assist.figures import (
    MAX_EVENTS,
    AssistanceFigures,
    count,
    reason,
    summed,
    wanted,
)
from rlaif.trainer.play.planner_counts import ModeCounts, PlannerCounts, one_call

MODES = st.sampled_from(["vision", "dialog", "puzzle"])
CALLS = st.sampled_from(["ok", "invalid", "timeout", "throttled", "refused", "error", "dropped"])
AMOUNTS = st.integers(0, 6400).map(lambda each: each / 64)  # sums of these are exact
NOTES = st.one_of(
    st.tuples(st.just("call"), MODES, CALLS, AMOUNTS),
    st.tuples(st.just("plans"), MODES, st.sampled_from(["taken", "stale", "dropped"])),
    st.tuples(st.just("planner_steps"), MODES, st.integers(1, 200)),
    st.tuples(st.just("takeovers"), MODES, st.sampled_from(["done", "hurt", "timeout"])),
    st.tuples(st.just("suggestions"), MODES, st.sampled_from(["given", "followed"])),
    st.tuples(st.just("bonus"), MODES, AMOUNTS),
)


def noted(notes):
    figures = AssistanceFigures()
    for name, *arguments in notes:
        if name == "call":
            mode, outcome, seconds = arguments
            figures.planner += PlannerCounts({mode: one_call(outcome, seconds)})
        elif name in ("plans", "takeovers", "suggestions"):
            count(getattr(figures, name), *arguments)
        else:
            table, (mode, amount) = getattr(figures, name), arguments
            table[mode] = table.get(mode, 0) + amount
    return figures


def event(n=0, **values):
    return AssistanceEvent(kind="plan", mode="dialog", env="1-0", step=n, call="ok", **values)


@given(st.lists(st.lists(NOTES, max_size=20), min_size=1, max_size=4))
def test_accounts_of_runners_add_up_to_the_account_of_one_that_saw_it_all(notes_by_runner):
    together = noted([note for notes in notes_by_runner for note in notes])
    assert summed(noted(notes) for notes in notes_by_runner) == together


@given(st.lists(NOTES, max_size=20))
def test_an_account_comes_back_from_its_plain_values_as_it_was(notes):
    figures = noted(notes)
    figures.note_event(event(wanted=("TALK column=3 row=4",), reason="he has the key"))
    assert AssistanceFigures.of(json.loads(json.dumps(figures.plain()))) == figures


@given(st.lists(NOTES, max_size=20))
def test_all_counts_are_reported_by_mode(notes):
    figures = noted(notes)
    reported = figures.by_mode()
    for name in ("plans", "takeovers", "suggestions"):
        assert {
            m: getattr(reported[m], name) for m in reported if getattr(reported[m], name)
        } == getattr(figures, name)
    assert {m: reported[m].calls for m in reported if reported[m].calls} == {
        mode: counts.outcomes for mode, counts in figures.planner.by_mode.items()
    }
    assert sum(each.planner_steps for each in reported.values()) == sum(
        figures.planner_steps.values()
    )


def test_the_report_of_a_mode_has_latencies_and_queue_length():
    figures = AssistanceFigures(
        planner=PlannerCounts(
            {"puzzle": one_call("ok", 2.0) + one_call("timeout", 60.0) + ModeCounts(cached=3)},
            {"puzzle": 2, "dialog": 1},
        )
    )
    reported = figures.by_mode()
    assert (reported["puzzle"].timed, reported["puzzle"].seconds) == (2, 62.0)
    assert (reported["puzzle"].cached, reported["puzzle"].in_flight) == (3, 2)
    assert reported["dialog"].in_flight == 1


def test_only_the_newest_events_are_kept():
    figures = AssistanceFigures()
    for n in range(MAX_EVENTS + 5):
        figures.note_event(event(n))
    assert [each.step for each in figures.events] == list(range(5, MAX_EVENTS + 5))


def test_each_runner_has_its_share_of_the_newest_events():
    loud, quiet = AssistanceFigures(), AssistanceFigures()
    for n in range(MAX_EVENTS):
        loud.note_event(event(n))
    quiet.note_event(event(999))
    total = summed([loud, quiet])
    assert total is not None
    assert len(total.events) == MAX_EVENTS
    assert 999 in [each.step for each in total.events]
    assert MAX_EVENTS - 1 in [each.step for each in total.events]


def test_what_a_model_wrote_is_cut_to_a_bounded_printable_text():
    reported = event(wanted=wanted(["x" * 1000] * 100), reason=reason("\x1b[2J\u202e" + "y" * 1000))
    assert len(reported.wanted) == 8
    assert all(len(each) == 120 for each in reported.wanted)
    assert len(reported.reason) == 200
    assert reported.reason.isprintable()
