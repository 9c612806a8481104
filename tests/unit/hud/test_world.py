"""Whose screen is shown, who takes over, and what the map's REST interface says."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.contracts.telemetry.readings import (
    EnvironmentsSeen,
    EnvironmentStands,
    MapPosition,
    RunnerSign,
    WorldProgress,
)
from rlaif.contracts.telemetry.world import RoomSeen, SegmentName
from rlaif.hud.app import create_app
from rlaif.hud.broadcast import Broadcast
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.screen import Screen
from rlaif.hud.routes.world import world_router
from rlaif.hud.settings import HudSettings
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import NOON
from rlaif.testing.data.readings import training_progress
from rlaif.testing.page.broadcasts import broadcast_of
from rlaif.testing.servers.client import client_of


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def frame(seconds: float = 0, picture: bytes = b"picture") -> ScreenFrame:
    return ScreenFrame(1, int(after(seconds).timestamp() * 1e6), step=7, picture=picture)


def watching() -> Screen:
    """A screen that shows 1-0; 2-0 sends a picture now and then, and both give signs of life."""
    screen = Screen()
    screen.offer("1-0", frame(picture=b"one"), NOON)
    screen.offer("2-0", frame(picture=b"two"), NOON)
    screen.selection.alive("1-0", NOON)
    screen.selection.alive("2-0", NOON)
    return screen


def test_a_silent_environment_is_reported_and_replaced_without_another_frame() -> None:
    screen = watching()
    for second in range(1, 10):
        screen.selection.alive("2-0", after(second))
        assert screen.check(after(second)) is None
        assert screen.watch().silent_since == (None if second == 1 else NOON)
    screen.selection.alive("2-0", after(9.8))
    assert screen.check(after(9.9)) is None
    shown = screen.check(after(10), env_step=5000)
    assert shown is not None
    assert (shown.picture, shown.sequence) == (b"two", 2), (
        "its newest picture, with the next number"
    )
    assert screen.env == screen.selection.requested == "2-0", "it is to be drawn in full now"
    (switch,) = screen.selection.switches
    assert (switch.from_env, switch.to_env, switch.reason) == ("1-0", "2-0", "silent")
    assert (switch.at, switch.env_step) == (after(10), 5000)


def test_a_runner_that_waits_for_the_learner_keeps_the_screen() -> None:
    screen = watching()
    for second in range(1, 40):
        for env in ("1-0", "2-0"):
            screen.selection.alive(env, after(second))
        assert screen.check(after(second)) is None
    view = screen.watch()
    assert (view.env, view.silent_since) == ("1-0", None)


def test_the_screen_does_not_switch_if_no_runner_responds() -> None:
    screen = watching()
    assert screen.check(after(30)) is None
    view = screen.watch()
    assert (view.env, view.silent_since) == ("1-0", NOON)


def test_who_has_sent_no_picture_cannot_take_over() -> None:
    screen = watching()
    screen.selection.alive("2-1", after(9.9))
    assert screen.check(after(10)) is None


def test_a_chosen_environment_is_shown_with_its_first_frame_and_not_before() -> None:
    screen = watching()
    screen.selection.select("2-3", after(1))
    assert screen.selection.requested == "2-3"
    assert screen.check(after(1)) is None
    assert (screen.watch().env, screen.watch().selected) == ("1-0", "2-3")
    assert screen.offer("1-0", frame(1.1), after(1.1)) is not None, "until then the old one moves"
    shown = screen.offer("2-3", frame(1.2, b"chosen"), after(1.2))
    assert shown is not None
    assert shown.sequence == 3
    assert screen.offer("1-0", frame(1.3), after(1.3)) is None
    assert [each.reason for each in screen.selection.switches] == ["selected"]


def test_a_choice_that_never_comes_is_dropped_and_the_old_one_drawn_again() -> None:
    screen = watching()
    screen.selection.select("9-9", NOON)
    for second in range(1, 11):
        screen.selection.alive("1-0", after(second))
        screen.check(after(second))
    assert (screen.selection.requested, screen.env, screen.watch().selected) == ("1-0", "1-0", None)


def test_a_choice_whose_runner_waits_for_the_learner_is_shown_once_it_plays() -> None:
    screen = watching()
    screen.selection.select("2-3", NOON)
    for second in range(1, 40):
        for env in ("1-0", "2-3"):
            screen.selection.alive(env, after(second))
        screen.check(after(second))
    assert (screen.selection.requested, screen.watch().selected) == ("2-3", "2-3")
    assert screen.offer("2-3", frame(40), after(40)) is not None


def test_a_choice_stays_while_all_runners_are_started_again() -> None:
    screen = watching()
    screen.selection.select("2-3", after(1))
    screen.check(after(40))
    assert (screen.selection.requested, screen.watch().selected) == ("2-3", "2-3")
    screen.selection.alive("2-0", after(41))
    screen.check(after(41))
    assert screen.env == "2-0", "the first that is heard again takes over"
    assert (screen.selection.requested, screen.watch().selected) == ("2-3", "2-3")
    screen.selection.alive("2-3", after(50))
    screen.selection.alive("2-0", after(52))
    screen.check(after(52))
    assert screen.offer("2-3", frame(53), after(53)) is not None
    assert screen.env == "2-3"


def test_after_a_restart_the_page_shows_whom_the_trainer_draws() -> None:
    screen = Screen()
    screen.offer("2-0", frame(), NOON)  # a picture of now and then came first
    screen.selection.drawn("1-0")
    assert screen.offer("1-0", frame(0.1), after(0.1)) is not None
    assert screen.env == "1-0"
    assert screen.selection.requested is None, "the trainer's own choice counts"
    assert list(screen.selection.switches) == [], "nothing fell silent"


def test_a_clock_that_was_set_back_does_not_stop_the_screen() -> None:
    screen = watching()
    assert screen.offer("1-0", frame(-3600), after(1)) is None
    assert screen.offer("1-0", frame(-3600), after(10)) is not None


def stands(env: str, room: int = 0x77) -> EnvironmentStands:
    runner = int(env.split("-")[0])
    return EnvironmentStands(
        env=env, runner=runner, group=0, room=room, x=40, y=60, rooms_visited=3, steps=120,
        episode_return=-1.5,
    )  # fmt: skip


def seen(*signs: RunnerSign, at: datetime = NOON) -> EnvironmentsSeen:
    return EnvironmentsSeen(
        at=at, run_id="run-1", watched="1-0", runners=signs,
        environments=(stands("1-0"), stands("1-1", 0x78), stands("2-0")),
    )  # fmt: skip


def room(**values: Any) -> RoomSeen:
    given = {
        "group": 0, "room": 0x77, "name": "Seedling", "entries": 4, "frames": 7200, "deaths": 1,
        "long_stays": 2, "calls": 3, "last_step": 900, "picture": True,
        "segments": (SegmentName(episode_id="e", segment_id="s"),),
    }  # fmt: skip
    return RoomSeen(**(given | values))


def world(*rooms: RoomSeen, run_id: str = "run-1") -> WorldProgress:
    return WorldProgress(at=NOON, run_id=run_id, rooms=rooms)


class Clock:
    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broadcast(state: HudState, clock: Clock) -> Broadcast:
    return broadcast_of(state, clock=clock)


def test_signs_of_life_count_by_the_trainers_own_clock(broadcast: Broadcast, clock: Clock) -> None:
    state = broadcast.state
    state.apply_frame("1-0", frame(), NOON)
    state.apply_frame("2-0", frame(), NOON)
    alive = RunnerSign(runner=2, silent_seconds=0.1, still_seconds=0.1)
    for second in range(1, 11):
        clock.now = after(second)
        stopped = RunnerSign(runner=1, silent_seconds=second + 0.25, still_seconds=second + 0.3)
        state.apply_reading(seen(stopped, alive, at=after(3600)), clock.now)
        broadcast.tick(second)
    assert state.screen.env == "2-0"
    lines = [line for line in state.journal.latest(5) if line.kind == "screen.switch"]
    assert [line.text for line in lines] == [
        "The screen switched from 1-0 to 2-0: 1-0 is unresponsive."
    ]
    assert lines[0].level == "warning"


@pytest.fixture
async def client(broadcast: Broadcast, tmp_path: Path) -> Any:
    async with client_of(world_router(broadcast, FileStore(tmp_path))) as opened:
        yield opened


async def test_without_word_nothing_is_known_of_the_world(client: httpx.AsyncClient) -> None:
    reported = (await client.get("/api/v1/map")).json()
    assert reported == {
        "run_id": None, "at": None, "received_at": None, "rooms": [], "rooms_left_out": None,
    }  # fmt: skip
    reported = (await client.get("/api/v1/environments")).json()
    assert (reported["run_id"], reported["environments"], reported["left_out"]) == (None, [], None)


async def test_rooms_are_reported_with_names_pictures_and_segments(
    client: httpx.AsyncClient, broadcast: Broadcast, tmp_path: Path
) -> None:
    broadcast.state.apply_reading(world(room(), room(room=0x78, name=None, picture=False)), NOON)
    field, other = (await client.get("/api/v1/map")).json()["rooms"]
    assert (field["name"], field["seconds"], field["deaths"]) == ("Seedling", 120.0, 1)
    assert field["segments"] == [{"episode_id": "e", "segment_id": "s", "weighted": None}]
    assert other["picture_url"] is None
    url = field["picture_url"]
    missing = await client.get(url)
    assert missing.status_code == 404
    FileStore(tmp_path).put_once(keys.room_picture("run-1", 0, 0x77), b"\x89PNG")
    answer = await client.get(url)
    assert (answer.content, answer.headers["content-type"]) == (b"\x89PNG", "image/png")
    assert "immutable" in answer.headers["cache-control"]
    again = await client.get(url, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


async def test_a_picture_that_is_too_large_is_none(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    FileStore(tmp_path).put_once(keys.room_picture("run-1", 0, 1), bytes(300_000))
    assert (await client.get("/api/v1/map/rooms/run-1/0/1.png")).status_code == 502


async def test_the_world_of_another_run_is_not_shown(
    client: httpx.AsyncClient, broadcast: Broadcast
) -> None:
    broadcast.state.apply_reading(world(room(), run_id="run-0"), NOON)
    broadcast.state.apply_reading(training_progress(), NOON)
    assert (await client.get("/api/v1/map")).json()["run_id"] is None


async def test_a_person_chooses_whose_screen_is_shown(
    client: httpx.AsyncClient, broadcast: Broadcast
) -> None:
    unknown = await client.post("/api/v1/watched", json={"env": "1-1"})
    assert unknown.status_code == 404
    assert unknown.headers["content-type"] == "application/problem+json"
    sign = RunnerSign(runner=1, silent_seconds=0, still_seconds=0)
    broadcast.state.apply_reading(seen(sign), NOON)
    broadcast.state.apply_frame("1-0", frame(), NOON)
    assert (await client.post("/api/v1/watched", json={"env": "1-1"})).status_code == 200
    assert broadcast.state.screen.selection.requested == "1-1"
    reported = (await client.get("/api/v1/environments")).json()
    assert [each["env"] for each in reported["environments"]] == ["1-0", "1-1", "2-0"]
    assert reported["watched"] == "1-0"


def test_the_watched_room_is_called_by_its_name(broadcast: Broadcast) -> None:
    state = broadcast.state
    state.apply_reading(world(room()), NOON)
    here = MapPosition(at=NOON, env="1-0", group=0, room=0x77, x=1, y=2, rooms_visited=1)
    state.apply_reading(here, NOON)
    reported = json.loads(state.snapshot(NOON).model_dump_json())["map"]
    assert reported["name"] == "Seedling"


async def test_choosing_needs_the_token_where_one_is_set(tmp_path: Path) -> None:
    """It changes what others see."""
    settings = HudSettings(episodes_store=f"file://{tmp_path}", api_token="secret")
    transport = httpx.ASGITransport(app=create_app(settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://hud") as client:
        assert (await client.post("/api/v1/watched", json={"env": "1-0"})).status_code == 401
        assert (await client.get("/api/v1/watched")).status_code == 200
