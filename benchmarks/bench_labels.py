"""Start and training rounds of the reward model with a large number of scores in the store.

    python benchmarks/bench_labels.py                    or: make bench-labels
    python benchmarks/bench_labels.py --scores 5000

Scores as the judge writes them, 24 kB with the records of nine calls, are written to SeaweedFS, an
S3 server, in an order that their ids do not follow: eight environments in turns, episodes of 30
segments. Observations are shared by many segments, and manifests are written only for scores that
the service keeps; one that it reads besides would be a skipped score and ends the benchmark. Then a
separate process reads them with the service's own class:

    start       the first poll: all keys are listed, the kept scores are read
    look        a poll for one new score that an event named; half of the polls also list a page of
                all keys
    …cpu…       CPU time of these
    peak_mb     largest resident memory of the process; before_mb without any label

Exit code 0 if all targets are met: start 20 s, peak 600 MB, the slowest poll of twenty 0.2 s.
"""

import hashlib
import json
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import count, islice
from typing import Any

import numpy as np
from outcome import finish, parser_of, say

from rlaif.contracts.game.observation import LAYOUT_VERSION, OBSERVATION_SIZE
from rlaif.contracts.game.segments import StoredFile
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import CRITERIA, CriterionScore, ScoreRecord
from rlaif.reward_model.labels.label_log import sample
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.storage import keys
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import npy_bytes
from rlaif.testing.data.judging.scores import judge_call, score_record
from rlaif.testing.data.judging.segments import segment_manifest
from rlaif.testing.servers.s3_server import running_s3_server

TARGETS = {"start_seconds": 20.0, "peak_mb": 600.0, "look_seconds": 0.2}

ENVIRONMENTS = 8
SEGMENTS_OF_AN_EPISODE = 30
STEPS = 75
VARIANTS = 64
LOOKS = 20
WRITERS = 16
CONFIG = "c0123456789abcdef"
STORE = f"s3://{keys.EPISODES_BUCKET}"


def segment_ids(first: int = 0) -> Iterator[tuple[str, str]]:
    """(episode id, segment id), oldest first."""
    return map(ids_of, count(first))


def ids_of(number: int) -> tuple[str, str]:
    """(episode id, segment id) of the n-th segment: environments alternate."""
    index, environment = divmod(number, ENVIRONMENTS)
    episode, segment = divmod(index, SEGMENTS_OF_AN_EPISODE)
    episode_id = f"r260301090000-0-{environment // 4}-{environment % 4}-{episode:05d}"
    return episode_id, f"{episode_id}-s{segment:05d}"


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

    @property
    def score_bytes(self) -> int:
        """Mean size of a score object."""
        return sum(map(len, self._scores)) // len(self._scores)

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


def fill(store: ObjectStore, scores: int) -> None:
    """Write this many scores, and the manifests of those that a start reads."""
    writer = Writer(store)
    say(f"writing scores of {writer.score_bytes} bytes")
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda pair: writer.write(*pair), islice(segment_ids(), scores)))
        list(pool.map(lambda pair: writer.write_manifest(*pair), kept_ids(store)))


def kept_ids(store: ObjectStore) -> list[tuple[str, str]]:
    """(episode id, segment id) of the scores that a start reads."""
    times = {i.key: i.modified_at.timestamp() for i in store.scan(keys.scores(CONFIG))}
    segments = [
        key.rpartition("/")[2].removesuffix(".json") for key in sample(times, most_labels())
    ]
    return [(segment.rpartition("-")[0], segment) for segment in segments]


def most_labels() -> int:
    """The service's default."""
    return int(RewardModelSettings.model_fields["most_labels"].default)


def measure(credentials: S3Credentials, first_new: int) -> dict[str, Any]:
    """Start, then poll; runs in a separate process."""
    import rlaif.reward_model.app  # noqa: F401  # its memory is the service's
    from rlaif.reward_model.labels.label_log import LabelLog
    from rlaif.reward_model.labels.labels import of_newest_layout

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    store = open_store(STORE, credentials)
    log = LabelLog(store, judge_config=None, most_labels=most_labels())
    began, busy = time.perf_counter(), time.process_time()
    log.read_new(full=True)
    labels = of_newest_layout(log.labels)
    start, start_cpu = time.perf_counter() - began, time.process_time() - busy
    say(f"start: {start:.2f} s, {start_cpu:.2f} s of CPU, {len(labels)} labels")
    writer, looks, at_work = Writer(store), [], []
    for number, ids in enumerate(islice(segment_ids(first_new), LOOKS)):
        writer.write_manifest(*ids)
        key = writer.write(*ids)
        began, busy = time.perf_counter(), time.process_time()
        log.read_new([key], full=number == LOOKS // 2)
        labels = of_newest_layout(log.labels)
        looks.append(time.perf_counter() - began)
        at_work.append(time.process_time() - busy)
        assert any(item.segment_id == ids[1] for item in labels)
    assert set(log.skipped) <= {"older"}, log.skipped
    for name, row in (("looks:", looks), ("CPU:", at_work)):
        say(f"{name} {' '.join(f'{look:.3f}' for look in row)}")
    return {
        "start_seconds": round(start, 2),
        "start_cpu_seconds": round(start_cpu, 2),
        "look_seconds": round(max(looks), 3),
        "look_seconds_median": round(sorted(looks[: LOOKS // 2])[LOOKS // 4], 3),
        "look_listing_seconds_median": round(sorted(looks[LOOKS // 2 :])[LOOKS // 4], 3),
        "look_cpu_seconds": round(max(at_work), 3),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "before_mb": round(before),
        "labels": len(labels),
        "skipped": log.skipped,
    }


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--scores", type=int, default=100_000)
    scores = parser.parse_args().scores
    # Ensures that the server is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A new interpreter, which imports only the modules of the service.
    context = multiprocessing.get_context("spawn")
    with running_s3_server() as server, ProcessPoolExecutor(1, mp_context=context) as pool:
        fill(open_store(STORE, server.credentials), scores)
        result = pool.submit(measure, server.credentials, scores).result()
    missed = [name for name, most in TARGETS.items() if result[name] > most]
    figures = {"store": "s3, SeaweedFS", "scores": scores, **result, "missed": missed}
    return finish(figures, met=not missed)


if __name__ == "__main__":
    sys.exit(main())
