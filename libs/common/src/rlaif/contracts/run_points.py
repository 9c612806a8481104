"""A piece of a run's past: what was played and paid between two environment steps of it.

Pieces follow each other without a gap, so their sums are the run's. To downsample, add
neighbouring pieces; nothing is lost.
"""

from typing import Any, Self

from pydantic import AwareDatetime, Field, model_validator

from rlaif.contracts.model import Contract

MAX_EPISODES = 200
"""Episodes that one piece reports one by one; some 6 kB."""

_COLUMNS = ("began", "gained", "rooms", "returns", "shaped", "lengths", "died")


class EndedEpisodes(Contract):
    """Episodes that ended in a piece, by columns: row i of each is one of them."""

    count: int = Field(default=0, ge=0, description="All of them; tries of practice are none.")
    stride: int = Field(
        default=1, ge=1, description="A row stands for so many: of more than 200, every second..."
    )
    began: tuple[int | None, ...] = Field(
        default=(),
        max_length=MAX_EPISODES,
        description="Environment step of the run at which the iteration began in which the episode "
        "did; null when it is not known any more.",
    )
    gained: tuple[int | None, ...] = Field(
        default=(), description="Story steps reached since its start, by RAM; null: not known."
    )
    rooms: tuple[int, ...] = Field(default=(), description="Distinct rooms.")
    returns: tuple[float, ...] = Field(default=(), description="Sum of the game's own reward.")
    shaped: tuple[float | None, ...] = Field(
        default=(), description="What the reward model paid in it; null: not known."
    )
    lengths: tuple[int, ...] = Field(default=(), description="Steps of four frames.")
    died: tuple[bool | None, ...] = Field(
        default=(), description="Whether a death ended it; null where deaths end nothing."
    )

    @model_validator(mode="after")
    def _has_whole_rows(self) -> Self:
        lengths = {len(column) for column in self.columns.values()}
        if len(lengths) != 1 or len(self.began) > self.count:
            raise ValueError("columns of different lengths, or more rows than episodes")
        return self

    @property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def thinned(self, stride: int) -> Self:
        """One row for `stride` episodes; a multiple of what it is now."""
        step = stride // self.stride
        return self.model_copy(
            update={"stride": stride}
            | {name: column[::step] for name, column in self.columns.items()}
        )

    def and_then(self, later: Self) -> Self:
        """Both together, with rows that stand for equally many episodes."""
        stride = max(self.stride, later.stride)
        one, other = self.thinned(stride), later.thinned(stride)
        while len(one.began) + len(other.began) > MAX_EPISODES:
            stride *= 2
            one, other = self.thinned(stride), later.thinned(stride)
        rows = {name: (*column, *other.columns[name]) for name, column in one.columns.items()}
        return self.model_copy(update={"count": self.count + later.count, "stride": stride} | rows)


class RunPoint(Contract):
    """What happened in a run between two environment steps of it."""

    since_step: int = Field(ge=0, description="Where the piece before ended.")
    env_step: int = Field(ge=0, description="Where it ends.")
    at: AwareDatetime = Field(description="Trainer's clock at its end.")
    iterations: int = Field(ge=1)
    episodes: EndedEpisodes = EndedEpisodes()
    oldest_open: int | None = Field(
        default=None,
        description="As `began`, of the episode that runs longest at its end: of those that began "
        "before, all have ended. Null: not known.",
    )
    paid: dict[str, float] = Field(
        default_factory=dict,
        description="Part of the reward → its sum: the game's own parts, `shaping` (what the "
        "reward model paid), `curiosity`, `guidance`.",
    )
    learned_from: float | None = Field(
        default=None,
        description="Sum of the rewards that PPO learned from. It is the sum of `paid`, but for "
        "what is discounted inside decisions of many steps and for steps of a planner; null: not "
        "measured.",
    )
    reward_model_version: int | None = Field(
        default=None, description="That paid in its last iteration; null for none."
    )
    entropy: float | None = Field(default=None, description="Of the policy, in its last iteration.")
    policy_lag: float | None = Field(
        default=None,
        description="Updates between the policy that played and the one that learned, likewise.",
    )
    steps_per_second: float | None = Field(default=None, description="Likewise.")

    def and_then(self, later: Self) -> Self:
        """This piece and the one behind it as one."""
        sums = dict(self.paid)
        for name, amount in later.paid.items():
            sums[name] = sums.get(name, 0.0) + amount
        known = None not in (self.learned_from, later.learned_from)
        return later.model_copy(
            update={
                "since_step": self.since_step,
                "iterations": self.iterations + later.iterations,
                "episodes": self.episodes.and_then(later.episodes),
                "paid": sums,
                "learned_from": (self.learned_from or 0.0) + (later.learned_from or 0.0)
                if known
                else None,
            }
        )
