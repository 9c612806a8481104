"""Nothing that the contracts accept, and no bytes at all, raise outside the item that has them.

Values are drawn from the contracts themselves, from the ends of what they allow. A failure prints
how to repeat it (`@reproduce_failure`).
"""

import asyncio
import contextlib
import logging
import types
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from rlaif.bus.dead_letters import dead_letter
from rlaif.contracts.catalog import CATALOG, UnknownEventError, envelop, parse_event
from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    DeadLetter,
    EventData,
    RunIterated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
)
from rlaif.contracts.game.captures import Capture, EmulatorIdentity, GameIdentity
from rlaif.contracts.game.segments import SegmentManifest, StoredFile
from rlaif.contracts.model import ID_PATTERN, SHA256_PATTERN
from rlaif.contracts.reward_models import Champion
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT
from rlaif.exporter.committing import exported_event, is_whole
from rlaif.exporter.consumers import load_capture
from rlaif.exporter.faults import ExportFault
from rlaif.game.captures.capture import KeyframeError, unpack_keyframe
from rlaif.hud import segment_objects
from rlaif.hud.broadcast import READINGS, Broadcast
from rlaif.hud.read_model.llm import calls_view, llm_view
from rlaif.hud.read_model.projections import HudState
from rlaif.judge.evidence.loading import CorruptSegmentError, load_segment
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectInfo, ObjectNotFoundError, StorageError
from rlaif.testing.data.events import NOON, segment_captured, segment_exported
from rlaif.testing.data.judging.scored_segments import play, write_scored
from rlaif.testing.page.broadcasts import broadcast_of
from rlaif.trainer.run_folder.protocol import LoadRewardModel
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.service.champion import ChampionWatcher

SHA = "a" * 64

few = partial(
    settings,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
    # What is drawn is small already; shrinking it took minutes.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

# Values of contracts.

_MEANT = {ID_PATTERN: ["run-1", "run-2", "a", "z" * 64], SHA256_PATTERN: [SHA]}
"""Few values, so that what is drawn concerns the same things."""

_TIMES = st.sampled_from(
    [
        NOON,
        NOON + timedelta(days=2000),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=14))),
    ]
)
_TEXTS = st.sampled_from(["", "idle", "../x", "x" * 300, "\N{HAMMER}\x00"]) | st.text(max_size=5)


