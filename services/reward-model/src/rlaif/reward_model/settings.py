"""The settings of the reward-model service."""

from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.ids import ID_PATTERN
from rlaif.service.settings import ServiceSettings


class RewardModelSettings(ServiceSettings):
    """When a candidate is trained, how, and what it must show to go live."""

    model_config = SettingsConfigDict(env_prefix="REWARD_MODEL_")

    port: int = Field(default=8084, ge=0, le=65535, description="TCP port to listen on.")

    judge_config: str | None = Field(
        default=None,
        pattern=ID_PATTERN,
        description="Judge configuration whose scores are learned; unset takes the one that scored "
        "last. Scores of different configurations are never mixed.",
    )
    most_labels: int = Field(
        default=2000,
        ge=24,
        le=20_000,
        description="Newest labels that are learned from. More: steadier, older behaviour counts "
        "longer, 40 kB of memory each. Fewer: follows the policy faster.",
    )
    min_labels: int = Field(
        default=24,
        ge=2,
        description="Labels before the first training. More: later and surer. Fewer: more "
        "candidates that the gate refuses.",
    )
    min_episodes: int = Field(
        default=4,
        ge=2,
        description="Episodes before the first training. More: later, tested on more variety.",
    )
    min_heldout_pairs: int = Field(
        default=20,
        ge=1,
        description="Decided held-out pairs that the gate needs. More: later and surer.",
    )
    retrain_min_new: int = Field(
        default=12,
        ge=1,
        description="New labels that start a training. More: fewer swaps of the reward, staler "
        "model. Fewer: fresher, and more chances for luck to pass the gate.",
    )
    heldout_fraction: float = Field(
        default=0.25,
        gt=0,
        lt=1,
        description="Share of episodes that test and never teach. More: surer gate, less to learn "
        "from.",
    )
    gate_confidence: float = Field(
        default=0.99,
        ge=0.5,
        lt=1,
        description="One-sided confidence that episodes can be ranked from other episodes better "
        "than by chance. Higher: pure noise passes less often (0.99: 1 candidate in 40), real "
        "signal needs more labels.",
    )
    champion_margin: float = Field(
        default=0.05,
        ge=0,
        le=0.5,
        description="By how much a candidate may fall short of the champion's held-out accuracy. "
        "Higher: fresher models win more easily. Lower: fewer swaps.",
    )
    max_ece: float = Field(
        default=0.25,
        gt=0,
        le=1,
        description="Largest calibration error on held-out pairs. Small held-out sides measure it "
        "too high (0.1 on 20 pairs that are right); lower it when there are hundreds of labels.",
    )
    min_probe_correlation: float = Field(
        default=0.5,
        ge=-1,
        le=1,
        description="Rank correlation with the champion below which a candidate must be better, "
        "not only about as good. Higher: steadier rewards, slower change.",
    )

    tie_band: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Rubric difference below which two segments are a tie. Higher: fewer, clearer "
        "pairs. Lower: more pairs that hang on one vote.",
    )
    tie_weight: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Loss weight of ties; 0 drops them. Higher: flatter potential among equals.",
    )
    pairs_per_segment: int = Field(
        default=16,
        ge=1,
        le=256,
        description="Most pairs of one segment. More: slower, little gained, as pairs of one "
        "segment repeat each other. Fewer: noisier.",
    )
    statistic: Literal["end_minus_start", "mean"] = Field(
        default="mean",
        description="What of a segment is compared: the mean of the network over its "
        "observations, or the rise from its first to its last one. The mean says which states "
        "belong to good segments and learns from fewer labels (ADR 0009).",
    )
    members: int = Field(
        default=5,
        ge=1,
        le=32,
        description="Networks of the ensemble. More: steadier, and says where it is unsure; each "
        "costs the trainer another 128-64-64-1 network.",
    )
    activation: Literal["relu", "tanh"] = Field(
        default="tanh",
        description="Between the layers of the 128-64-64-1 network. tanh learns from fewer labels; "
        "relu bends more sharply once there are thousands.",
    )
    epochs: int = Field(
        default=30,
        ge=1,
        le=1000,
        description="Passes over the segments. More: slower, closer to the penalised optimum. "
        "Fewer: underfits small sets.",
    )
    warm_epochs: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="Passes when the fit begins with the champion's weights. More: slower to "
        "publish, forgets the champion more.",
    )
    learning_rate: float = Field(
        default=3e-3,
        gt=0,
        le=0.1,
        description="Of Adam. Higher: faster, unsteady above 0.01. Lower: needs more epochs.",
    )
    weight_decay: float = Field(
        default=1e-2,
        ge=0,
        le=1,
        description="L2 penalty. Higher: smoother; from 0.04 on the network shrinks to a constant "
        "and is refused. Lower: learns small label sets by heart.",
    )
    label_noise: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="Share of pairs assumed to be labelled by chance. Higher: wrong labels pull "
        "less, right ones too.",
    )
    scale: float = Field(
        default=1.0,
        gt=0,
        le=100,
        description="Bound of the potential. Higher: shaping weighs more against the game's own "
        "reward.",
    )
    seed: int = Field(
        default=0, ge=0, description="Seed of pairs, weights and resampling; any value is as good."
    )
    threads: int = Field(
        default=1,
        ge=1,
        le=64,
        description="CPU threads of a training. More hardly helps a network this small, and takes "
        "them from the emulators.",
    )

    poll_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Pause between looks at the store without an event. Shorter: lost events are "
        "noticed sooner, more requests.",
    )
    relist_seconds: float = Field(
        default=120.0,
        gt=0,
        description="Pause between full listings of the scores, which find those that the short "
        "looks cannot. Shorter: more requests.",
    )
    watchdog_rollback: bool = Field(
        default=True,
        description="Whether an alarm of the watchdog goes back to the version before and pins it. "
        "False only counts and logs alarms.",
    )
    watchdog_pin_minutes: float = Field(
        default=30.0,
        ge=0,
        description="How long a roll-back stays; then candidates, which have learned by now what "
        "the judges say of it, may go live. 0: until a person unpins it.",
    )
    watchdog_iterations: int = Field(
        default=40,
        ge=4,
        le=10_000,
        description="Training iterations that the watchdog looks back on, at least. More: surer, "
        "and later.",
    )
    watchdog_episodes: int = Field(
        default=100,
        ge=1,
        description="Episodes that end in each half of them, at least: what the trainer tells of "
        "the game is the mean of its last 100. Fewer: earlier, and alarms for policies whose "
        "episodes have not ended yet.",
    )
    watchdog_rise: float = Field(
        default=0.05,
        gt=0,
        description="Rise of the mean potential over them, while versions are live, that counts. "
        "Higher: fewer alarms.",
    )
    watchdog_flat: float = Field(
        default=0.02,
        ge=0,
        description="Share by which milestones, rooms and the game's own return may rise and still "
        "count as flat. Higher: more alarms.",
    )
    startup_retry_seconds: float = Field(
        default=2.0, gt=0, description="Pause between tries to reach NATS and S3 at the start."
    )
