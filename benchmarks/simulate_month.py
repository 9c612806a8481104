"""A month of segments in virtual time: memory, start-up, look-up and listing on the way.

    python benchmarks/simulate_month.py                     or: make simulate-month
    python benchmarks/simulate_month.py --segments 4000
    python benchmarks/simulate_month.py --resume FILE

One segment per second for 30 days. The services' own code, each part in a process of its own, reads
a store that makes the objects of the segments so far when they are read. At 10, 50 and 100 %:

    hud            read model. start: folding the newest events, as many as the streams hold;
                   look: a snapshot; list: 50 segments
    reward_model   labels. start: the first poll; look: a poll for eight announced scores; list: a
                   poll that reads a page of all keys (median of 200)
    api            judge. look: 1, list: 50 scores at the start, in the middle and at the end of the
                   keys

Times are in seconds, the slowest unless stated otherwise; memory is the peak resident memory so
far, in MB. Exit code 0 if that is at 100 % at most 1.2 times as large as at 50 %.
"""

import hashlib
import json
import multiprocessing
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
from outcome import begin, finish, parser_of, say

from rlaif.contracts.catalog import envelop
from rlaif.contracts.game.observation import LAYOUT_VERSION, OBSERVATION_SIZE
from rlaif.contracts.game.segments import StoredFile
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import CRITERIA, CriterionScore, ScoreRecord
from rlaif.service.paging import PageRequest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore
from rlaif.testing.data.events import segment_captured, segment_exported, segment_scored
from rlaif.testing.data.judging.scored_segments import npy_bytes
from rlaif.testing.data.judging.scores import judge_call, score_record
from rlaif.testing.data.judging.segments import segment_manifest

SHARES = (0.1, 0.5, 1.0)
ENVIRONMENTS = 8
SEGMENTS_OF_AN_EPISODE = 30
STEPS = 75
VARIANTS = 64
"""Scores and observations of different content; segments share them."""

LOOKS = 20
CONFIG = "c0123456789abcdef"
MAX_GROWTH = 1.2
HELD = 190_000
"""Segments whose events the streams hold, at 160 MiB each."""

PAGES = 200
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
EVENTS = (segment_captured(), segment_exported(), segment_scored(judge_config=CONFIG))
PICTURES = [f"frames/{step:06d}.png" for step in range(0, 75, 7)]
FILES = ("film.bin", *PICTURES, "manifest.json", "observations.npy", "states.jsonl")
KeysOf = Callable[[str, str], list[str]]
"""(Episode id, segment id) → keys, in order."""

FOLDERS: tuple[KeysOf, ...] = (
    lambda episode, segment: [keys.capture(episode, segment)],
    lambda episode, segment: [keys.segment(episode, segment, name) for name in FILES],
    lambda _, segment: [keys.score(CONFIG, segment)],
)
"""Also in key order."""


def ids_of(number: int) -> tuple[str, str]:
    """(episode id, segment id) of the n-th segment: environments alternate."""
    index, environment = divmod(number, ENVIRONMENTS)
    episode, segment = divmod(index, SEGMENTS_OF_AN_EPISODE)
    episode_id = f"r260301090000-0-{environment // 4}-{environment % 4}-{episode:05d}"
    return episode_id, f"{episode_id}-s{segment:05d}"


def keys_at(keys_of: KeysOf, count: int, place: int) -> list[str]:
    """Ids of the segment at an index in key order."""
    return keys_of(*ids_of(number_at(count, place)))


