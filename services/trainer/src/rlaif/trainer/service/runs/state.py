"""What the service knows of its run: messages fold into it, telemetry is made from it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from rlaif.contracts.telemetry import (
    AssistanceStatus,
    CurriculumProgress,
    RewardBreakdown,
    SearchProgress,
    TrainingProgress,
    WorldProgress,
)
from rlaif.trainer.run_folder.plan import End
from rlaif.trainer.run_folder.protocol import (
    CheckpointNotSaved,
    CheckpointSaved,
    CurriculumTold,
    EvaluationDone,
    EvaluationFailed,
    Failed,
    Finished,
    IterationDone,
    Message,
    PhaseTold,
    RewardModelLoaded,
    RewardModelRefused,
    SearchTold,
    Started,
    WorldTold,
)
from rlaif.trainer.service.runs.planner_routes import Silences, outages, silences_after

Status = Literal["starting", "training", "waiting", "stopping", "stopped", "finished", "failed"]
"""`waiting`: for the disk, and tried again; `finished`: the run came to its end by itself;
`stopped`: somebody asked."""


@dataclass(frozen=True)
class RunState:
    """A run as it stands.

    Attributes:
        attempt: Which start of its process this is.
        last: The last iteration; None before the first one of this attempt.
        env_steps: Environment steps of the run, over all attempts.
        reward_model_loaded_at_step: Environment step from which it shapes rewards.
        reward_model_refused: The last one that did not load; None when none was refused since the
            last one that did.
        checkpoint: Iteration of the last checkpoint.
        finished: Why it came to its end; None while it can be resumed.
        failure_is_final: Trying again would fail in the same way.
        waiting_for: What the disk or this machine does not give, so that nothing trains.
        not_saved: Why the last checkpoint was not saved; None when it was.
        not_written: Why the last iteration left less on disk than it should; None when it did not.
        silences: Routes of the planner that did not answer last.
        phase: Of a run that searches first; None before it told.
        search: What the search told last, over all attempts; None when there was none.
        curriculum: Likewise of the curriculum.
        world: Likewise of the game's world.
    """

    run_id: str
    attempt: int = 0
    status: Status = "starting"
    last: IterationDone | None = None
    env_steps: int = 0
    iteration: int = 0
    reward_model_version: int | None = None
    reward_model_loaded_at_step: int | None = None
    reward_model_refused: RewardModelRefused | None = None
    checkpoint: int | None = None
    finished: End | None = None
    evaluation: EvaluationDone | None = None
    failure: str | None = None
    failure_is_final: bool = False
    waiting_for: str | None = None
    not_saved: str | None = None
    not_written: str | None = None
    silences: Silences = field(default_factory=dict)
    phase: PhaseTold | None = None
    search: SearchTold | None = None
    curriculum: CurriculumTold | None = None
    world: WorldTold | None = None

    def begun_again(self, attempt: int) -> "RunState":
        """The state of another attempt: what lasts longer than a process stays."""
        return RunState(
            run_id=self.run_id,
            attempt=attempt,
            env_steps=self.env_steps,
            search=self.search,
            curriculum=self.curriculum,
            world=self.world,
        )

    def after(self, message: Message) -> "RunState":
        """The state once a message of the process is folded in."""
        match message:
            case Started():
                return replace(
                    self,
                    status="training",
                    env_steps=message.env_steps,
                    iteration=message.iteration,
                    checkpoint=None if message.restored_from is None else message.iteration,
                )
            case IterationDone():
                return replace(
                    self,
                    last=message,
                    env_steps=message.env_steps,
                    iteration=message.iteration,
                    not_written=message.not_written,
                    silences={}
                    if message.assistance is None
                    else silences_after(self.silences, message.assistance),
                )
            case RewardModelLoaded() | RewardModelRefused():
                return self._after_model(message)
            case CheckpointSaved():
                return replace(self, checkpoint=message.iteration, not_saved=None)
            case CheckpointNotSaved():
                return replace(self, not_saved=message.reason)
            case PhaseTold() | SearchTold() | CurriculumTold():
                return self._after_quest(message)
            case WorldTold():
                return replace(self, world=message)
            case EvaluationDone():
                return replace(self, evaluation=message)
            case EvaluationFailed():
                return self
            case Finished():
                return replace(self, finished=None if message.why == "asked" else message.why)
            case Failed():
                return replace(
                    self,
                    failure=message.reason,
                    failure_is_final=message.is_final,
                    waiting_for=message.of_disk,
                )

    def _after_quest(self, message: PhaseTold | SearchTold | CurriculumTold) -> "RunState":
        if isinstance(message, CurriculumTold):
            return replace(self, curriculum=message)
        if isinstance(message, PhaseTold):
            told = replace(self, phase=message)
            learner_is_next = message.phase == "policy"
        else:
            told = replace(self, search=message)
            learner_is_next = not message.running
        # What a run does before its learner is built is no waiting for that.
        works = self.status == "starting" and not learner_is_next
        return replace(told, status="training") if works else told

    def _after_model(self, message: RewardModelLoaded | RewardModelRefused) -> "RunState":
        if isinstance(message, RewardModelLoaded):
            return replace(
                self,
                reward_model_version=message.version,
                reward_model_loaded_at_step=message.env_step,
                reward_model_refused=None,
            )
        refused = replace(self, reward_model_refused=message)
        if not message.rolled_back:
            return refused
        return replace(
            refused,
            reward_model_version=message.counts,
            reward_model_loaded_at_step=None if message.counts is None else self.env_steps,
        )

    @property
    def figures(self) -> dict[str, Any]:
        """What is known of `RunFigures`; empty before the first iteration of this attempt."""
        return self.last.figures() if self.last is not None else {}

    @property
    def disk_trouble(self) -> str | None:
        """What the disk does to the run now, in one sentence; None when nothing."""
        if self.waiting_for is not None:
            return (
                f"run {self.run_id} waits: {self.waiting_for}; make room or mend the disk, and "
                "training resumes by itself within a minute"
            )
        if self.not_saved is not None:
            return f"training goes on, but no checkpoint is saved: {self.not_saved}; make room"
        if self.not_written is not None:
            return f"training goes on, but the disk does not take all: {self.not_written}"
        return None

    @property
    def learning_trouble(self) -> str | None:
        """Why the last iteration taught nothing, in one sentence; None when it did."""
        if self.last is None or self.last.not_learned is None:
            return None
        return f"run {self.run_id} plays but does not learn: {self.last.not_learned}"

    @property
    def planner_trouble(self) -> str | None:
        """Which routes of the planner give no answer, in one sentence; None when all do."""
        return "; ".join(outages(self.silences).values()) or None

    @property
    def standing(self) -> dict[str, Any]:
        """What readings and REST say alike, by field."""
        refused = self.reward_model_refused
        return {
            **self.figures,
            "run_id": self.run_id,
            "status": self.status,
            "iteration": self.iteration,
            "env_steps": self.env_steps,
            "reward_model_version": self.reward_model_version,
            "reward_model_loaded_at_step": self.reward_model_loaded_at_step,
            "reward_model_refused": refused.version if refused else None,
            "reward_model_refusal": refused.reason if refused else None,
            "trouble": self.disk_trouble or self.learning_trouble,
            "phase": self.phase.phase if self.phase else None,
            "phase_words": self.phase.words if self.phase else None,
        }

    def progress(self, now: datetime) -> TrainingProgress:
        """The state as telemetry; what is not known yet is null."""
        return TrainingProgress(at=now, **self.standing)

    def assistance(self, now: datetime) -> AssistanceStatus:
        """What the language model did, as telemetry."""
        told = self.last.assistance if self.last is not None else None
        return AssistanceStatus(
            at=now,
            run_id=self.run_id,
            env_steps=self.env_steps,
            has_planner=None if self.last is None else told is not None,
            by_mode=told.of_run if told is not None else {},
            down=outages(self.silences),
        )

    def found(self, now: datetime) -> SearchProgress | None:
        """What the search found, as telemetry; None when there was none."""
        told = self.search
        if told is None:
            return None
        return SearchProgress(at=now, run_id=self.run_id, **dict(told))

    def course(self, now: datetime) -> CurriculumProgress | None:
        """How far the curriculum came, as telemetry; None when there was none."""
        told = self.curriculum
        if told is None:
            return None
        return CurriculumProgress(at=now, run_id=self.run_id, **dict(told))

    def explored(self, now: datetime) -> WorldProgress | None:
        """What the run has seen of the game's world, as telemetry; None before it told."""
        told = self.world
        if told is None:
            return None
        return WorldProgress(at=now, run_id=self.run_id, **dict(told))

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
