"""The settings of the reward-model service; the blocks are what its parts take."""

from typing import Annotated

from pydantic import BaseModel, Field
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.ids import ID_PATTERN
from rlaif.reward_model.champions.reward_hacking_monitor import MonitorSettings
from rlaif.reward_model.labels.preferences import PairSettings
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.service.settings import Block, ServiceSettings


class TrainingSettings(BaseModel, frozen=True, extra="forbid"):
    """When the store is looked at, and when a candidate is trained."""

    retrain_min_new: int = Field(
        default=12,
        ge=1,
        description="New labels that start a training. More: fewer swaps of the reward, staler "
        "model. Fewer: fresher, and more chances for luck to pass the gate.",
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
        description="Pause between the beginnings of full listings of the scores, which find those "
        "whose events were lost. A look lists 1,000 keys of it, so that of very many scores takes "
        "longer. Shorter: more requests.",
    )


class RewardModelSettings(ServiceSettings):
    """When a candidate is trained, how, and what it must show to go live."""

    model_config = SettingsConfigDict(env_prefix="REWARD_MODEL_")

    port: int = Field(default=8084, ge=0, le=65535, description="TCP port to listen on.")

    judge_config: str | None = Field(
        default=None,
        pattern=ID_PATTERN,
        description="Judge configuration whose scores are learned; unset takes the newest one that "
        "has the labels of a first training. Scores of different configurations are never mixed.",
    )
    judge_config_silence_minutes: float = Field(
        default=15.0,
        gt=0,
        description="How long the judge configuration that is learned from may be silent while a "
        "newer one scores; then that one takes over, however few labels it has. More: longer on "
        "labels of judges that are gone. Less: an outage of theirs costs the labels.",
    )
    most_labels: int = Field(
        default=2000,
        ge=24,
        le=20_000,
        description="Labels that are learned from: half are the newest, half a sample of all ages "
        "and kinds. More: steadier, slower start and training, 10 kB of memory each. Fewer: "
        "follows the policy faster.",
    )
    heldout_fraction: float = Field(
        default=CandidateSettings.heldout_fraction,
        gt=0,
        lt=1,
        description="Share of episodes that test and never teach. More: surer gate, less to learn "
        "from.",
    )
    scale: float = Field(
        default=CandidateSettings.scale,
        gt=0,
        le=100,
        description="Bound of the potential. Higher: shaping weighs more against the game's own "
        "reward.",
    )
    gamma: float = Field(
        default=CandidateSettings.gamma,
        gt=0,
        lt=1,
        description="Discount of the trainer's PPO: what a segment is paid is reckoned with it.",
    )
    seed: int = Field(
        default=CandidateSettings.seed,
        ge=0,
        description="Seed of pairs, weights and resampling; any value is as good.",
    )
    gate: Annotated[
        GateSettings,
        Block(prefix="", names={"confidence": "gate_confidence", "level": "gate_level"}),
    ] = GateSettings()
    pairs: Annotated[PairSettings, Block(prefix="", names={"most_pairs": "pairs_per_segment"})] = (
        PairSettings()
    )
    fit: Annotated[FitSettings, Block(prefix="", names={"noise": "label_noise"})] = FitSettings()
    training: Annotated[TrainingSettings, Block(prefix="")] = TrainingSettings()
    watchdog: MonitorSettings = MonitorSettings()
    startup_retry_seconds: float = Field(
        default=2.0, gt=0, description="Pause between tries to reach NATS and S3 at the start."
    )

    @property
    def candidate(self) -> CandidateSettings:
        """What decides the outcome of a training."""
        return CandidateSettings(
            seed=self.seed,
            heldout_fraction=self.heldout_fraction,
            scale=self.scale,
            gamma=self.gamma,
            pairs=self.pairs,
            fit=self.fit,
            gate=self.gate,
        )