def _bounds(metadata: tuple[Any, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in [part for item in metadata for part in getattr(item, "metadata", [item])]:
        for name in ("ge", "gt", "le", "lt", "min_length", "pattern"):
            value = getattr(each, name, None)
            if value is not None:
                found[name] = value
    low, high = (found.get(a, found.get(b)) for a, b in (("ge", "gt"), ("le", "lt")))
    return found | {"low": low, "high": high}


def values(kind: Any, *metadata: Any) -> st.SearchStrategy[Any]:
    """Values that are probably valid for a field of this type; a model checks them."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return values(parts[0], *parts[1:], *metadata)
    if origin in (Union, types.UnionType):
        return st.one_of([values(each, *metadata) for each in parts])
    if origin is Literal:
        return st.sampled_from(parts)
    limits = _bounds(metadata)
    least = limits.get("min_length", 0)
    size = {"min_size": least, "max_size": max(3, least)}
    if origin is tuple and parts[-1] is not Ellipsis:
        return st.tuples(*map(values, parts))
    if origin in (tuple, list):
        return st.lists(values(parts[0]), **size)
    if origin is dict:
        return st.dictionaries(values(parts[0]), values(parts[1]), **size)
    return _plain(kind, limits)


def _plain(kind: Any, limits: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind is type(None):
        return st.none()
    if kind is bool:
        return st.booleans()
    if kind in (int, float):
        most = 10**18 if kind is int else 1.7e308
        low = -most if limits["low"] is None else limits["low"]
        high = most if limits["high"] is None else limits["high"]
        ends = [low, high, 0, 1, 2, 4096, *([0.5, 5e-324] if kind is float else [])]
        return st.sampled_from([kind(each) for each in ends if low <= each <= high])
    if kind is str:
        meant = _MEANT.get(limits.get("pattern", ""))
        if meant is None and "pattern" in limits:
            return st.from_regex(limits["pattern"], fullmatch=True)
        return st.sampled_from(meant) if meant else _TEXTS
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return made(kind)
    if kind is Any:
        return st.sampled_from([None, 1, "x", {"a": [1]}, "9" * 400])
    return _TIMES


@cache
def made(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Valid instances of a contract, as they come out of JSON."""
    if model is EndedEpisodes:
        return st.builds(_episodes, st.lists(st.tuples(*map(_cell, _EPISODE)), max_size=3))
    return _valid(model)


@st.composite
def _valid(draw: st.DrawFn, model: type[BaseModel]) -> Any:
    given = {
        name: draw(values(field.annotation, *field.metadata))
        for name, field in model.model_fields.items()
        if field.is_required() or draw(st.booleans())
    }
    try:
        return model.model_validate_json(model.model_validate(given).model_dump_json())
    except ValidationError:
        assume(False)


_EPISODE = ("began", "gained", "rooms", "returns", "shaped", "lengths", "died")


def _cell(name: str) -> st.SearchStrategy[Any]:
    annotation = EndedEpisodes.model_fields[name].annotation
    return values(get_args(annotation)[0])


def _episodes(rows: list[tuple[Any, ...]]) -> EndedEpisodes:
    columns = dict(zip(_EPISODE, zip(*rows, strict=True), strict=True)) if rows else {}
    return EndedEpisodes(count=len(rows), **columns)


EVENTS: Sequence[type[EventData]] = [spec.data for spec in CATALOG]
HISTORY: Sequence[type[EventData]] = [
    RunStarted,
    RunIterated,
    RunLoaded,
    ChampionChanged,
]


def events(kinds: Sequence[type[EventData]] = EVENTS) -> st.SearchStrategy[Any]:
    return st.one_of([made(kind).map(_event) for kind in kinds])


def _event(data: EventData) -> Any:
    try:
        return envelop(data, source="t", time=NOON)
    except ValidationError:  # its id would be too long
        assume(False)


# The page.


def page() -> Broadcast:
    state = HudState(epoch="e", started_at=NOON)
    state.streams_opened()
    return broadcast_of(state)


def views(state: HudState) -> list[Callable[[], Any]]:
    """What the routes of the page answer."""
    runs = (None, state.current_run_id, "run-1")
    return [
        lambda: state.snapshot(NOON).model_dump_json(),
        lambda: [state.history.view(run, points=3).model_dump_json() for run in runs],
        lambda: [state.history.loads(run, newest=3)().model_dump_json() for run in runs],
        lambda: [state.history.score_points(run, 3).model_dump_json() for run in runs],
        lambda: state.map().model_dump_json(),
        lambda: state.environments().model_dump_json(),
        lambda: [row.model_dump_json() for row in state.segments.listing()],
        lambda: [row.model_dump_json() for row in state.models.rejections()],
        lambda: [line.model_dump_json() for line in state.journal.after(0) or ()],
        lambda: state.trainer.steps.view(None).model_dump_json(),
        lambda: llm_view(state.judge_calls, state.trainer).model_dump_json(),
        lambda: calls_view(
            state.judge_calls, state.trainer, state.episode_of, user=None, failed=None, limit=9
        ),
    ]


_READINGS = st.one_of(
    [
        st.tuples(st.just(subject), made(kind))
        for subject, adapter in READINGS.items()
        for kind in (get_args(adapter._type) or (adapter._type,))
    ]
)


@few(max_examples=60)
@given(st.lists(events() | _READINGS, max_size=12))
def test_whatever_is_valid_is_folded_in_any_order_and_shown(told: list[Any]) -> None:
    broadcast = page()
    logging.getLogger("rlaif.hud").setLevel(logging.CRITICAL)
    for number, item in enumerate(told):
        if isinstance(item, CloudEvent):
            broadcast.state.apply_event(item)
        else:
            broadcast.state.apply_reading(item[1], NOON)
        broadcast.tick(float(number))
    for view in views(broadcast.state):
        view()
    assert broadcast.check() is None, "a section of the page cannot be made"


_SUBJECTS = st.sampled_from([*READINGS, f"{FRAME_SUBJECT}.run-1-0-0", "telemetry.unknown"])


@few(max_examples=100)
@given(_SUBJECTS, st.binary(max_size=80), st.sampled_from([*READINGS]), st.data())
def test_any_bytes_of_telemetry_are_skipped(
    subject: str, junk: bytes, good: str, data: st.DataObject
) -> None:
    broadcast = page()
    broadcast.telemetry(subject, junk)
    (kind, *_) = get_args(READINGS[good]._type) or (READINGS[good]._type,)
    payload = data.draw(made(kind)).model_dump_json().encode()
    broadcast.telemetry(good, spliced(data, payload))
    broadcast.tick(1.0)
    assert broadcast.check() is None


# The reward model.


@few(max_examples=80)
@given(st.lists(made(RunIterated), max_size=12), events(HISTORY), st.integers(0, 12))
def test_the_reward_hacking_monitor_bears_any_history(
    told: list[RunIterated], other: CloudEvent[Any], place: int
) -> None:
    monitor = RewardHackingMonitor(window_iterations=4, window_episodes=1)
    champion = Champion(version=1, manifest_key="m", model_key="k", model_sha256=SHA)
    monitor.changed(ChampionChanged(version=1, activation=1, why="start", changed_at=NOON))
    for step, data in enumerate(told):
        # One attempt without a gap, so that its points fill a window.
        fitted = {
            "run_id": "run-1", "attempt": 0, "since_step": step, "env_step": step + 1,
            "reward_model_version": 1,
        }  # fmt: skip
        monitor.iterated(data.model_copy(update=fitted), champion)
        if step == place:
            match other.data:
                case RunStarted() as found:
                    monitor.started(found)
                case ChampionChanged() as found:
                    monitor.changed(found)
                case RunIterated() as found:
                    monitor.iterated(found, champion)
    assert monitor.iterations <= len(told) + 1


# Any bytes in any object, and on any subject.


def spliced(data: st.DataObject, good: bytes) -> bytes:
    """`good` with a part of it replaced by anything, or something else altogether."""
    if data.draw(st.booleans()):
        return data.draw(
            st.sampled_from([b"", b"{}", b"null", b"[" * 5000, b"PK\x03\x04", b"\x93NUMPY"])
            | st.binary(max_size=64)
        )
    start = data.draw(st.integers(0, len(good)))
    stop = data.draw(st.integers(start, min(len(good), start + 40)))
    return good[:start] + data.draw(st.binary(max_size=20)) + good[stop:]


@few(max_examples=100)
@given(events(), st.data())
def test_any_bytes_on_a_subject_are_an_event_or_a_dead_letter(
    event: CloudEvent[Any], data: st.DataObject
) -> None:
    payload = spliced(data, event.model_dump_json().encode())
    try:
        parse_event(payload)
    except UnknownEventError as error:
        letter = dead_letter(
            payload, stream="CAPTURES", sequence=1, subject="segment.captured", consumer="exporter",
            attempts=1, reason="invalid_event", detail=str(error), dead_at=NOON,
        )  # fmt: skip
        assert isinstance(
            parse_event(envelop(letter, source="t", time=NOON).model_dump_json().encode()).data,
            DeadLetter,
        )


CAPTURE = Capture(
    segment_id="a", episode_id="a", run_id="run-1", env_id="run-1-0",
    game=GameIdentity(title="SEEDLING", rom_sha256=SHA),
    emulator=EmulatorIdentity(version="2.8.1", sound_emulated=False),
    frame_skip=4, keyframe_sha256=SHA, actions="0123", start_step=0, start_ram_sha256=SHA,
    end_ram_sha256=SHA, env_step=10,
)  # fmt: skip
FILE = StoredFile(key="a/a/states.jsonl", sha256=SHA, size_bytes=9)
MANIFEST = SegmentManifest(
    segment_id="a", episode_id="a", run_id="run-1", capture_key="captures/a/a.capture",
    capture_sha256=SHA, rom_sha256=SHA, layout_version="v1", frames=300, decision_steps=75,
    frame_skip=4, start_step=0, ended="running", end_ram_sha256=SHA, states=FILE,
    observations=FILE, pictures=(FILE,), picture_steps=(0,), exporter_version="1",
    env_step=10, created_at=NOON, film=FILE,
)  # fmt: skip


class Objects(FileStore):
    """Answers every key with `content`, so that no digest hides the parser."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.digest = sha256(content).hexdigest()
        file = FILE.model_copy(update={"sha256": self.digest})
        self.manifest = MANIFEST.model_copy(
            update={"states": file, "film": file, "capture_sha256": self.digest}
        )

    @property
    def url(self) -> str:
        return "test:"

    def get(self, key: str, *args: Any, **options: Any) -> bytes:
        keys.check_key(key)
        return self.content

    def head(self, key: str) -> ObjectInfo:
        return ObjectInfo(keys.check_key(key), len(self.content), NOON)

    def announced(self, event: Any) -> Any:
        """The event, with the digest of the content."""
        name = "capture_sha256" if isinstance(event, SegmentCaptured) else "manifest_sha256"
        return event.model_copy(update={name: self.digest})


UNREADABLE = (ObjectNotFoundError, segment_objects.UnreadableObjectError)
READERS: dict[str, tuple[Callable[[Objects], Any], tuple[type[Exception], ...]]] = {
    "capture": (lambda s: load_capture(s, s.announced(segment_captured("a"))), (ExportFault,)),
    "segment": (
        lambda s: load_segment(s, s.announced(segment_exported("a"))),
        (CorruptSegmentError,),
    ),
    "exported": (lambda s: exported_event(s.content, keys.manifest("a", "a")), (ExportFault,)),
    "whole": (lambda s: is_whole(s, s.content), ()),
    "manifest": (lambda s: segment_objects.read_manifest(s, "a", "a"), UNREADABLE),
    "scored": (lambda s: segment_objects.read_segment(s, "a", "a", "config-1"), UNREADABLE),
    "score": (lambda s: segment_objects.read_score(s, "scores/x", s.digest), UNREADABLE),
    "states": (lambda s: segment_objects.read_states(s, s.manifest), UNREADABLE),
    "film": (lambda s: segment_objects.read_film(s, s.manifest), UNREADABLE),
    "page's capture": (lambda s: segment_objects.read_capture(s, s.manifest), UNREADABLE),
    "keyframe": (lambda s: unpack_keyframe(s.content, SHA), (KeyframeError,)),
    "spool": (lambda s: SpooledCapture.unpack(s.content), (ValueError,)),
}
"""Reader of an object, and the errors by which it refuses one."""


@pytest.mark.parametrize("reader", READERS)
@few(max_examples=40)
@given(st.data())
def test_any_bytes_in_an_object_of_a_segment_are_its_fault(
    reader: str, data: st.DataObject
) -> None:
    good = data.draw(st.sampled_from([CAPTURE, MANIFEST])).model_dump_json().encode()
    store = Objects(spliced(data, good))
    read, refusals = READERS[reader]
    with contextlib.suppress(*refusals):
        read(store)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> FileStore:
    store = FileStore(tmp_path_factory.mktemp("scored"))
    for segment in play(episodes=1, each=3, signal=True, seed=1):
        write_scored(store, segment)
    return store


@few(max_examples=40)
@given(st.data())
def test_any_bytes_in_an_object_of_a_label_leave_the_other_labels(
    scored: FileStore, data: st.DataObject
) -> None:
    objects = [info.key for info in scored.list()]
    first = sorted(key for key in objects if key.startswith("scores/"))[0]
    segment = first.rpartition("/")[2].removesuffix(".json")
    key = data.draw(st.sampled_from([each for each in objects if segment in each]))
    whole = scored.get(key)
    scored.put(key, spliced(data, whole))
    try:
        log = LabelLog(scored, judge_config=None, most_labels=100)
        log.read_new(full=True)
        assert {item.segment_id for item in log.labels} >= {
            each.rpartition("/")[2].removesuffix(".json")
            for each in objects
            if each.startswith("scores/") and each != first
        }
    finally:
        scored.put(key, whole)


MODEL = b"a model"


@few(max_examples=60)
@given(st.data())
def test_any_bytes_of_the_champion_or_its_model_keep_the_loaded_one(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("champion")
    store, commands = FileStore(folder / "store"), []

    async def take(command: LoadRewardModel) -> None:
        commands.append(command)

    champion = Champion(
        version=3, activation=3, manifest_key="m", model_key="models/3",
        model_sha256=sha256(MODEL).hexdigest(),
    )  # fmt: skip
    store.put("models/3", MODEL)
    store.put(keys.CHAMPION, champion.model_dump_json().encode())
    watcher = ChampionWatcher(store, folder / "models", take)
    asyncio.run(watcher.refresh())
    after = data.draw(st.sampled_from([champion, data.draw(made(Champion))]))
    store.put("models/3", spliced(data, MODEL))
    store.put(keys.CHAMPION, spliced(data, after.model_dump_json().encode()))
    with contextlib.suppress(StorageError):
        asyncio.run(watcher.refresh())
    for command in commands:
        assert command.withdrawn is not None or sha256(
            Path(command.path).read_bytes()
        ).hexdigest() == (command.sha256)
