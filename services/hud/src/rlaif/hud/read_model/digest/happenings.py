"""What happened between two moments, counted and summed up: all that a digest may speak of.

Each field is one kind of happening, None or empty when it did not happen or is not known. A number
that stands in a sentence stands here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from rlaif.hud.read_model.history.bootstrap import Difference

T = TypeVar("T")


@dataclass(frozen=True)
class Many:
    """How many there were; `at_least` when older ones are not kept any more."""

    count: int
    at_least: bool = False


@dataclass(frozen=True)
class Several(Generic[T]):
    """The newest of some happenings of one kind, and how many they were."""

    newest: T
    many: Many


@dataclass(frozen=True)
class TakenBack:
    """The watchdog, or newer labels, took the live reward model out of use.

    Attributes:
        left: The version that was live; None: not known.
        taken: The one in its place; None: none.
    """

    at: datetime
    by: Literal["watchdog", "demotion"]
    left: int | None
    taken: int | None
    words: str | None


@dataclass(frozen=True)
class ByHand:
    """A person chose, pinned or unpinned a reward model."""

    at: datetime
    did: Literal["chose", "pinned", "unpinned"]
    version: int
    words: str | None


@dataclass(frozen=True)
class Passed:
    """A reward model that the gate let through.

    Attributes:
        heldout_accuracy: In [0, 1], of `heldout_pairs` pairs.
    """

    at: datetime
    version: int
    heldout_accuracy: float
    heldout_pairs: int


@dataclass(frozen=True)
class Paying:
    """A load: from this environment step of the run on a version paid; None: none."""

    at: datetime
    version: int | None
    env_step: int


@dataclass(frozen=True)
class Refused:
    """A candidate that the gate refused."""

    at: datetime
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Silence:
    """A judge whose language model gave no answer to `calls` calls in a row.

    Attributes:
        at: When it began.
        until: When it answered again; None while it does not.
    """

    at: datetime
    judge: str
    calls: int
    until: datetime | None


@dataclass(frozen=True)
class GivenUp:
    """An event that a consumer gave up."""

    at: datetime
    consumer: str
    reason: str


@dataclass(frozen=True)
class Begun:
    """A training process began with the run, or went on with it."""

    at: datetime
    run_id: str
    attempt: int
    env_step: int


@dataclass(frozen=True)
class Reached:
    """A milestone, and the first captured segment that is known to reach it.

    Attributes:
        can_be_opened: Whether the segment was exported, so that its page has something to show.
    """

    at: datetime
    milestone: str
    env_step: int
    episode_id: str
    segment_id: str
    can_be_opened: bool


@dataclass(frozen=True)
class Scored:
    """What the judges gave.

    Attributes:
        mean, best: In [0, 1]; `best` is of the segment that is named, scored `at`.
    """

    at: datetime
    segments: Many
    mean: float
    best: float
    episode_id: str
    segment_id: str


@dataclass(frozen=True)
class Agreed:
    """How far the language models' votes agreed: the mean over segments, in [0, 1]."""

    at: datetime
    segments: Many
    mean: float


@dataclass(frozen=True)
class Played:
    """How far the run came.

    Attributes:
        episodes: That ended.
        milestones: Of an episode: those that began before, and those that began since.
        least: Episodes that each side needs to be compared.
        confidence: Of the interval of the difference, in (0, 1).
    """

    at: datetime
    from_step: int
    to_step: int
    episodes: int
    milestones: Difference
    least: int
    confidence: float


@dataclass(frozen=True)
class TookOver:
    """Another environment's screen took the place of one that had fallen silent."""

    at: datetime
    left: str
    taken: str


@dataclass(frozen=True)
class Happenings:
    """All of it.

    Attributes:
        silences: Of all judges, oldest first.
        reached: Newest first.
    """

    taken_back: TakenBack | None = None
    by_hand: ByHand | None = None
    passed: Several[Passed] | None = None
    paying: Paying | None = None
    refused: Several[Refused] | None = None
    silences: tuple[Silence, ...] = ()
    given_up: Several[GivenUp] | None = None
    begun: Several[Begun] | None = None
    reached: tuple[Reached, ...] = ()
    scored: Scored | None = None
    agreed: Agreed | None = None
    played: Played | None = None
    took_over: Several[TookOver] | None = None
