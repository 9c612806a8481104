"""The past in the whole of what the HUD knows: the log, the champion, the marks, REST."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import count

import httpx
import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import EventData
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.state import history_router
from rlaif.testing.data.events import (
    NOON,
    champion_changed,
    reward_model_published,
    run_iterated,
    run_loaded,
    run_started,
    segment_captured,
    segment_scored,
)
from rlaif.testing.data.readings import reward_model_status, training_progress
from rlaif.testing.servers.client import client_of

STEP = 1000


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def fold(*events: EventData, into: HudState | None = None) -> HudState:
    state = into or HudState(epoch="e")
    state.streams_opened()
    seconds = count()
    for event in events:
        state.apply_event(envelop(event, source="rlaif/test", time=later(next(seconds))))
    return state


def a_past() -> list[EventData]:
    """A run of 60 iterations with a load in the middle, a second version, a pin and a roll-back."""
    first = [run_iterated(step, step + STEP, gained=[1]) for step in range(0, 30 * STEP, STEP)]
    then = [
        run_iterated(step, step + STEP, gained=[2, 3]) for step in range(30 * STEP, 60 * STEP, STEP)
    ]
    back = reward_model_published(1).model_copy(update={"activation": 3})
    return [
        run_started(),
        *first,
        reward_model_published(1),
        champion_changed(1, changed_at=later(31)),
        run_loaded(1, 30 * STEP),
        *then,
        reward_model_published(2).model_copy(update={"activation": 2}),
        champion_changed(2, changed_at=later(32)),
        run_loaded(2, 60 * STEP),
        back,
        champion_changed(
            1, activation=3, why="watchdog", words="it was gamed", pinned=True,
            pin_reason="it was gamed", changed_at=later(33),
        ),
        run_loaded(1, 61 * STEP),
    ]  # fmt: skip


def test_a_hud_that_starts_again_knows_the_same_past_with_every_service_away() -> None:
    lives = [fold(*a_past()).snapshot(NOON) for _ in range(2)]
    assert lives[0] == lives[1]
    reported = lives[0]
    assert [(row.version, row.loaded_at_steps) for row in reported.reward_models.published] == [
        (2, (60 * STEP,)), (1, (30 * STEP, 61 * STEP)),
    ]  # fmt: skip
    champion = reported.reward_models.champion
    assert champion is not None
    assert (champion.version, champion.pinned, champion.rolled_back_from) == (1, True, 2)
    assert champion.pin_reason == "it was gamed"
    assert reported.headline.text.startswith(
        "Milestones per episode rose from 1.00 to 2.50 since reward model v1 was loaded (30 and 60"
    )
    assert reported.headline.text.endswith("; v1 is live, pinned.")


def test_what_the_service_says_later_counts_more_than_the_newest_event() -> None:
    state = fold(*a_past())
    state.apply_reading(reward_model_status(champion_version=1, activation=3), NOON)
    champion = state.snapshot(NOON).reward_models.champion
    assert champion is not None
    assert champion.pinned is False


def test_a_champion_that_was_withdrawn_is_not_live() -> None:
    gone = champion_changed(
        1, activation=4, why="demotion", words="it does not hold", withdrawn="it does not hold",
        changed_at=later(90),
    )  # fmt: skip
    reported = fold(*a_past(), gone).snapshot(NOON)
    assert reported.reward_models.champion is None
    assert reported.headline.text.endswith("; no reward model is live.")
    assert reported.headline.live_version is None


def test_the_log_has_a_line_for_each_turn_of_the_past_and_none_twice() -> None:
    state = fold(*a_past())
    fold(*a_past(), into=state)
    lines = [line.text for line in state.journal.latest(100)]
    reported = [
        line for line in lines if "published" not in line.lower() and "champion" not in line
    ]
    assert reported == [
        "Run run-1 starts at step 0.",
        "The trainer uses reward model v1 since step 30,000.",
        "The trainer uses reward model v2 since step 60,000.",
        "Reward model v1 is live again, pinned: it was gamed.",
        "The trainer uses reward model v1 since step 61,000.",
    ]


def test_the_current_run_is_the_trainers_and_without_it_the_newest() -> None:
    state = fold(*a_past(), run_started(run_id="run-2"))
    assert state.current_run_id == "run-2"
    state.apply_reading(training_progress(), NOON)
    assert state.current_run_id == "run-1"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    state = fold(*a_past(), segment_captured(), segment_scored(weighted=0.5))
    async with client_of(history_router(state, lambda: None)) as made:
        yield made


async def test_the_past_is_reported_in_as_many_points_as_are_asked_for(
    client: httpx.AsyncClient,
) -> None:
    whole = (await client.get("/api/v1/history")).json()
    few = (await client.get("/api/v1/history", params={"run": "run-1", "points": 7})).json()
    assert len(whole["points"]) == 60
    assert len(few["points"]) == 7
    for name in ("iterations", "episodes", "paid_total", "learned_from"):
        assert sum(each[name] for each in few["points"]) == pytest.approx(
            sum(each[name] for each in whole["points"])
        )
    assert [change["why"] for change in few["changes"]] == ["gate", "gate", "watchdog"]


@pytest.mark.parametrize("route", ["history", "history.csv", "loads", "score-points"])
async def test_a_run_that_is_unknown_is_not_found(client: httpx.AsyncClient, route: str) -> None:
    answer = await client.get(f"/api/v1/{route}", params={"run": "run-9"})
    assert answer.status_code == 404
    assert answer.json()["type"] == "/problems/run-not-found"