def number_at(count: int, place: int) -> int:
    """The segments of an environment are consecutive."""
    environment, index = divmod(place, count // ENVIRONMENTS)
    return index * ENVIRONMENTS + environment


class Writer:
    """Writes scored segments like the exporter and the judge; contents repeat."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        rng = np.random.default_rng(0)
        self._scores = [score_of(rng).model_dump_json().encode() for _ in range(VARIANTS)]
        self._observations = [self._observe(rng, place) for place in range(VARIANTS)]

    def write(self, episode_id: str, segment_id: str) -> str:
        """Write a score; return its key."""
        place, data = self._manifest(episode_id, segment_id)
        key = keys.score(CONFIG, segment_id)
        score = self._scores[place]
        for old, new in (
            (b"segment-1", segment_id.encode()),
            (b"episode-1", episode_id.encode()),
            (b"0" * 64, hashlib.sha256(data).hexdigest().encode()),
        ):
            score = score.replace(old, new)
        self._store.put(key, score)
        return key

    def write_manifest(self, episode_id: str, segment_id: str) -> None:
        """Write the objects that the score references."""
        _, data = self._manifest(episode_id, segment_id)
        self._store.put(keys.manifest(episode_id, segment_id), data)

    def _manifest(self, episode_id: str, segment_id: str) -> tuple[int, bytes]:
        place = int(hashlib.sha256(segment_id.encode()).hexdigest(), 16) % VARIANTS
        began = STEPS * int(segment_id[-5:])
        manifest = segment_manifest(
            episode_id, segment_id, self._observations[place], steps=STEPS,
            layout_version=LAYOUT_VERSION, start_step=began, env_step=began,
        )  # fmt: skip
        return place, manifest.model_dump_json().encode()

    def _observe(self, rng: np.random.Generator, place: int) -> StoredFile:
        data = npy_bytes(rng.random((STEPS, OBSERVATION_SIZE), np.float32))
        key = f"shared/{place}/observations.npy"
        self._store.put(key, data)
        return StoredFile(key=key, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def score_of(rng: np.random.Generator) -> ScoreRecord:
    """A score with nine calls, their answers and reasons; a template without ids."""
    levels = {name: int(rng.integers(0, 3)) for name in CRITERIA}
    words = ("the player walks to the door of the house", "and then back past the well")
    said = " ".join(words[int(rng.integers(2))] for _ in range(28))
    answer = json.dumps({"rationale": said, **levels})
    start, end = (QuestPosition(objective=1 + int(rng.integers(4)), distance=6) for _ in range(2))
    return score_record(
        judge_config=CONFIG,
        criteria={
            name: CriterionScore(value=level / 2, votes=(level,) * 3, agreement=1.0, judge="state")
            for name, level in levels.items()
        },
        calls=tuple(
            judge_call(
                judge=judge, vote=vote, seed=vote, prompt_sha256="1" * 64, rationale=said,
                system_sha256="2" * 64, engine="vllm", answer=answer, prompt_tokens=2400,
                completion_tokens=90, finish_reason="stop", status=200,
            )
            for judge in ("state", "dialog", "vision")
            for vote in range(3)
        ),
        truth=levels,
        quest=QuestProgress(
            start=start, end=end, objectives=18, votes=3, agreement=1.0, judge="state"
        ),
    )  # fmt: skip


class MonthStore:
    """The objects of the first `count` segments; only shared ones are stored."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.port = cast(ObjectStore, self)
        self._made: dict[str, bytes] = {}
        self._writer = Writer(self.port)

    def put(self, key: str, data: bytes) -> None:
        self._made[key] = data

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        if ids := keys.manifest_ids(key):
            self._writer.write_manifest(*ids)
        elif ids := keys.score_ids(key):
            self._writer.write(ids[1].rpartition("-")[0], ids[1])
        else:
            return self._made[key]
        return self._made.pop(key)

    def head(self, key: str) -> ObjectInfo | None:
        return next(self.list(key), None)

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return self.list(prefix)

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        count, bound = self.count, max(prefix, after)
        for keys_of in FOLDERS:
            at = partial(keys_at, keys_of, count)
            first = bisect_left(range(count), [bound], key=at)
            for place in range(max(0, first - 1), count):
                found = at(place)
                wanted = [key for key in found if key > after and key.startswith(prefix)]
                if not wanted and found[0] > bound:
                    break
                stored_at = START + timedelta(seconds=number_at(count, place))
                yield from (ObjectInfo(key, 1, stored_at) for key in wanted)


Row = tuple[int, float | None, float, float]
"""Segments, and seconds of start, look and list."""


def hud(counts: Sequence[int]) -> Iterator[Row]:
    import rlaif.hud.app  # noqa: F401  # its memory is the service's
    from rlaif.hud.read_model.projections import HudState
    from rlaif.hud.read_model.segments.queries import SegmentFilter, ordered, with_gaps

    state = HudState(epoch="1", started_at=START)

    def fold(first: int, end: int) -> None:
        for number in range(first, end):
            ids = dict(zip(("episode_id", "segment_id"), ids_of(number), strict=True))
            at = START + timedelta(seconds=number)
            for data in EVENTS:
                state.apply_event(envelop(data.model_copy(update=ids), source="rlaif", time=at))

    def page() -> None:
        rows = ordered(with_gaps(list(state.segments.listing())), SegmentFilter(), "newest", None)
        assert len(PageRequest().take(rows, lambda row: row.segment_id).items) == 50

    for before, count in zip((0, *counts), counts, strict=False):
        held = max(before, count - HELD)
        fold(before, held)
        start = seconds(partial(fold, held, count))
        yield count, start, seconds(lambda: state.snapshot(START)), seconds(page)


def reward_model(counts: Sequence[int]) -> Iterator[Row]:
    import rlaif.reward_model.app  # noqa: F401
    from rlaif.reward_model.labels.label_log import LabelLog
    from rlaif.reward_model.settings import RewardModelSettings

    most_labels = int(RewardModelSettings.model_fields["most_labels"].default)
    for count in counts:
        store = MonthStore(count)
        log = LabelLog(store.port, judge_config=None, most_labels=most_labels)
        start, looks = seconds(partial(log.read_new, full=True)), []
        for first in range(count, count + LOOKS * ENVIRONMENTS, ENVIRONMENTS):
            store.count = first + ENVIRONMENTS
            hints = [keys.score(CONFIG, ids_of(each)[1]) for each in range(first, store.count)]
            looks.append(seconds(partial(log.read_new, hints, full=False)))
        pages = [seconds(partial(log.read_new, full=True)) for _ in range(PAGES)]
        assert log.judge_configs[0].scores >= count, log.judge_configs
        assert set(log.skipped) <= {"older"}, log.skipped
        yield count, start, max(looks), median(pages)


def api(counts: Sequence[int]) -> Iterator[Row]:
    from rlaif.judge.api import ScoreSummary, page_of

    def slowest(store: ObjectStore, count: int, limit: int) -> float:
        took = []
        for place in (0, count // 2, count - 100):
            scores = PageRequest(limit, keys_at(FOLDERS[-1], count, place)[-1])
            page = partial(page_of, store, keys.scores(CONFIG), scores, ScoreSummary)
            assert len(page().items) == limit
            took.append(seconds(page))
        return max(took)

    for count in counts:
        read = partial(slowest, MonthStore(count).port, count)
        yield count, None, read(1), read(50)


PARTS = {"hud": hud, "reward_model": reward_model, "api": api}
COLUMNS = ("memory_mb", "start_seconds", "look_seconds", "list_seconds")


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(part: str, counts: Sequence[int]) -> list[str]:
    """Print a line for each count; runs in a separate process."""
    lines = []
    for count, *times in PARTS[part](counts):
        status = Path("/proc/self/status").read_text().split()
        memory = int(status[status.index("VmHWM:") + 1]) // 1024
        shown = (f"{'-' if each is None else round(each, 4):>9}" for each in (memory, *times))
        lines.append(f"{part:12} {count:9,} {' '.join(shown)}")
        say(lines[-1])
    return lines


def figures_of(lines: Sequence[str]) -> dict[str, list[float | None]]:
    columns = zip(*(line.split()[2:] for line in lines), strict=True)
    return {
        name: [None if each == "-" else float(each) for each in column]
        for name, column in zip(COLUMNS, columns, strict=True)
    }


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--segments", type=int, default=30 * 24 * 3600, help="of the month (2,592,000)")
    add("--resume", type=Path, help="output of a run that ended early: its parts are not run again")
    options = parser.parse_args()
    counts = [int(each * options.segments) // ENVIRONMENTS * ENVIRONMENTS for each in SHARES]
    known = options.resume.read_text().splitlines() if options.resume else []
    begin()
    say("part          segments memory_mb     start      look      list")
    figures: dict[str, Any] = {}
    for part in PARTS:
        lines = [line for line in known if line.startswith(f"{part} ")]
        if [line.split()[1] for line in lines] == [f"{count:,}" for count in counts]:
            say("\n".join(lines))
        else:
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                lines = pool.submit(measure, part, counts).result()
        figures[part] = figures_of(lines)
    memory = {part: figures[part]["memory_mb"] for part in figures}
    missed = [part for part, (_, half, whole) in memory.items() if whole > MAX_GROWTH * half]
    return finish({"segments": options.segments, **figures, "missed": missed}, met=not missed)


if __name__ == "__main__":
    sys.exit(main())
