"""A chunk of a run's history: episodes and rewards between two of its environment steps.

Chunks are contiguous, so their sums are those of the run. To downsample without losses, merge
neighbouring chunks.
"""

from typing import Any, Self

from pydantic import AwareDatetime, Field, model_validator

from rlaif.contracts.model import Contract, Count, Positive

MAX_EPISODES = 200
"""Maximum rows of episodes in one chunk; about 6 kB."""

_COLUMNS = ("began", "gained", "rooms", "returns", "shaped", "lengths", "died")


class EndedEpisodes(Contract):
    """Episodes that ended in a chunk, as columns: row i of each belongs to one episode."""

    count: Count = Field(
        default=0,
        description="Episodes from the run's own start, without those of the search and of the "
        "curriculum.",
    )
    stride: Positive = Field(
        default=1, description="Episodes per row: if more than 200, only every second, fourth, …"
    )
    began: tuple[int | None, ...] = Field(
        default=(),
        max_length=MAX_EPISODES,
        description="Environment step of the run at the start of the iteration in which the "
        "episode began; null: unknown.",
    )
    gained: tuple[Count | None, ...] = Field(
        default=(), description="Milestones reached since its start, by RAM; null: unknown."
    )
    rooms: tuple[Count, ...] = Field(default=(), description="Distinct rooms.")
    returns: tuple[float, ...] = Field(default=(), description="Sum of the environment reward.")
    shaped: tuple[float | None, ...] = Field(
        default=(),
        description="Rise of weight * potential, the shaping reward without discounting; null: "
        "unknown.",
    )
    lengths: tuple[Count, ...] = Field(
        default=(), description="Emulator steps, of four frames each."
    )
    died: tuple[bool | None, ...] = Field(
        default=(), description="Whether a death ended it; null if deaths do not end episodes."
    )

    @model_validator(mode="after")
    def _has_whole_rows(self) -> Self:
        lengths = {len(column) for column in self.columns.values()}
        if len(lengths) != 1 or len(self.began) > self.count:
            raise ValueError("columns of different lengths, or more rows than episodes")
        return self

    @property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        return {name: getattr(self, name) for name in _COLUMNS}

    def thinned(self, stride: int) -> Self:
        """Thinned to one row per `stride` episodes, a multiple of the current stride."""
        step = stride // self.stride
        return self.model_copy(
            update={"stride": stride}
            | {name: column[::step] for name, column in self.columns.items()}
        )

    def and_then(self, later: Self) -> Self:
        """Both merged, with rows of one stride."""
        stride = max(self.stride, later.stride)
        one, other = self.thinned(stride), later.thinned(stride)
        while len(one.began) + len(other.began) > MAX_EPISODES:
            stride *= 2
            one, other = self.thinned(stride), later.thinned(stride)
        rows = {name: (*column, *other.columns[name]) for name, column in one.columns.items()}
        return self.model_copy(update={"count": self.count + later.count, "stride": stride} | rows)


class RunPoint(Contract):
    """History of a run between two of its environment steps."""

    since_step: Count = Field(description="End of the previous chunk.")
    env_step: Count = Field(description="End of this chunk.")
    at: AwareDatetime = Field(description="Trainer's clock at its end.")
    iterations: Positive
    episodes: EndedEpisodes = EndedEpisodes()
    oldest_open: int | None = Field(
        default=None,
        description="As `began`, of the oldest running episode at its end; null: unknown.",
    )
    paid: dict[str, float] = Field(
        default_factory=dict,
        description="Part of the reward → its sum: parts of the environment reward, `shaping` (of "
        "the reward model), `curiosity`, `guidance`.",
    )
    learned_from: float | None = Field(
        default=None,
        description="Sum of the rewards for PPO: that of `paid` except for discounts inside long "
        "actions and for steps of a planner; null: not measured.",
    )
    reward_model_version: int | None = Field(
        default=None, description="Live version in its last iteration; null for none."
    )
    entropy: float | None = Field(default=None, description="Of the policy, in its last iteration.")
    policy_lag: float | None = Field(
        default=None,
        description="Updates between sampling policy and learning policy, in its last iteration.",
    )
    steps_per_second: float | None = Field(default=None, description="Likewise.")
    learner: dict[str, float] = Field(
        default_factory=dict,
        description="Losses and other metrics of PPO in its last iteration, by RLlib's names.",
    )

    potential_mean: float | None = Field(
        default=None,
        description="Mean potential of the live reward model over the visited states; null: none "
        "is live, or not reported.",
    )

    def and_then(self, later: Self) -> Self:
        """This chunk and the following one, merged."""
        sums = dict(self.paid)
        for name, amount in later.paid.items():
            sums[name] = sums.get(name, 0.0) + amount
        learned = None
        if self.learned_from is not None and later.learned_from is not None:
            learned = self.learned_from + later.learned_from
        return later.model_copy(
            update={
                "since_step": self.since_step,
                "iterations": self.iterations + later.iterations,
                "episodes": self.episodes.and_then(later.episodes),
                "paid": sums,
                "learned_from": learned,
                "potential_mean": self._potential_with(later),
            }
        )

    def _potential_with(self, later: Self) -> float | None:
        """Mean over the iterations of both chunks."""
        if self.potential_mean is None or later.potential_mean is None:
            return self.potential_mean if later.potential_mean is None else later.potential_mean
        share = later.iterations / (self.iterations + later.iterations)
        return (1 - share) * self.potential_mean + share * later.potential_mean
