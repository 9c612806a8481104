"""Which episodes are held out: by hash, so that no label and no order has a say.

Pairs are never split at random: two pairs that share a segment tell each other's answer, and a
network that learned nothing then looks 95 % right (measured on pure noise).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

_TWO_HELD_OUT_FROM = 4


@dataclass(frozen=True)
class Split:
    """Two disjoint sets of episode ids."""

    train: frozenset[str]
    heldout: frozenset[str]


def split_episodes(episode_ids: Iterable[str], *, heldout_fraction: float) -> Split:
    """Divide episodes between training and the held-out set; repeats count once.

    An episode is held out when its hash falls below `heldout_fraction`. While that gives fewer
    than two (one below four episodes), those with the lowest hashes are held out instead; when all
    fall below, the highest is trained on. So from four episodes on, new ones never move an old one
    from training to the held-out set (but for that last case, one in 250 with four), and a champion
    is not measured on episodes that it was trained on. Both sides are non-empty from two episodes
    on; with one episode nothing is held out.
    """
    ordered = sorted(set(episode_ids), key=lambda episode: (position(episode), episode))
    below = sum(position(episode) < heldout_fraction for episode in ordered)
    least = min(2 if len(ordered) >= _TWO_HELD_OUT_FROM else 1, max(0, len(ordered) - 1))
    count = min(max(below, least), max(0, len(ordered) - 1))
    return Split(train=frozenset(ordered[count:]), heldout=frozenset(ordered[:count]))


def position(episode_id: str) -> float:
    """The episode's fixed place in [0, 1)."""
    digest = hashlib.sha256(episode_id.encode()).digest()
    return float(int.from_bytes(digest[:6], "big")) / 2.0**48
