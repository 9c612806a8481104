"""Builds and parses all object keys of the bucket layout."""

import re
import unicodedata

from rlaif.storage.ports import InvalidKeyError

EPISODES_BUCKET = "zelda-episodes"
MODELS_BUCKET = "zelda-models"

_ID = "[a-z0-9][a-z0-9-]*"

FOLDERS = frozenset(
    (
        *("captures", "checkpoints", "comparisons", "evaluations", "keyframes", "pipeline"),
        *("probe", "rejudge", "rejudged", "reward_model", "rooms", "scores", "spent_tokens"),
    )
)
"""Top-level folders of both buckets; any other name in the episodes bucket is an episode."""

CHAMPION = "reward_model/champion.json"
WANTED_COMPARISONS = "reward_model/wanted_comparisons.json"
PROGRESS = "pipeline/progress.json"


def capture(episode_id: str, segment_id: str) -> str:
    """The capture of a segment."""
    return f"captures/{episode_id}/{segment_id}.capture"


def keyframe(sha256: str) -> str:
    """A save state, by the SHA-256 digest of its uncompressed bytes."""
    return f"keyframes/{sha256}.state.zst"


def room_picture(run_id: str, group: int, room: int) -> str:
    """Screenshot of a room at a run's first visit."""
    return f"rooms/{run_id}/{group}-{room}.png"


def segment(episode_id: str, segment_id: str, name: str) -> str:
    """A file of an exported segment, such as `states.jsonl` or `frames/000012.png`."""
    return f"{episode_id}/{segment_id}/{name}"


def manifest(episode_id: str, segment_id: str) -> str:
    """The commit point of an export."""
    return segment(episode_id, segment_id, "manifest.json")


def manifest_ids(key: str) -> tuple[str, str] | None:
    """(episode id, segment id) when `key` is a segment's manifest, else None."""
    return _ids(rf"({_ID})/({_ID})/manifest\.json", key)


def segment_file_ids(key: str) -> tuple[str, str] | None:
    """(episode id, segment id) when `key` is a file of an exported segment, else None."""
    ids = _ids(rf"({_ID})/({_ID})/.+", key)
    return None if ids is None or ids[0] in FOLDERS else ids


def score(judge_config: str, segment_id: str) -> str:
    """The commit point of a score."""
    return f"scores/{judge_config}/{segment_id}.json"


def scores(judge_config: str = "") -> str:
    """Prefix of all score objects, or of one judge configuration's."""
    return f"scores/{judge_config}/" if judge_config else "scores/"


def score_ids(key: str) -> tuple[str, str] | None:
    """(judge configuration, segment id) when `key` is a score object, else None."""
    return _ids(rf"scores/({_ID})/({_ID})\.json", key)


def human_config(revision: int) -> str:
    """Judge configuration of the `revision`-th human override of a segment, from 1."""
    return f"human-{revision}"


def human_revision(judge_config: str) -> int | None:
    """The revision if `judge_config` is that of human overrides, else None."""
    return _number("human-([1-9][0-9]*)", judge_config)


def comparison(judge_config: str, first: str, second: str) -> str:
    """The judges' comparison of two segments; `first` is the smaller id."""
    return f"comparisons/{judge_config}/{first}--{second}.json"


def comparisons(judge_config: str = "") -> str:
    """Prefix of all comparisons, or of one judge configuration's."""
    return f"comparisons/{judge_config}/" if judge_config else "comparisons/"


def rejudge(judge_config: str, segment_id: str = "") -> str:
    """The request to judge a segment again; without a segment, the prefix of all requests."""
    return f"rejudge/{judge_config}/{segment_id}.json" if segment_id else f"rejudge/{judge_config}/"


def rejudged(judge_config: str, segment_id: str) -> str:
    """The commit point of a second score, which replaces a provisional one."""
    return f"rejudged/{judge_config}/{segment_id}.json"


SPENT_TOKENS = "spent_tokens/"
"""Prefix of the token usage of judge replicas."""


def spent_tokens(day: str, replica: str = "") -> str:
    """Token usage of a replica on a day, `YYYY-MM-DD` in UTC; without one, the prefix of all."""
    return f"{SPENT_TOKENS}{day}/{replica}.json" if replica else f"{SPENT_TOKENS}{day}/"


