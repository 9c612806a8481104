"""What a runner counts of the language model's help: additive, bounded, plain."""

import json

from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.play.assistance_figures import (
    LATENCY_BOUNDS_SECONDS,
    MOST_EVENTS,
    AssistanceEvent,
    AssistanceFigures,
    summed,
)

MODES = st.sampled_from(["vision", "dialog", "puzzle"])
CALLS = st.sampled_from(["ok", "invalid", "timeout", "throttled", "refused", "error", "dropped"])
SECONDS = st.integers(0, 6400).map(lambda each: each / 64)  # sums of these are exact
NOTES = st.one_of(
    st.tuples(st.just("note_call"), MODES, CALLS, SECONDS, st.booleans()),
    st.tuples(st.just("note_not_asked"), MODES),
    st.tuples(st.just("note_plan"), MODES, st.sampled_from(["taken", "stale", "dropped"])),
    st.tuples(st.just("note_planner_steps"), MODES, st.integers(1, 200)),
    st.tuples(st.just("note_takeover"), MODES, st.sampled_from(["done", "hurt", "timeout"])),
    st.tuples(st.just("note_suggestion"), MODES, st.sampled_from(["given", "followed"])),
    st.tuples(st.just("note_bonus"), MODES, SECONDS),
)


def noted(notes):
    figures = AssistanceFigures()
    for name, *arguments in notes:
        if name == "note_call":
            mode, outcome, seconds, cached = arguments
            figures.note_call(mode, outcome, seconds, cached=cached)
        else:
            getattr(figures, name)(*arguments)
    return figures


def event(n=0, **values):
    return AssistanceEvent(kind="plan", mode="dialog", env="1-0", step=n, call="ok", **values)


@given(st.lists(st.lists(NOTES, max_size=20), min_size=1, max_size=4))
def test_accounts_of_runners_add_up_to_the_account_of_one_that_saw_it_all(notes_by_runner):
    together = noted([note for notes in notes_by_runner for note in notes])
    assert summed(noted(notes) for notes in notes_by_runner) == together


@given(st.lists(NOTES, max_size=20))
def test_an_account_comes_back_from_json_as_it_was(notes):
    figures = noted(notes)
    figures.note_event(event(wanted=("talk at column 3, row 4",), reason="he has the key"))
    assert AssistanceFigures.of(json.loads(json.dumps(figures.plain()))) == figures


def test_the_sum_changes_no_account_that_went_in():
    first, second = noted([("note_call", "dialog", "ok", 1.0, False)]), noted([])
    summed([first, second])
    summed([first, first])
    assert first == noted([("note_call", "dialog", "ok", 1.0, False)])
    assert second == AssistanceFigures()


def test_runners_without_a_planner_have_no_account_and_no_sum():
    assert summed([None, None]) is None
    assert summed([None, noted([("note_not_asked", "puzzle")])]) == noted(
        [("note_not_asked", "puzzle")]
    )


def test_a_call_falls_into_the_bucket_whose_bound_it_does_not_exceed():
    figures = AssistanceFigures()
    for seconds in (0.0, 0.05, 0.06, 60.0, 61.0):
        figures.note_call("puzzle", "ok", seconds, cached=False)
    counts = figures.latencies["puzzle"].counts
    assert len(counts) == len(LATENCY_BOUNDS_SECONDS) + 1
    assert (counts[0], counts[1], counts[-2], counts[-1]) == (2, 1, 1, 1)


def test_an_answer_out_of_the_cache_has_no_latency():
    figures = AssistanceFigures()
    figures.note_call("dialog", "ok", 0.0, cached=True)
    assert figures.calls == {"dialog": {"ok": 1}}
    assert figures.cached == {"dialog": 1}
    assert figures.latencies == {}


def test_only_the_newest_events_are_kept():
    figures = AssistanceFigures()
    for n in range(MOST_EVENTS + 5):
        figures.note_event(event(n))
    assert [each.step for each in figures.events] == list(range(5, MOST_EVENTS + 5))


def test_each_runner_has_its_share_of_the_newest_events():
    loud, quiet = AssistanceFigures(), AssistanceFigures()
    for n in range(MOST_EVENTS):
        loud.note_event(event(n))
    quiet.note_event(event(999))
    total = summed([loud, quiet])
    assert len(total.events) == MOST_EVENTS
    assert 999 in [each.step for each in total.events]
    assert MOST_EVENTS - 1 in [each.step for each in total.events]


def test_what_a_model_wrote_is_cut_to_a_bounded_printable_text():
    figures = AssistanceFigures()
    figures.note_event(event(wanted=("x" * 1000,) * 100, reason="\x1b[2J\u202e" + "y" * 1000))
    (kept,) = figures.events
    assert len(kept.wanted) == 8
    assert all(len(each) == 80 for each in kept.wanted)
    assert len(kept.reason) == 200
    assert kept.reason.isprintable()
