"""A month of segments in virtual time: memory, start-up, look-up and listing on the way.

    python benchmarks/simulate_month.py                     or: make simulate-month
    python benchmarks/simulate_month.py --segments 4000

One segment a second for 30 days. The services' own code, each part in a process of its own, reads a
store that makes the objects of the segments so far when they are read. At 10, 50 and 100 %:

    hud            read model. start: folding the newest events, as many as the streams hold;
                   look: a snapshot; list: 50 segments
    reward_model   labels. start: the first poll; look: a poll for eight announced scores; list: a
                   poll that reads a page of all keys (median over all of them)
    api            exporter and judge. look: 1, list: 50 captures, segments and scores at the begin,
                   in the middle and at the end of the keys

Times are in seconds, the slowest where not said otherwise; memory is the largest resident memory so
far, in MB. Exit code 0 if that is at 100 % at most 1.2 times as large as at 50 %.
"""

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

from bench_labels import CONFIG, ENVIRONMENTS, LOOKS, Writer, ids_of, most_labels
from outcome import begin, finish, parser_of, say

from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import CloudEvent
from rlaif.service.paging import PageRequest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectNotFoundError, ObjectStore
from rlaif.testing.data.events import segment_captured, segment_exported, segment_scored

MONTH = 30 * 24 * 3600
SHARES = (0.1, 0.5, 1.0)
MAX_GROWTH = 1.2
HELD = 190_000
"""Segments whose events the streams hold, at 160 MiB each."""

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
"""In order of their keys, too."""


def number_at(place: int, count: int) -> int:
    """Of the segment at a place in key order: those of an environment follow each other."""
    environment, index = divmod(place, count // ENVIRONMENTS)
    return index * ENVIRONMENTS + environment


class MonthStore:
    """The objects of the first `count` segments, of which only shared ones are kept."""

    def __init__(self) -> None:
        self.count = 0
        self._made: dict[str, bytes] = {}
        self._writer = Writer(self.port)

    @property
    def port(self) -> ObjectStore:
        return cast(ObjectStore, self)

    def put(self, key: str, data: bytes) -> None:
        self._made[key] = data

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        if key in self._made:
            return self._made[key]
        if ids := keys.manifest_ids(key):
            self._writer.write_manifest(*ids)
        elif ids := keys.score_ids(key):
            self._writer.write(ids[1].rpartition("-")[0], ids[1])
        else:
            raise ObjectNotFoundError(key)
        return self._made.pop(key)

    def head(self, key: str) -> ObjectInfo | None:
        return next(self.list(key), None)

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return self.list(prefix)

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        count, bound = self.count, max(prefix, after)
        for keys_of in FOLDERS:
            at = partial(_keys_at, keys_of, count)
            first = bisect_left(range(count), [bound], key=at)
            for place in range(max(0, first - 1), count):
                wanted = [key for key in at(place) if key > after and key.startswith(prefix)]
                if not wanted and at(place)[0] > bound:
                    break
                stored_at = START + timedelta(seconds=number_at(place, count))
                yield from (ObjectInfo(key, 1, stored_at) for key in wanted)


def _keys_at(keys_of: KeysOf, count: int, place: int) -> list[str]:
    return keys_of(*ids_of(number_at(place, count)))


Row = tuple[int, float | None, float, float]
"""Segments, and seconds of start, look and list."""


def hud(counts: Sequence[int]) -> Iterator[Row]:
    import rlaif.hud.app  # noqa: F401  # its memory is the service's
    from rlaif.hud.read_model.projections import HudState
    from rlaif.hud.read_model.segments.queries import SegmentFilter, ordered, with_gaps

    state = HudState(epoch="1", started_at=START)

    def fold(first: int, end: int) -> None:
        for number in range(first, end):
            episode_id, segment_id = ids_of(number)
            new = {"episode_id": episode_id, "segment_id": segment_id}
            for made in EVENTS:
                event = CloudEvent[Any].model_construct(
                    id=segment_id, source="rlaif", type=spec_of(type(made)).type,
                    time=START + timedelta(seconds=number), data=made.model_copy(update=new),
                )  # fmt: skip
                state.apply_event(event)

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
    from rlaif.reward_model.labels.label_log import KEYS_PER_POLL, LabelLog

    store = MonthStore()
    for count in counts:
        store.count = count
        log = LabelLog(store.port, judge_config=None, most_labels=most_labels())
        poll = log.read_new
        start, looks = seconds(partial(poll, full=True)), []
        for _ in range(LOOKS):
            new = range(store.count, store.count + ENVIRONMENTS)
            store.count += ENVIRONMENTS
            hints = [keys.score(CONFIG, ids_of(number)[1]) for number in new]
            looks.append(seconds(partial(poll, hints, full=False)))
        polls = range(store.count // KEYS_PER_POLL + 1)
        pages = [seconds(partial(poll, full=each == 0)) for each in polls]
        assert log.standings[0].scores == store.count, log.standings
        assert set(log.skipped) <= {"older"}, log.skipped
        yield count, start, max(looks), median(pages)


def api(counts: Sequence[int]) -> Iterator[Row]:
    from rlaif.exporter.api import capture_page, segment_page
    from rlaif.judge.api import ScoreSummary, page_of

    store = MonthStore()

    def read(limit: int) -> float:
        """Seconds of the slowest page."""
        took = []
        for place in (0, store.count // 2, store.count - 100):
            asked = [PageRequest(limit, _keys_at(each, store.count, place)[-1]) for each in FOLDERS]
            for page in (
                partial(capture_page, store.port, asked[0], frozenset(), episode_id=None),
                partial(segment_page, store.port, asked[1], episode_id=None),
                partial(page_of, store.port, keys.scores(CONFIG), asked[2], ScoreSummary),
            ):
                assert len(page().items) == limit
                took.append(seconds(page))
        return max(took)

    for store.count in counts:
        yield store.count, None, read(1), read(50)


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(part: str, counts: Sequence[int]) -> dict[str, list[float | None]]:
    """Figures at each count; runs in a process of its own."""
    names = ("memory_mb", "start_seconds", "look_seconds", "list_seconds")
    found: dict[str, list[float | None]] = {name: [] for name in names}
    for count, *times in {"hud": hud, "reward_model": reward_model, "api": api}[part](counts):
        status = Path("/proc/self/status").read_text().split()
        row = [int(status[status.index("VmHWM:") + 1]) // 1024, *times]
        say(
            f"{part:12} {count:9,}" + "".join(f"{'-' if x is None else f'{x:.4g}':>9}" for x in row)
        )
        for name, figure in zip(names, row, strict=True):
            found[name].append(None if figure is None else round(figure, 3))
    return found


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--segments", type=int, default=MONTH, help="of the month (2,592,000)")
    segments = parser.parse_args().segments
    counts = [int(share * segments) // ENVIRONMENTS * ENVIRONMENTS for share in SHARES]
    begin()
    say(f"{'part':12} {'segments':>9}{'MB':>9}{'start':>9}{'look':>9}{'list':>9}")
    figures: dict[str, Any] = {}
    for part in ("hud", "reward_model", "api"):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            figures[part] = pool.submit(measure, part, counts).result()
    memory = {part: figures[part]["memory_mb"] for part in figures}
    missed = [part for part, (_, half, whole) in memory.items() if whole > MAX_GROWTH * half]
    return finish({"segments": segments, **figures, "missed": missed}, met=not missed)


if __name__ == "__main__":
    sys.exit(main())
