"""What a segment shows and what it was paid, written down while it is played: for people.

Judges never see it: it travels with the capture, of which they get nothing but the replay.
"""

import numpy as np
import numpy.typing as npt

from rlaif.contracts.captures import Amount, RoomNumber, SegmentPay
from rlaif.reward_net.pay import step_pay
from rlaif.trainer.play.paying_model import PayingModel
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.discounting import discount_of

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_DECIMALS = 6
"""Of potentials and what comes of them; a network's answers differ more between processors."""


class SegmentLog:
    """Follows one segment after the other, step by step; 0.3 µs a step."""

    def __init__(self, steps: int) -> None:
        self.most_steps = steps
        self._rows: Float32 = np.empty((steps + 1, 0), dtype=np.float32)
        self._clear()

    def _clear(self) -> None:
        self._steps = 0
        self._game: list[Amount] = []
        self._parts: dict[str, list[Amount]] = {}
        self._frames: list[int] = []
        self._dead: list[bool] = []
        self._rooms: dict[RoomNumber, None] = {}

    @property
    def rooms(self) -> tuple[RoomNumber, ...]:
        return tuple(self._rooms)

    def begin(self, row: Float32, facts: GameFacts) -> None:
        """A segment starts in this moment: `row` is `[D]`, the observation of it."""
        self._clear()
        if self._rows.shape[1] != len(row):
            self._rows = np.empty((self.most_steps + 1, len(row)), dtype=np.float32)
        self._rows[0] = row
        self._enter(facts)

    def note(
        self, row: Float32, facts: GameFacts, reward: float, parts: Float32, *, frames: int
    ) -> None:
        """A step of so many frames led to `row` and `facts`, and the game paid these parts."""
        step = self._steps
        self._steps += 1
        self._rows[self._steps] = row
        self._frames.append(frames)
        self._dead.append(facts.dead)
        self._enter(facts)
        if reward:
            self._game.append((step, reward))
        for part in np.flatnonzero(parts):
            self._parts.setdefault(PARTS[part], []).append((step, float(parts[part])))

    def _enter(self, facts: GameFacts) -> None:
        if facts.running and facts.settled:
            self._rooms.setdefault((facts.group, facts.room))

    def pay(self, model: PayingModel | None, *, terminated: bool) -> SegmentPay:
        """What was paid; `model` is asked about all of it at once, in about 0.3 ms.

        `terminated` says that the game ended with the last step: what follows is worth nothing.
        """
        game = {
            "game": tuple(self._game),
            "parts": {name: tuple(amounts) for name, amounts in self._parts.items()},
        }
        if model is None:
            return SegmentPay(**game)
        potentials = model.potential(self._rows[: self._steps + 1]).astype(np.float64)
        if not np.isfinite(potentials).all():  # the learner refuses such a model, and says so
            return SegmentPay(**game, reward_model_version=model.version)
        counted = self._counted(potentials)
        after = counted[1:].copy()
        if terminated:
            after[-1] = 0.0
        gamma = np.array([discount_of(n, model.gamma) for n in self._frames])
        paid = model.weight * step_pay(counted[:-1], after, gamma=gamma)
        return SegmentPay(
            **game,
            reward_model_version=model.version,
            weight=model.weight,
            gamma=model.gamma,
            potentials=_told(potentials),
            model=_told(paid),
        )

    def _counted(self, potentials: Float64) -> Float64:
        """Potentials from the segment's start; a death after which the game goes on changes none.

        The game puts the player somewhere else then, which is nobody's merit.
        """
        rises = np.diff(potentials)
        dead = np.array(self._dead, dtype=np.bool_)
        rises[dead | np.concatenate([[False], dead[:-1]])] = 0.0
        return np.concatenate([[0.0], np.cumsum(rises)])


def _told(values: Float64) -> tuple[float, ...]:
    return tuple(values.round(_DECIMALS).tolist())