def epoch_scores(epoch: int, kind: str) -> str:
    """The scores of one epoch in the specified format; `kind` is `jsonl` or `parquet`."""
    return f"scores/epoch_{epoch}/scores.{kind}"


def evaluation_summary(epoch: int) -> str:
    """Results of the evaluator pass over one epoch."""
    return f"evaluations/epoch_{epoch}/summary.json"


REWARD_MODELS = "reward_model/epoch_"
"""Prefix of all files of all published reward models."""


def reward_model_version(key: str) -> int | None:
    """The version when `key` is a reward model's manifest, else None."""
    return _number(r"reward_model/epoch_([1-9][0-9]*)/manifest\.json", key)


def reward_model(version: int, name: str) -> str:
    """A file of a published reward model: `rm.safetensors`, `rm.pt` or `manifest.json`."""
    return f"reward_model/epoch_{version}/{name}"


ACTIVATIONS = "reward_model/activations/"
"""Prefix of the copies of `CHAMPION`, one per activation."""


def activation(number: int) -> str:
    """The copy of `CHAMPION` of one activation; keys sort in numerical order."""
    return f"{ACTIVATIONS}{number:010d}.json"


def activation_number(key: str) -> int | None:
    """The number when `key` is the copy of a champion, else None."""
    return _number(rf"{ACTIVATIONS}([0-9]{{10}})\.json", key)


def checkpoint(epoch: int, name: str) -> str:
    """A file of the checkpoint at the end of an epoch, from the run that completed it last."""
    return f"checkpoints/epoch_{epoch}/{name}"


def run_checkpoints(run_id: str) -> str:
    """Prefix of all files of all checkpoints of a run."""
    return f"checkpoints/{run_id}/"


def run_checkpoint(run_id: str, folder: str, name: str) -> str:
    """A file of a checkpoint of a run."""
    return f"{run_checkpoints(run_id)}{folder}/{name}"


def run_attempts(run_id: str, first: int | None = None) -> str:
    """The claim of a machine to a run's attempts from `first`; without it, the prefix of all."""
    prefix = f"{run_checkpoints(run_id)}attempts/"
    return prefix if first is None else f"{prefix}{first}.json"


def evaluations(run_id: str) -> str:
    """Prefix of the evaluations of a run."""
    return f"evaluations/{run_id}/"


def evaluation(run_id: str, evaluation_id: str) -> str:
    """Results of a frozen policy on fixed seeds, by run."""
    return f"{evaluations(run_id)}{evaluation_id}.json"


VOTES = "reward_model/votes/"
"""Prefix of human votes on pairs, one object per vote or withdrawal."""


def vote(number: int) -> str:
    """One entry of the vote log; keys sort in numerical order."""
    return f"{VOTES}{number:010d}.json"


def vote_number(key: str) -> int | None:
    """The number if `key` is an entry of the vote log, else None."""
    return _number(rf"{VOTES}([0-9]{{10}})\.json", key)


def _ids(pattern: str, key: str) -> tuple[str, str] | None:
    match = re.fullmatch(pattern, key)
    return (match[1], match[2]) if match else None


def _number(pattern: str, text: str) -> int | None:
    match = re.fullmatch(pattern, text)
    return int(match[1]) if match else None


MAX_KEY_BYTES = 900
"""S3 allows 1,024 bytes; the rest is for a server's own prefix."""

MAX_PART_BYTES = 200
"""File systems allow 255 bytes per name."""


def check_key(key: str) -> str:
    """Return the key; raises InvalidKeyError with the violated rule."""
    problem = _problem(key)
    if problem is not None:
        raise InvalidKeyError(f"key {key[:200]!r} {problem}")
    return key


def _problem(key: str) -> str | None:
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if not 1 <= size <= MAX_KEY_BYTES:
        return f"has {size} bytes; 1 to {MAX_KEY_BYTES} are allowed"
    if "\\" in key or any(unicodedata.category(char) == "Cc" for char in key):
        return "has a backslash or a control character"
    parts = key.split("/")
    if "" in parts:
        return 'begins or ends with "/", or has "//"'
    if "." in parts or ".." in parts:
        return 'has a part "." or ".."'
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        return f"has a part of more than {MAX_PART_BYTES} bytes"
    return None
