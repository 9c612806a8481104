"""The reward model paid as a plain reward: its answers in, a bounded reward a step out.

pay = min(clip, max(0, z - threshold)) * N^-power, until the episode has had its cap.

z is the reward model's answer to the observation that a step reached, in the frozen units of its
file; of an ensemble it is the lower bound, mean - caution * std. N counts how often this episode
has been at that place with those possessions (`places_of`). A potential takes back what it gave;
a plain reward does not, so all that keeps it from being farmed is here: what is ordinary pays
nothing, a place pays once and then almost nothing, and an episode has a cap.

Klissarov et al. 2024 (Motif, arXiv 2310.00166) discount with N^-3 a message; Coste et al. 2023
(arXiv 2310.02743) take the lower bound of an ensemble.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.trainer.rewards.learned.observed_places import places_of
from rlaif.trainer.rewards.learned.shaping import Bool, Float32, Transitions
from rlaif.trainer.settings.rewards import AdditiveSettings

Int64 = npt.NDArray[np.int64]
Answers = Callable[[Float32], Float32]
"""`[B, D]` observations to `[B]` z."""


def lower_bound(members: Float32, caution: float) -> Float32:
    """`[M, B]` answers of an ensemble to `[B]`: mean - caution * standard deviation."""
    if len(members) == 1:
        only: Float32 = members[0]
        return only
    bound: Float32 = members.mean(axis=0) - np.float32(caution) * members.std(axis=0)
    return bound


@dataclass
class _Episode:
    """Where one environment's episode was how often, and what it was paid before the weight."""

    counts: dict[int, int] = field(default_factory=dict)
    paid: float = 0.0


@dataclass
class AdditiveRewards:
    """Pays consecutive fragments of the same environments.

    `capped` counts the episodes that have reached the cap so far.
    """

    settings: AdditiveSettings
    capped: int = 0
    _open: dict[int, list[_Episode]] = field(default_factory=dict)

    def pay(
        self,
        runner: int,
        transitions: Transitions,
        answers: Answers | None,
        *,
        continues: bool = True,
        by_planner: Bool | None = None,
    ) -> Float32:
        """Rewards of one fragment, `[T, N] float32`; none without `answers` of a reward model.

        A terminated step pays nothing: the observation that it reached is not kept. Nor does one in
        which the player died: the game put him where it leads. A runner that
        was started anew does not continue its open episodes. Steps `by_planner`, `[T, N] bool`, are
        paid nothing and take nothing of the cap; where they led counts as visited, as it does for
        the game's own rewards.
        """
        reached = transitions.reached()
        steps, envs, width = reached.shape
        pay = np.zeros((steps, envs), dtype=np.float64)
        if answers is not None:
            z = answers(reached.reshape(-1, width)).reshape(steps, envs)
            pay += np.clip(z - self.settings.threshold, 0.0, self.settings.clip)
            pay[transitions.torn] = 0.0
            if by_planner is not None:
                pay[by_planner] = 0.0
        places = places_of(reached)
        starts = places_of(transitions.observations)
        episodes = self._open.get(runner)
        if not continues or episodes is None or len(episodes) != envs:
            episodes = [_begin(int(place)) for place in starts[0]]
        for n in range(envs):
            episodes[n], column = self._walk(
                episodes[n],
                places[:, n].tolist(),
                pay[:, n].tolist(),
                transitions.ended[:, n].tolist(),
                starts[1:, n],
            )
            pay[:, n] = column
        self._open[runner] = episodes
        return (self.settings.weight * pay).astype(np.float32)

    def _walk(
        self,
        episode: _Episode,
        places: list[int],
        offered: list[float],
        ended: list[bool],
        next_starts: Int64,
    ) -> tuple[_Episode, list[float]]:
        """Discount and cap one environment's column; gives the episode that is open after it."""
        cap, power = self.settings.episode_cap, self.settings.count_power
        column = []
        for t, place in enumerate(places):
            visits = episode.counts[place] = episode.counts.get(place, 0) + 1
            wanted = offered[t] * visits**-power
            room = cap - episode.paid
            if wanted >= room > 0.0:
                self.capped += 1
                wanted, episode.paid = room, cap
            else:
                wanted = min(wanted, room)
                episode.paid += wanted
            column.append(wanted)
            if ended[t]:
                episode = _begin(int(next_starts[t]))
        return episode, column

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The open episodes as arrays.

        `owners` is `[E, 3] int64`: runner, environment, number of places; `places` and `counts`
        are theirs, one after the other; `paid` is `[E] float64`.
        """
        rows = [
            (runner, n, episode)
            for runner, episodes in self._open.items()
            for n, episode in enumerate(episodes)
        ]
        owners = [(runner, n, len(episode.counts)) for runner, n, episode in rows]
        return {
            "owners": np.array(owners, dtype=np.int64).reshape(-1, 3),
            "places": np.array([p for *_, e in rows for p in e.counts], dtype=np.int64),
            "counts": np.array([c for *_, e in rows for c in e.counts.values()], dtype=np.int64),
            "paid": np.array([episode.paid for *_, episode in rows], dtype=np.float64),
            "capped": np.array([self.capped], dtype=np.int64),
        }

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Resume with what `state_dict` gave."""
        places, counts = state["places"].tolist(), state["counts"].tolist()
        self._open, at = {}, 0
        for (runner, _, size), paid in zip(
            state["owners"].tolist(), state["paid"].tolist(), strict=True
        ):
            part = slice(at, at + size)
            episode = _Episode(dict(zip(places[part], counts[part], strict=True)), paid)
            self._open.setdefault(runner, []).append(episode)
            at += size
        self.capped = int(state["capped"][0])


def _begin(place: int) -> _Episode:
    return _Episode(counts={place: 1})
