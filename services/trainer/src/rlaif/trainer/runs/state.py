"""What the service knows of its run: messages fold into it, telemetry is made from it."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from rlaif.contracts.telemetry import RewardBreakdown, TrainingProgress
from rlaif.trainer.runs.protocol import (
    CheckpointSaved,
    Failed,
    IterationDone,
    Message,
    RewardModelLoaded,
    RewardModelRefused,
    Started,
)

Status = Literal["starting", "training", "stopping", "stopped", "failed"]


@dataclass(frozen=True)
class RunState:
    """A run as it stands.

    Attributes:
        run_id: Of the run.
        attempt: Which start of its process this is.
        status: See `Status`.
        last: The last iteration; None before the first one of this attempt.
        env_steps: Environment steps of the run, over all attempts.
        reward_model_version: Version that shapes rewards; None for none.
        reward_model_loaded_at_step: Environment step from which it does.
        checkpoint: Iteration of the last checkpoint.
        failure: Why it failed.
    """

    run_id: str
    attempt: int = 0
    status: Status = "starting"
    last: IterationDone | None = None
    env_steps: int = 0
    iteration: int = 0
    reward_model_version: int | None = None
    reward_model_loaded_at_step: int | None = None
    checkpoint: int | None = None
    failure: str | None = None

    def after(self, message: Message) -> "RunState":
        """The state once a message of the process is folded in."""
        match message:
            case Started():
                return replace(
                    self,
                    status="training",
                    env_steps=message.env_steps,
                    iteration=message.iteration,
                )
            case IterationDone():
                return replace(
                    self, last=message, env_steps=message.env_steps, iteration=message.iteration
                )
            case RewardModelLoaded():
                return replace(
                    self,
                    reward_model_version=message.version,
                    reward_model_loaded_at_step=message.env_step,
                )
            case RewardModelRefused():
                return self
            case CheckpointSaved():
                return replace(self, checkpoint=message.iteration)
            case Failed():
                return replace(self, failure=message.reason)

    def progress(self, now: datetime) -> TrainingProgress:
        """The state as telemetry; what is not known yet is null."""
        last = self.last
        return TrainingProgress(
            at=now,
            run_id=self.run_id,
            status=self.status,
            iteration=self.iteration,
            env_steps=self.env_steps,
            episodes=last.episodes if last else 0,
            steps_per_second=last.steps_per_second if last else None,
            episode_return_mean=last.episode_return_mean if last else None,
            shaped_return_mean=last.shaped_return_mean if last else None,
            episode_length_mean=last.episode_length_mean if last else None,
            rooms_mean=last.rooms_mean if last else None,
            segments_captured=last.segments_captured if last else 0,
            segments_skipped=last.segments_skipped if last else 0,
            reward_model_version=self.reward_model_version,
            reward_model_loaded_at_step=self.reward_model_loaded_at_step,
        )

    def reward(self, now: datetime) -> RewardBreakdown | None:
        """The parts of the reward of the last iteration; None before the first."""
        if self.last is None:
            return None
        parts = self.last.reward_parts
        return RewardBreakdown(
            at=now,
            run_id=self.run_id,
            env_step=self.env_steps,
            parts=parts,
            total=sum(parts.values()),
        )
