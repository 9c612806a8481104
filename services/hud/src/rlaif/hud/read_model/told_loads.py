"""Loads of reward models as the trainer tells them.

The trainer keeps the loads of its run and tells them again and again, so a HUD that came later
knows what one from the beginning knows. What it stands at may name a load newer than those.
"""

from rlaif.contracts.telemetry import ModelLoad, RunHistory, TrainingProgress


class ToldLoads:
    """Remembers the newest history and the newest reading."""

    def __init__(self) -> None:
        self._history: RunHistory | None = None
        self._progress: TrainingProgress | None = None

    def history(self, reading: RunHistory) -> None:
        """What the trainer says its run went through."""
        self._history = reading

    def progress(self, reading: TrainingProgress) -> None:
        """Where the trainer stands, and by which model it pays."""
        self._progress = reading

    def of(self, run_id: str | None) -> tuple[ModelLoad, ...]:
        """Every load of one run that is known, oldest first; a version may come again."""
        history, progress = self._history, self._progress
        told = history.loads if history and history.run_id == run_id else ()
        newest = _load_of(progress) if progress and progress.run_id == run_id else None
        if newest is None or any(_same(load, newest) for load in told):
            return told
        return (*told, newest)


def _load_of(progress: TrainingProgress) -> ModelLoad | None:
    version, step = progress.reward_model_version, progress.reward_model_loaded_at_step
    if version is None or step is None:
        return None
    return ModelLoad(version=version, env_step=step, at=progress.at)


def _same(one: ModelLoad, other: ModelLoad) -> bool:
    """Whether both tell of one load; its time is told by two clocks' ticks."""
    return (one.version, one.env_step) == (other.version, other.env_step)
