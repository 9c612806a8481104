"""State of a run in the service: folded from messages, and the source of telemetry and REST."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from rlaif.contracts.telemetry.assistance import ModeFigures
from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    CurriculumProgress,
    RewardBreakdown,
    SearchProgress,
    Telemetry,
    TrainingProgress,
    WorldProgress,
)
from rlaif.trainer.run_folder import protocol
from rlaif.trainer.run_folder.plan import End

Status = Literal["starting", "training", "waiting", "stopping", "stopped", "finished", "failed"]
"""`waiting`: for the disk, retried; `finished`: the run ended by itself; `stopped`: on request."""

_UNANSWERED = ("timeout", "throttled", "refused", "error", "invalid")
"""Outcomes of calls without a usable answer; `dropped` calls were aborted."""

_OUTAGE_CALLS = 3
"""Consecutive calls without a usable answer that count as an outage."""


@dataclass(frozen=True)
class Outage:
    """A planner route since its last usable answer.

    Attributes:
        calls: Calls without one.
        outcome: The most frequent outcome of the newest of them.
        reason: A description of the outcome; may be empty.
        rests: Whether the planner pauses calls to the route.
    """

    calls: int = 0
    outcome: str = "error"
    reason: str = ""
    rests: bool = False

    def after(self, figures: ModeFigures, reasons: Sequence[str]) -> "Outage | None":
        """Fold in the calls of one iteration; None once the route answers, or was not called."""
        calls = figures.calls
        if calls.get("ok", 0) > figures.cached:
            return None
        lost = {name: calls[name] for name in _UNANSWERED if calls.get(name)}
        if not lost and not self.calls:
            return None
        return Outage(
            calls=self.calls + sum(lost.values()),
            outcome=max(lost, key=lambda name: lost[name], default=self.outcome),
            reason=next((each for each in reversed(reasons) if each), self.reason),
            rests=figures.not_asked.get("resting", 0) > 0 or (self.rests and not lost),
        )

    def description(self, mode: str) -> str:
        calls = "call" if self.calls == 1 else f"{self.calls} calls"
        reason = f" ({self.reason})" if self.reason else ""
        return (
            f"planner route {mode} gives no usable answer: the last {calls} ended with "
            f"{self.outcome}{reason}; training continues without it"
        )


Outages = Mapping[str, Outage]
"""Route → its calls since the last answer; routes whose last call was answered are not in it."""


def _outages_after(before: Outages, done: protocol.AssistanceDone | None) -> Outages:
    """Fold in one iteration; a route that was not called keeps its state."""
    if done is None:
        return {}
    after = dict(before)
    for mode, figures in done.by_mode.items():
        reasons = [e.ending_reason for e in done.events if e.mode == mode and e.call != "ok"]
        outage = after.pop(mode, Outage()).after(figures, reasons)
        if outage is not None:
            after[mode] = outage
    return after


@dataclass(frozen=True)
class RunState:
    """State of a run.

    Attributes:
        attempt: Number of earlier starts of its process.
        last: The last iteration; None before the first one of this attempt.
        env_steps: Environment steps of the run, over all attempts.
        reward_model_loaded_at_step: Environment step from which the model shapes rewards.
        reward_model_refused: The last model that did not load; None once a later one did.
        checkpoint: Iteration of the last checkpoint.
        finished: Why it ended; None while it can be resumed.
        evaluating: Whether a policy is being evaluated now.
        failure_is_final: Another attempt would fail in the same way.
        waiting_for: Missing resource of disk or machine without which the run cannot train.
        not_saved: Why the last checkpoint was not saved; None if it was.
        not_written: Files that the last iteration could not write, with the reason; None if none.
        outages: Planner routes without a recent answer.
        phase: Phase of a run of mode `quest`.
        search: The last report of the search, over all attempts; None without one.
        curriculum: The last report of the curriculum, over all attempts.
        world: The last report on the game's world, over all attempts.
        game: Name of the game; None until its process starts.
    """

    run_id: str
    attempt: int = 0
    status: Status = "starting"
    last: protocol.IterationDone | None = None
    env_steps: int = 0
    iteration: int = 0
    reward_model_version: int | None = None
    reward_model_loaded_at_step: int | None = None
    reward_model_refused: protocol.RewardModelRefused | None = None
    checkpoint: int | None = None
    finished: End | None = None
    evaluation: protocol.EvaluationDone | None = None
    evaluating: bool = False
    failure: str | None = None
    failure_is_final: bool = False
    waiting_for: str | None = None
    not_saved: str | None = None
    not_written: str | None = None
    outages: Outages = field(default_factory=dict)
    phase: protocol.PhaseReport | None = None
    search: protocol.SearchReport | None = None
    curriculum: protocol.CurriculumReport | None = None
    world: protocol.WorldReport | None = None
    game: str | None = None

    def of_attempt(self, attempt: int) -> "RunState":
        """The initial state of another attempt, with the fields that persist across processes."""
        return RunState(
            run_id=self.run_id,
            attempt=attempt,
            env_steps=self.env_steps,
            search=self.search,
            curriculum=self.curriculum,
            world=self.world,
        )

    def after(self, message: protocol.Message) -> "RunState":
        """The state with a message of the process folded in."""
        match message:
            case protocol.Started():
                return replace(
                    self,
                    status="training",
                    failure=None,
                    env_steps=message.env_steps,
                    iteration=message.iteration,
                    checkpoint=None if message.restored_from is None else message.iteration,
                )
            case protocol.IterationDone():
                return replace(
                    self,
                    last=message,
                    env_steps=message.env_steps,
                    iteration=message.iteration,
                    not_written=message.not_written,
                    outages=_outages_after(self.outages, message.assistance),
                )
            case protocol.RewardModelLoaded() | protocol.RewardModelRefused():
                return self._after_model(message)
            case protocol.CheckpointSaved():
                return replace(self, checkpoint=message.iteration, not_saved=None)
            case protocol.CheckpointNotSaved():
                return replace(self, not_saved=message.reason)
            case protocol.PhaseReport() | protocol.SearchReport() | protocol.CurriculumReport():
                return self._after_quest(message)
            case protocol.WorldReport():
                return replace(self, world=message)
            case protocol.EvaluationDone():
                return replace(self, evaluation=message, evaluating=False)
            case protocol.EvaluationStarted() | protocol.EvaluationFailed():
                return replace(self, evaluating=isinstance(message, protocol.EvaluationStarted))
            case protocol.Finished():
                return replace(self, finished=None if message.why == "asked" else message.why)
            case protocol.Failed():
                return replace(
                    self,
                    failure=message.reason,
                    failure_is_final=message.is_final,
                    waiting_for=message.of_disk,
                )

    def _after_quest(
        self, message: protocol.PhaseReport | protocol.SearchReport | protocol.CurriculumReport
    ) -> "RunState":
        if isinstance(message, protocol.CurriculumReport):
            return replace(self, curriculum=message)
        if isinstance(message, protocol.PhaseReport):
            after = replace(self, phase=message)
            learner_is_next = message.phase == "policy"
        else:
            after = replace(self, search=message)
            learner_is_next = not message.running
        # A run that searches is not waiting for its learner.
        works = self.status == "starting" and not learner_is_next
        return replace(after, status="training") if works else after

    def _after_model(
        self, message: protocol.RewardModelLoaded | protocol.RewardModelRefused
    ) -> "RunState":
        if isinstance(message, protocol.RewardModelLoaded):
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
    def disk_issue(self) -> str | None:
        if self.waiting_for is not None:
            return (
                f"run {self.run_id} waits: {self.waiting_for}; free space or repair the disk, and "
                "training resumes automatically within a minute"
            )
        if self.not_saved is not None:
            return f"training continues, but no checkpoint is saved: {self.not_saved}; free space"
        if self.not_written is not None:
            return f"training continues, but not everything can be written: {self.not_written}"
        return None

    @property
    def learning_issue(self) -> str | None:
        """Why the last iteration updated nothing or without its demonstrations; None if neither."""
        last = self.last
        if last is not None and last.not_learned is not None:
            return f"run {self.run_id} plays but does not learn: {last.not_learned}"
        if last is not None and last.not_built is not None:
            return f"run {self.run_id} learns without new demonstrations: {last.not_built}"
        return None

    @property
    def planner_outages(self) -> dict[str, str]:
        """Unavailable planner route → a description; single lost calls are ignored."""
        return {
            mode: each.description(mode)
            for mode, each in self.outages.items()
            if each.rests or each.calls >= _OUTAGE_CALLS
        }

    @property
    def planner_issue(self) -> str | None:
        return "; ".join(self.planner_outages.values()) or None

    @property
    def summary(self) -> dict[str, Any]:
        refused = self.reward_model_refused
        return {
            **(self.last.figures() if self.last is not None else {}),
            "run_id": self.run_id,
            "game": self.game,
            "status": self.status,
            "iteration": self.iteration,
            "env_steps": self.env_steps,
            "reward_model_version": self.reward_model_version,
            "reward_model_loaded_at_step": self.reward_model_loaded_at_step,
            "reward_model_refused": refused.version if refused else None,
            "reward_model_refusal": refused.reason if refused else None,
            "trouble": self.disk_issue or self.learning_issue,
            "phase": self.phase.phase if self.phase else None,
            "phase_words": self.phase.words if self.phase else None,
        }

    def progress(self, now: datetime) -> TrainingProgress:
        return TrainingProgress(at=now, **self.summary)

    def assistance(self, now: datetime) -> AssistanceStatus:
        done = self.last.assistance if self.last is not None else None
        return AssistanceStatus(
            at=now,
            run_id=self.run_id,
            env_steps=self.env_steps,
            has_planner=None if self.last is None else done is not None,
            by_mode=done.of_run if done is not None else {},
            down=self.planner_outages,
        )

    def reports(self, now: datetime) -> Iterator[Telemetry]:
        """The newest reports of planner, search, curriculum and world, as telemetry."""
        yield self.assistance(now)
        of = {"at": now, "run_id": self.run_id}
        if self.search is not None:
            yield SearchProgress(**of, **dict(self.search))
        if self.curriculum is not None:
            yield CurriculumProgress(**of, **dict(self.curriculum))
        if self.world is not None:
            yield WorldProgress(**of, **dict(self.world))

    def reward(self, now: datetime) -> RewardBreakdown | None:
        """The terms of the last iteration's reward; None before the first."""
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
