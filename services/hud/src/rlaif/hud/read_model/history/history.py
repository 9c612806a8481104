"""The history of runs and of the champion.

Only stored events are folded, in the order of their stream, so that a restarted HUD shows the same
history. Runs, points and changes are bounded.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    RunDescribed,
    RunEvaluated,
    RunIterated,
    RunLoaded,
    RunStarted,
)
from rlaif.hud.read_model.history.headline import counterpart, headline
from rlaif.hud.read_model.history.loads import compare_loads
from rlaif.hud.read_model.history.points import thinned
from rlaif.hud.read_model.history.run_story import RunStory
from rlaif.hud.read_model.history.runs import RunView, run_views
from rlaif.hud.read_model.history.scores import Scores, score_points
from rlaif.hud.read_model.history.views import (
    HeadlineView,
    HistoryView,
    LoadsView,
    ScorePointsView,
)

MAX_RUNS = 20
MAX_CHANGES = 300


class History:
    """Runs and changes of the champion.

    Attributes:
        scores: Scores of the judges; folded by the owner of this object.
    """

    def __init__(self) -> None:
        self.scores = Scores(runs=MAX_RUNS)
        self._runs: OrderedDict[str, RunStory] = OrderedDict()
        self._changes: list[ChampionChanged] = []

    def apply(self, event: CloudEvent[Any]) -> bool:
        """Fold one event; returns False if it was known or is of another kind."""
        match event.data:
            case RunStarted() as data:
                return self._run(data.run_id).started(data)
            case RunIterated() as data:
                return self._run(data.run_id).iterated(data)
            case RunLoaded() as data:
                return self._run(data.run_id).loaded(data)
            case RunDescribed() as data:
                known = self._runs.get(data.run_id)  # a known run does not become the newest
                return known is not None and known.described(data)
            case RunEvaluated() as data:
                return self._run(data.run_id).evaluated(data)
            case ChampionChanged() as data:
                return self._changed(data)
        return False

    @property
    def change(self) -> ChampionChanged | None:
        return self._changes[-1] if self._changes else None

    def run(self, run_id: str | None) -> RunStory | None:
        if run_id is None:
            return next(reversed(self._runs.values()), None)
        return self._runs.get(run_id)

    def view(self, run_id: str | None, *, points: int) -> HistoryView:
        run = self.run(run_id)
        control = counterpart(run, self._runs.values()) if run else None
        return HistoryView(
            run_id=run.run_id if run else run_id,
            points=tuple(thinned(run.points if run else [], points)),
            loads=tuple(run.loads) if run else (),
            starts=tuple(run.starts) if run else (),
            evaluations=tuple(run.evaluations) if run else (),
            control=tuple(control.evaluations) if control else (),
            changes=tuple(self._changes),
        )

    def runs(self) -> list[RunView]:
        """All runs that are known, the newest first."""
        return run_views(list(self._runs.values()))

    def loads(self, run_id: str | None, *, newest: int) -> Callable[[], LoadsView]:
        run = self.run(run_id)
        return compare_loads(run, self.scores.of(run.run_id if run else None), newest)

    def score_points(self, run_id: str | None, most: int) -> ScorePointsView:
        return score_points(run_id, self.scores.of(run_id), most)

    def headline(
        self, run_id: str | None, *, live_version: int | None, pinned: bool | None, known: bool
    ) -> HeadlineView:
        run = self.run(run_id)
        return headline(
            run,
            [each for each in self._runs.values() if each is not run],
            self.scores.of(run.run_id if run else None),
            live_version=live_version,
            pinned=pinned,
            known=known,
        )

    def _run(self, run_id: str) -> RunStory:
        if run_id not in self._runs:
            for other in self._runs.values():
                other.shrink()
        run = self._runs.setdefault(run_id, RunStory(run_id))
        self._runs.move_to_end(run_id)
        if len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)
        return run

    def _changed(self, change: ChampionChanged) -> bool:
        last = self.change
        if change in self._changes or (last and _state(change) == _state(last)):
            return False
        self._changes = [*self._changes, change][-MAX_CHANGES:]
        return True


def _state(change: ChampionChanged) -> dict[str, Any]:
    return change.model_dump(exclude={"why", "words", "changed_at"})
