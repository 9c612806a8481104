"""The digest of what the HUD keeps: what counts as the last hour, what is counted, and by REST."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
from random import Random

import httpx
import pytest
from fastapi import FastAPI

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import DeadLetter, EventData
from rlaif.contracts.telemetry import JudgeCall, TrainingProgress
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.history import history_router
from rlaif.testing.data.events import (
    NOON,
    champion_changed,
    reward_model_published,
    reward_model_rejected,
    run_iterated,
    run_loaded,
    run_started,
    segment_captured,
    segment_exported,
    segment_scored,
)

STEP = 1000

Timed = tuple[datetime, EventData]


def ago(minutes: float) -> datetime:
    return NOON - timedelta(minutes=minutes)


def letter(number: int, at: datetime) -> DeadLetter:
    return DeadLetter(
        stream="CAPTURES", subject="segment.captured", consumer="exporter",
        event_id=f"captured:{number}", reason="corrupt_capture", detail="It is cut off.",
        attempts=2, dead_at=at, original={},
    )  # fmt: skip


def captured(number: int, *milestones: str, minutes: float, step: int | None = None) -> Timed:
    event = segment_captured(f"s-{number}")
    change = {"milestones": milestones, "env_step": step if step is not None else STEP * number}
    return ago(minutes), event.model_copy(update=change)


def scored(number: int, weighted: float | None, *, minutes: float, agreement: float) -> Timed:
    event = segment_scored(f"s-{number}", weighted=weighted)
    return ago(minutes), event.model_copy(update={"agreement": agreement})


def fold(*events: Timed, started: datetime | None = None) -> HudState:
    state = HudState(epoch="e", started_at=started)
    state.streams_opened()
    for at, event in events:
        state.apply_event(envelop(event, source="rlaif/test", time=at))
    return state


def texts(state: HudState, now: datetime = NOON) -> list[str]:
    return [sentence.text for sentence in state.digest(now)().sentences]


def kinds(state: HudState, now: datetime = NOON) -> list[str]:
    return [sentence.kind for sentence in state.digest(now)().sentences]


def past(gained: Sequence[int], *, minutes: float, first: int) -> list[Timed]:
    """An iteration for each episode, one a minute, the last of them `minutes` ago."""
    found: list[Timed] = []
    for index, steps in enumerate(gained):
        at = ago(minutes + len(gained) - 1 - index)
        step = first + STEP * index
        found.append((at, run_iterated(step, step + STEP, gained=[steps], at=at)))
    return found


def an_hour() -> list[list[Timed]]:
    """What each stream tells of an hour, and of the hours before."""
    return [
        [
            captured(1, "sword", minutes=150),
            captured(2, "sword", "shield", minutes=30),
            captured(3, "shield", minutes=20),
            captured(4, minutes=10),
        ],
        [(ago(29), segment_exported("s-2"))],
        [
            scored(1, 0.95, minutes=140, agreement=0.1),
            scored(2, 0.4, minutes=25, agreement=0.5),
            scored(3, 0.8, minutes=15, agreement=1.0),
            scored(4, None, minutes=5, agreement=0.75),
        ],
        [
            (ago(120), reward_model_published(1)),
            (ago(40), reward_model_published(2).model_copy(update={"activation": 2})),
            (ago(35), reward_model_rejected("c-1")),
            (ago(90), reward_model_rejected("c-2")),
        ],
        [
            (ago(200), run_started(at=ago(200))),
            (ago(120), champion_changed(1, changed_at=ago(120))),
            (ago(40), champion_changed(2, changed_at=ago(40))),
            (ago(38), run_loaded(2, 9_000).model_copy(update={"at": ago(38)})),
        ],
        [(ago(3), letter(1, ago(3))), (ago(70), letter(2, ago(70)))],
    ]


def test_only_what_happened_in_the_hour_is_told_and_counted() -> None:
    assert texts(fold(*chain.from_iterable(an_hour()))) == [
        "A captured segment reached shield for the first time that is known, at step 2,000.",
        "Reward model v2 (held-out accuracy 74 % of 240 pairs) passed the gate and has paid since "
        "step 9,000.",
        "1 event was given up, by exporter: corrupt_capture.",
        "The gate refused 1 candidate: heldout_accuracy.",
        "Judges gave 2 segments a score, 0.60 on average; the best got 0.80.",
    ]
    rest = [events for index, events in enumerate(an_hour()) if index in (0, 2)]
    told = fold(*chain.from_iterable(rest)).digest(NOON)()
    assert [each.text for each in told.sentences][2:] == [
        "The votes of the language models agreed by 75 %, over 3 segments.",
    ]
    best = told.sentences[1].link
    assert best.href == "/segments/episode-1/s-3"


@pytest.mark.parametrize("seed", range(5))
def test_streams_that_come_in_another_order_tell_the_same_hour(seed: int) -> None:
    streams, draw = an_hour(), Random(seed)
    mixed: list[Timed] = []
    while any(streams):
        mixed.append(draw.choice([each for each in streams if each]).pop(0))
    assert fold(*mixed).digest(NOON)() == fold(*chain.from_iterable(an_hour())).digest(NOON)()


def test_an_hour_later_nothing_of_it_is_news() -> None:
    state = fold(*chain.from_iterable(an_hour()))
    assert kinds(state, NOON + timedelta(hours=1)) == ["nothing"]
    assert kinds(HudState(epoch="e")) == ["unknown"]


def test_a_clock_that_is_wrong_does_not_make_news_for_ever() -> None:
    assert kinds(fold((ago(-120), letter(1, ago(-120))))) == ["nothing"]
    told = fold((ago(-0.5), letter(1, ago(-0.5)))).digest(NOON)().sentences[0]
    assert (told.kind, told.age_seconds) == ("events given up", 0)


def test_the_first_segment_of_a_milestone_is_the_one_of_the_least_step() -> None:
    state = fold(
        captured(9, "sword", minutes=5, step=900), captured(8, "sword", minutes=8, step=800)
    )
    assert "at step 800" in texts(state)[0]
    assert state.digest(NOON)().sentences[0].link.href == "/segments?milestone=sword"
    late = captured(7, "sword", minutes=100, step=700)
    assert kinds(fold(captured(9, "sword", minutes=5, step=900), late)) == ["nothing"]


def test_play_is_compared_with_the_hour_before_and_only_with_enough_episodes() -> None:
    few = fold(*past([1] * 10, minutes=61, first=0), *past([3] * 40, minutes=1, first=10 * STEP))
    assert texts(few) == [
        "The run came to step 50,000, and 40 episodes ended since step 10,000; too few from before "
        "are known to say whether play changed (10 of 20)."
    ]
    more = past([0, 1, 1, 2] * 10, minutes=61, first=0)
    enough = fold(*more, *past([3, 4] * 20, minutes=1, first=40 * STEP))
    (said,) = enough.digest(NOON)().sentences
    assert said.text.startswith(
        "Milestones an episode 1.00 → 3.50 since step 40,000 (n = 40 and 40"
    )
    assert (said.kind, said.link.href) == ("play changed", "/?from=40000&to=80000")
    long_ago = past([0, 1, 1, 2] * 10, minutes=200, first=0)
    (lonely,) = texts(fold(*long_ago, *past([3, 4] * 20, minutes=1, first=40 * STEP)))
    assert "too few from before are known" in lonely


def test_what_the_watchdog_and_people_do_to_the_champion_is_told_with_their_words() -> None:
    back = champion_changed(
        1, activation=3, why="watchdog", words="it was gamed", pinned=True,
        pin_reason="it was gamed", changed_at=ago(20),
    )  # fmt: skip
    free = champion_changed(1, activation=3, why="person", changed_at=ago(10))
    events = [
        (ago(n), change) for n, change in enumerate((champion_changed(1, changed_at=ago(99)),))
    ]
    events += [(ago(90), champion_changed(2, activation=2, changed_at=ago(90)))]
    assert texts(fold(*events, (ago(20), back), (ago(10), free))) == [
        "The watchdog took reward model v2 out of use, with v1 in its place: it was gamed.",
        "A person unpinned reward model v1.",
    ]
    gone = champion_changed(
        2, activation=3, why="demotion", words="it does not hold", withdrawn="it does not hold",
        changed_at=ago(5),
    )  # fmt: skip
    assert texts(fold(*events, (ago(5), gone))) == [
        "Reward model v2 was taken out of use for what newer labels say, with none in its place: "
        "it does not hold."
    ]


def test_silent_judges_are_told_while_they_are_and_after() -> None:
    state = fold(started=ago(50))

    def call(outcome: str, minutes: float) -> None:
        reading = JudgeCall(
            at=ago(minutes), judge="state", route="/state", model="m", segment_id="s",
            outcome=outcome, latency_seconds=1.0,
        )  # fmt: skip
        state.apply_reading(reading, NOON)

    for minutes in (30, 29, 28):
        call("timeout", minutes)
    told = state.digest(NOON)()
    assert (told.sentences[0].kind, told.sentences[0].at) == ("judges silent", ago(30))
    assert told.heard_since == ago(50)
    call("ok", 27)
    told = state.digest(NOON)()
    assert (told.sentences[0].kind, told.sentences[0].at) == ("judges answer again", ago(27))
    assert kinds(state, NOON + timedelta(minutes=34)) == ["nothing"]


def test_a_table_that_had_to_forget_says_at_least() -> None:
    state = fold()
    for number in range(3_000):
        at, event = scored(number, 0.5, minutes=30 - number / 100, agreement=1.0)
        state.apply_event(envelop(event, source="rlaif/test", time=at))
    state.apply_reading(
        TrainingProgress(
            at=NOON, run_id="run-1", status="training", iteration=1, env_steps=9, episodes=0
        ),
        NOON,
    )
    assert texts(state)[0].startswith("Judges gave at least 2,")


async def test_it_is_told_by_rest_once_for_all_who_ask_in_a_moment() -> None:
    now = NOON
    state = fold(*chain.from_iterable(an_hour()))
    app = FastAPI()
    app.include_router(history_router(state, lambda: now))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://hud"
    ) as client:
        answer = await client.get("/api/v1/digest")
        assert answer.headers["cache-control"] == "no-store"
        body = answer.json()
        assert body == state.digest(NOON)().model_dump(mode="json")
        assert body["run_id"] == "run-1"
        now = NOON + timedelta(seconds=1)
        assert (await client.get("/api/v1/digest")).json() == body
        now = NOON + timedelta(hours=2)
        assert (await client.get("/api/v1/digest")).json()["sentences"][0]["kind"] == "nothing"
        route = (await client.get("/openapi.json")).json()["paths"]["/api/v1/digest"]["get"]
        schema = (await client.get("/openapi.json")).json()["components"]["schemas"]["DigestView"]
    assert "without a language model" in route["description"]
    assert schema["examples"][0]["sentences"][0]["link"]["href"] == "/models/5"
