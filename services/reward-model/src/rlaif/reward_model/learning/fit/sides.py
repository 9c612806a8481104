"""The two sides of the split, each with its pair table, pairs and the arrays derived from them."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.duplicates import merge_duplicates
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable, Preference, sample_preferences
from rlaif.reward_model.learning.settings import HELDOUT_FRACTION, CandidateSettings
from rlaif.reward_net.pay import Potential, paid_of_ends

_TWO_HELD_OUT_FROM = 4
_ROWS_PER_SEGMENT = 8

# Independent random streams: drawing more from one leaves the others unchanged. Other numbers would
# give other fits.
TRAIN_STREAM, HELDOUT_STREAM, BOOTSTRAP_STREAM, BAG_STREAM = 0, 1, 2, 3
PERMUTATION_STREAM = 5


@dataclass(frozen=True)
class Side:
    """Segments of one layout with pairs among them; pairs hold indices of `segments`.

    `table` compares any two of the segments.
    """

    name: str
    segments: list[LabelledSegment]
    table: PairTable
    preferences: list[Preference]

    @classmethod
    def make(
        cls,
        name: str,
        segments: list[LabelledSegment],
        settings: CandidateSettings,
        *,
        stream: int,
    ) -> Self:
        table = PairTable(segments)
        rng = np.random.default_rng([settings.seed, stream])
        return cls(name, segments, table, sample_preferences(table, rng=rng))

    def with_pairs(self, preferences: list[Preference]) -> Self:
        return replace(self, preferences=preferences)

    @cached_property
    def decided(self) -> list[Preference]:
        return [item for item in self.preferences if item.decided]

    @cached_property
    def episode_numbers(self) -> NDArray[np.int64]:
        """`[N]`: index of each segment's episode, in the order of the ids."""
        _, numbers = np.unique([item.episode_id for item in self.segments], return_inverse=True)
        return numbers.astype(np.int64)

    @property
    def episodes(self) -> int:
        return len({item.episode_id for item in self.segments})

    @cached_property
    def ends(self) -> NDArray[np.float32]:
        """`[N, 2, inputs]`: first and last observation of each segment."""
        return np.stack([item.observations[[0, -1]] for item in self.segments])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """`[N]`: label value of each segment; see `PairTable.values_of_all`."""
        return self.table.values_of_all()

    def pay(self, potential: Potential) -> NDArray[np.float64]:
        """`[N]`: shaping reward of each segment, taken as the beginning of an episode."""
        steps = np.array([item.decision_steps - 1 for item in self.segments], np.int64)
        return paid_of_ends(potential, self.ends, steps)


def split_sides(
    labels: Sequence[LabelledSegment], settings: CandidateSettings
) -> tuple[Side, Side]:
    """(training side, held-out side) without near-duplicates, whatever the order of `labels`."""
    unique = merge_duplicates(sorted(labels, key=lambda item: item.segment_id))
    held_out = held_out_episodes(item.episode_id for item in unique)
    train = [item for item in unique if item.episode_id not in held_out]
    heldout = [item for item in unique if item.episode_id in held_out]
    return (
        Side.make("train", train, settings, stream=TRAIN_STREAM),
        Side.make("heldout", heldout, settings, stream=HELDOUT_STREAM),
    )


def held_out_episodes(episode_ids: Iterable[str]) -> frozenset[str]:
    """Episodes that are held out, chosen by the hash of their id.

    Pairs are never split at random: two pairs that share a segment reveal each other's answer. An
    episode is held out if its hash is below `HELDOUT_FRACTION`. If that gives fewer than two (one
    below four episodes), those with the lowest hashes are held out; if all are below, the highest
    one trains. So from four episodes on, new episodes do not move an old one to the held-out side
    (except in that last case, one in 250), and a champion is not measured on episodes that it was
    trained on. With one episode nothing is held out.
    """
    ordered = sorted(set(episode_ids), key=lambda episode: (position(episode), episode))
    below = sum(position(episode) < HELDOUT_FRACTION for episode in ordered)
    minimum = min(2 if len(ordered) >= _TWO_HELD_OUT_FROM else 1, max(0, len(ordered) - 1))
    return frozenset(ordered[: min(max(below, minimum), max(0, len(ordered) - 1))])


def position(episode_id: str) -> float:
    """Position of an episode in [0, 1), by hash."""
    digest = hashlib.sha256(episode_id.encode()).digest()
    return float(int.from_bytes(digest[:6], "big")) / 2.0**48


def chosen(segments: Sequence[LabelledSegment], mask: NDArray[np.bool_]) -> list[LabelledSegment]:
    """The segments selected by an `[N]` mask."""
    return [segments[at] for at in np.flatnonzero(mask).tolist()]


def spaced_observations(segments: Sequence[LabelledSegment]) -> NDArray[np.float32]:
    """`[M, inputs]`: eight observations per segment, evenly spaced in time."""
    rows = []
    for item in segments:
        places = np.linspace(0, len(item.observations) - 1, _ROWS_PER_SEGMENT)
        rows.append(item.observations[places.round().astype(np.int64)])
    return np.concatenate(rows)
