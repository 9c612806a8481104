"""The sentences of the digest: which are chosen, in which order, and what they may say."""

import re
from dataclasses import asdict, fields, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.hud.read_model.digest.digest import MOST, age_in_words, chosen, digest
from rlaif.hud.read_model.digest.happenings import (
    Agreed,
    Begun,
    ByHand,
    GivenUp,
    Happenings,
    Many,
    Passed,
    Paying,
    Played,
    Reached,
    Refused,
    Scored,
    Several,
    Silence,
    TakenBack,
    TookOver,
)
from rlaif.hud.read_model.digest.views import DigestView
from rlaif.hud.read_model.history.bootstrap import CONFIDENCE, LEAST, Difference
from rlaif.hud.read_model.history.words import signed
from rlaif.testing.data.events import NOON

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A machine that also trains is no reason to fail."""

HOUR = timedelta(hours=1)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")

names = st.sampled_from(["env-1", "env-17", "seed_hall_key", "map_1", "e-3", "s-204"])
words = st.sampled_from([None, "", "it paid 3.1 while 0.2 was earned.", "by hand", "word " * 90])
times = st.integers(0, 3600).map(lambda seconds: NOON - timedelta(seconds=seconds))
steps = st.integers(0, 10**9)
versions = st.integers(1, 2000)
shares = st.floats(0, 1)
many = st.builds(Many, st.integers(1, 5000), st.booleans())
figures = st.floats(-20, 20)
differences = st.one_of(
    st.builds(
        Difference, figures, figures, st.integers(LEAST, 100), st.integers(LEAST, 100),
        figures, figures, figures,
    ),
    st.builds(Difference, st.none(), figures, st.just(0), st.integers(1, LEAST)),
)  # fmt: skip


def several(kind: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(Several, kind, many)


def perhaps(kind: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | kind


happenings = st.builds(
    Happenings,
    taken_back=perhaps(
        st.builds(
            TakenBack, times, st.sampled_from(["watchdog", "demotion"]), perhaps(versions),
            perhaps(versions), words,
        )
    ),
    by_hand=perhaps(
        st.builds(ByHand, times, st.sampled_from(["chose", "pinned", "unpinned"]), versions, words)
    ),
    passed=perhaps(several(st.builds(Passed, times, versions, shares, st.integers(1, 5000)))),
    paying=perhaps(st.builds(Paying, times, perhaps(versions), steps)),
    refused=perhaps(several(st.builds(Refused, times, st.just(("heldout_accuracy", "below 0.5"))))),
    silences=st.lists(
        st.builds(Silence, times, names, st.integers(3, 9000), perhaps(times)), max_size=4
    ).map(tuple),
    given_up=perhaps(several(st.builds(GivenUp, times, names, st.just("corrupt_capture")))),
    begun=perhaps(several(st.builds(Begun, times, names, st.integers(0, 40), steps))),
    reached=st.lists(
        st.builds(Reached, times, names, steps, names, names, st.booleans()), max_size=6
    ).map(tuple),
    scored=perhaps(st.builds(Scored, times, many, shares, shares, names, names)),
    agreed=perhaps(st.builds(Agreed, times, many, shares)),
    played=perhaps(
        st.builds(
            Played, times, steps, steps, st.integers(0, 5000), differences, st.just(LEAST),
            st.just(CONFIDENCE),
        )
    ),
    took_over=perhaps(several(st.builds(TookOver, times, names, names))),
)  # fmt: skip


def told(happened: Happenings) -> DigestView:
    return digest(happened, since=NOON - HOUR, now=NOON)


def numbers_of(value: Any) -> set[str]:
    """Every number of the input, in each way in which a sentence may write it."""
    match value:
        case bool() | None:
            return set()
        case int():
            return {str(value), f"{value:,}"}
        case float():
            return {f"{value:.2f}".lstrip("-"), signed(value)[1:], f"{100 * value:.0f}"}
        case str():
            return set(NUMBER.findall(value))
        case dict():
            return set().union(*map(numbers_of, value.values()))
        case tuple() | list():
            return set().union(*map(numbers_of, value))
    return set()


@unhurried
@given(happened=happenings)
def test_there_are_never_more_than_five_sentences_and_each_number_of_them_was_told(
    happened: Happenings,
) -> None:
    view = told(happened)
    assert 1 <= len(view.sentences) <= MOST
    known = numbers_of(asdict(happened))
    for sentence in view.sentences:
        assert set(NUMBER.findall(sentence.text)) <= known, sentence.text
        assert sentence.text.endswith(".")
        assert "None" not in sentence.text


@unhurried
@given(happened=happenings)
def test_each_kind_is_told_once_and_their_order_does_not_depend_on_what_else_happened(
    happened: Happenings,
) -> None:
    kinds = [each.kind for each in chosen(happened)]
    assert len(kinds) == len(set(kinds))
    assert chosen(happened) == chosen(happened)
    for field in fields(Happenings):
        without: dict[str, Any] = {field.name: field.default}
        fewer = replace(happened, **without)
        left = [each.kind for each in chosen(fewer)]
        assert [kind for kind in left if kind in kinds] == [kind for kind in kinds if kind in left]


@unhurried
@given(happened=happenings)
def test_every_sentence_links_to_a_page_and_knows_its_age(happened: Happenings) -> None:
    for sentence in told(happened).sentences:
        assert re.fullmatch(
            r"/(\?from=\d+&to=\d+|models(/\d+)?|llm|map|system"
            r"|segments(/[\w-]+/[\w-]+|\?\w+=[\w-]+)?)",
            sentence.link.href,
        )
        if sentence.kind != "nothing":
            assert sentence.at is not None
            assert sentence.age_seconds == max(0.0, (NOON - sentence.at).total_seconds())


def test_an_hour_in_which_nothing_happened_says_so() -> None:
    view = told(Happenings())
    assert view.text == "Nothing that the HUD keeps happened in the last hour."
    assert [(each.kind, each.at, each.age_seconds) for each in view.sentences] == [
        ("nothing", None, None)
    ]


def test_while_the_streams_are_not_followed_nothing_is_claimed() -> None:
    happened = Happenings(paying=Paying(NOON, 3, 500))
    view = digest(happened, since=NOON - HOUR, now=NOON, known=False)
    assert [each.kind for each in view.sentences] == ["unknown"]


def test_a_full_hour_is_told_from_the_alarms_to_the_daily_round() -> None:
    at = NOON - timedelta(minutes=12)
    happened = Happenings(
        taken_back=TakenBack(at, "watchdog", 4, 3, "it paid 3.1 while 0.2 was earned."),
        silences=(Silence(at, "vision", 12, None),),
        reached=(Reached(at, "seed_hall_key", 12_400, "e-1", "s-1", True),),
        passed=Several(Passed(at, 4, 0.74, 240), Many(1)),
        given_up=Several(GivenUp(at, "exporter", "corrupt_capture"), Many(2)),
        scored=Scored(at, Many(34), 0.611, 0.905, "e-2", "s-2"),
    )
    view = told(happened)
    assert [(each.text, each.link.href, each.tone) for each in view.sentences] == [
        (
            "The watchdog took reward model v4 out of use, with v3 in its place: it paid 3.1 while "
            "0.2 was earned.",
            "/models/4",
            "warning",
        ),
        (
            "The vision judge fell silent: 12 calls in a row went without an answer.",
            "/llm",
            "warning",
        ),
        (
            "A captured segment reached seed hall key for the first time that is known, at step "
            "12,400.",
            "/segments/e-1/s-1",
            "info",
        ),
        (
            "Reward model v4 (held-out accuracy 74 % of 240 pairs) passed the gate.",
            "/models/4",
            "info",
        ),
        (
            "2 events were given up, the last by exporter: corrupt_capture.",
            "/system",
            "warning",
        ),
    ]
    assert view.text.startswith(
        "The watchdog took reward model v4 out of use, with v3 in its place"
    )
    assert view.text.count("(12 min ago).") == MOST


PLAYED = Played(NOON, 40_000, 52_000, 31, Difference(1.2, 1.55, 31, 34), LEAST, CONFIDENCE)


@pytest.mark.parametrize(
    ("happened", "text"),
    [
        (
            Happenings(played=replace(PLAYED, milestones=Difference(1.2, 1.5, 31, 7))),
            "The run came to step 52,000, and 31 episodes ended since step 40,000; too few that "
            "began since then are known to say whether play changed (7 of 20).",
        ),
        (
            Happenings(
                played=replace(PLAYED, milestones=Difference(1.2, 1.5, 31, 34, 0.3, -0.1, 0.7))
            ),
            "Milestones an episode 1.20 → 1.50 since step 40,000, no clear change (n = 31 and 34; "
            "95 % interval of the change \N{MINUS SIGN}0.10 to +0.70).",
        ),
        (
            Happenings(
                passed=Several(Passed(NOON, 5, 0.7, 90), Many(3)), paying=Paying(NOON, 5, 58_500)
            ),
            "3 reward models passed the gate, the last v5 (held-out accuracy 70 % of 90 pairs), "
            "which has paid since step 58,500.",
        ),
        (
            Happenings(paying=Paying(NOON, None, 58_500)),
            "From step 58,500 on no reward model paid.",
        ),
        (
            Happenings(
                silences=(
                    Silence(NOON, "state", 4, NOON), Silence(NOON, "vision", 9, NOON),
                )
            ),
            "The state and vision judges answer again, after 4 and 9 calls in a row without an "
            "answer.",
        ),
        (
            Happenings(refused=Several(Refused(NOON, ("heldout_accuracy",)), Many(200, True))),
            "The gate refused at least 200 candidates, the last: heldout_accuracy.",
        ),
        (
            Happenings(begun=Several(Begun(NOON, "run-2", 2, 9_000), Many(2))),
            "Run run-2 was started again and went on from step 9,000, the last of 2 starts.",
        ),
        (
            Happenings(taken_back=TakenBack(NOON, "demotion", 4, None, None)),
            "Reward model v4 was taken out of use for what newer labels say, with none in its "
            "place.",
        ),
    ],
)  # fmt: skip
def test_a_happening_is_told_in_these_words(happened: Happenings, text: str) -> None:
    assert [each.text for each in told(happened).sentences] == [text]


def test_a_judge_that_is_silent_again_does_not_answer_again() -> None:
    silences = (Silence(NOON, "state", 4, NOON), Silence(NOON, "state", 9, None))
    kinds = [each.kind for each in told(Happenings(silences=silences)).sentences]
    assert kinds == ["judges silent"]


def test_a_clear_change_of_play_counts_more_than_one_that_is_not() -> None:
    clear = replace(PLAYED, milestones=Difference(1.2, 2.0, 31, 34, 0.8, 0.5, 1.1))
    dull = replace(PLAYED, milestones=Difference(1.2, 1.5, 31, 34, 0.3, -0.1, 0.7))
    scored = Scored(NOON, Many(34), 0.6, 0.9, "e-2", "s-2")
    for played, kinds in (
        (clear, ["play changed", "segments scored"]), (dull, ["segments scored", "play"]),
    ):  # fmt: skip
        view = told(Happenings(played=played, scored=scored))
        assert [each.kind for each in view.sentences] == kinds


def test_a_hud_that_started_within_the_hour_says_since_when_it_hears() -> None:
    late, early = NOON - timedelta(minutes=5), NOON - 2 * HOUR
    for started, heard in ((late, late), (early, None), (None, None)):
        view = digest(Happenings(), since=NOON - HOUR, now=NOON, heard_since=started)
        assert view.heard_since == heard


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.2, "59 s"), (60, "1 min"), (3599, "59 min"), (7500, "2 h 5 min")],
)
def test_ages_are_written_as_on_the_page(seconds: float, text: str) -> None:
    assert age_in_words(seconds) == text
