"""The past: events that are kept in, what pages ask of it out.

It folds nothing but stored events, in the order of their stream, so that a HUD which was restarted
tells the same past as the one before it. Runs, pieces, changes and comparisons are bounded.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import ChampionChanged, RunIterated, RunLoaded, RunStarted
from rlaif.hud.read_model.history.bootstrap import CONFIDENCE, LEAST, Difference
from rlaif.hud.read_model.history.headline import SideBySide, Trend, side_by_side, trend
from rlaif.hud.read_model.history.loads import LoadSides, Sides, compared, sides_of_loads
from rlaif.hud.read_model.history.pieces import Piece, thinned
from rlaif.hud.read_model.history.run_story import COHORT, RunStory
from rlaif.hud.read_model.history.scores import Scores
from rlaif.hud.read_model.history.views import (
    ChangeView,
    HistoryView,
    LoadMark,
    LoadsView,
    LoadView,
    PieceView,
    RunName,
    StartMark,
)
from rlaif.hud.read_model.history.words import sentence
from rlaif.hud.read_model.views import (
    ChampionView,
    ComparedRunsView,
    DifferenceView,
    HeadlineView,
)

MOST_RUNS = 20
MOST_CHANGES = 300
_MOST_COMPARISONS = 600
_SCORES_A_LOOK = 10

Event = RunStarted | RunIterated | RunLoaded | ChampionChanged


class History:
    """What runs and the champion went through.

    Attributes:
        scores: What the judges gave; folded by whoever hears of segments.
    """

    def __init__(self) -> None:
        self.scores = Scores(runs=MOST_RUNS)
        self._runs: OrderedDict[str, RunStory] = OrderedDict()
        self._changes: list[ChampionChanged] = []
        self._comparisons: OrderedDict[object, dict[str, Difference]] = OrderedDict()
        self._headline: tuple[object, Trend | None, SideBySide | None] | None = None
        self._folded = 0

    def apply(self, event: CloudEvent[Any]) -> bool:
        """Fold one event; False when it was known or is none of these."""
        match event.data:
            case RunStarted() as data:
                is_new = self._run(data.run_id).started(data)
            case RunIterated() as data:
                is_new = self._run(data.run_id).iterated(data)
            case RunLoaded() as data:
                is_new = self._run(data.run_id).loaded(data)
            case ChampionChanged() as data:
                is_new = self._changed(data)
            case _:
                return False
        self._folded += is_new
        return is_new

    @property
    def change(self) -> ChampionChanged | None:
        """The newest change of the champion that is kept."""
        return self._changes[-1] if self._changes else None

    @property
    def changes(self) -> tuple[ChampionChanged, ...]:
        """Changes of the champion that are kept, oldest first."""
        return tuple(self._changes)

    def run(self, run_id: str | None) -> RunStory | None:
        """One run; the one that was heard of last without a name."""
        if run_id is None:
            return next(reversed(self._runs.values()), None)
        return self._runs.get(run_id)

    def view(self, run_id: str | None, *, points: int) -> HistoryView:
        """The past of one run, in at most `points` points."""
        run = self.run(run_id)
        pieces = run.pieces if run else []
        return HistoryView(
            run_id=run.run_id if run else run_id,
            from_step=pieces[0].since_step if pieces else None,
            to_step=pieces[-1].env_step if pieces else None,
            pieces=len(pieces),
            points=tuple(_piece_view(piece) for piece in thinned(pieces, points)),
            loads=_load_marks(run),
            starts=tuple(
                StartMark(attempt=start.attempt, step=start.env_step, at=start.at)
                for start in (run.starts if run else ())
            ),
            changes=tuple(_change_view(change) for change in self._changes),
            runs=tuple(_name_of(each) for each in self._runs.values()),
        )

    def loads(self, run_id: str | None, *, newest: int) -> Callable[[], LoadsView]:
        """What to compare, as it stands now; the call does it in any thread, 30 ms a load."""
        run = self.run(run_id)
        found = sides_of_loads(run, self.scores.of(run.run_id))[-newest:] if run else []

        def compare() -> LoadsView:
            return LoadsView(
                run_id=run.run_id if run else run_id,
                least=LEAST,
                most=COHORT,
                known=len(run.loads) if run else 0,
                loads=tuple(
                    _load_view(load, self._compared(load.sides)) for load in reversed(found)
                ),
            )

        return compare

    def headline(
        self, run_id: str | None, champion: ChampionView | None, *, known: bool
    ) -> HeadlineView:
        """The sentence about one run."""
        run = self.run(run_id)
        found, runs = self._trend(run)
        parts = sentence(found, champion, known=known)
        return HeadlineView(
            text="".join(part.text for part in parts),
            parts=tuple(parts),
            run_id=run.run_id if run else None,
            since=found.since if found else None,
            since_version=found.since_version if found else None,
            since_step=found.since_step if found else None,
            least=LEAST,
            confidence=CONFIDENCE,
            milestones=difference_view(found.milestones) if found else None,
            scores=difference_view(found.scores) if found else None,
            judges=found.judges if found else None,
            live_version=champion.version if champion else None,
            pinned=champion.pinned if champion else None,
            runs=ComparedRunsView(
                with_run=runs.with_run,
                without_run=runs.without_run,
                until_step=runs.until_step,
                milestones=difference_view(runs.milestones),
            )
            if runs
            else None,
        )

    def _trend(self, run: RunStory | None) -> tuple[Trend | None, SideBySide | None]:
        """Kept until something was folded: a page is told oftener than an iteration ends."""
        if run is None:
            return None, None
        state = self._state_of(run)
        if self._headline is None or self._headline[0] != state:
            scores = self.scores.of(run.run_id)
            others = [each for each in self._runs.values() if each is not run]
            self._headline = (state, trend(run, scores), side_by_side(run, others))
        return self._headline[1], self._headline[2]

    def _state_of(self, run: RunStory) -> object:
        """Differs once an event was folded or some more segments were judged."""
        return run.run_id, self._folded, self.scores.count(run.run_id) // _SCORES_A_LOOK

    def _run(self, run_id: str) -> RunStory:
        if run_id not in self._runs:
            for other in self._runs.values():
                other.rest()
        run = self._runs.setdefault(run_id, RunStory(run_id))
        self._runs.move_to_end(run_id)
        if len(self._runs) > MOST_RUNS:
            self._runs.popitem(last=False)
        return run

    def _changed(self, change: ChampionChanged) -> bool:
        last = self.change
        if last is not None and _standing(change) == _standing(last):
            return False
        if change in self._changes:
            return False
        self._changes = [*self._changes, change][-MOST_CHANGES:]
        return True

    def _compared(self, sides: Sides) -> dict[str, Difference]:
        """Kept: a load that another followed is compared once."""
        key = sides.key
        found = self._comparisons.get(key)
        if found is None:
            found = self._comparisons[key] = compared(sides)
            while len(self._comparisons) > _MOST_COMPARISONS:
                self._comparisons.popitem(last=False)
        return found


def difference_view(found: Difference) -> DifferenceView:
    """A difference as JSON."""
    return DifferenceView(
        before=found.before,
        after=found.after,
        n_before=found.n_before,
        n_after=found.n_after,
        change=found.change,
        low=found.low,
        high=found.high,
    )


def _piece_view(piece: Piece) -> PieceView:
    means = {name: mean.value for name, mean in piece.means.items()}
    total = sum(piece.paid.values())
    return PieceView(
        since_step=piece.since_step,
        env_step=piece.env_step,
        at=piece.at,
        iterations=piece.iterations,
        episodes=piece.episodes,
        reward_model_version=piece.version,
        milestones_mean=means["milestones"],
        rooms_mean=means["rooms"],
        deaths_mean=means["deaths"],
        returns_mean=means["episode_return"],
        entropy=means["entropy"],
        policy_lag=means["policy_lag"],
        steps_per_second=means["steps_per_second"],
        low=piece.low,
        high=piece.high,
        paid=piece.paid,
        paid_total=total,
        model_paid=piece.model_paid,
        learned_from=piece.learned_from,
        unexplained=piece.unexplained,
    )


def _load_view(load: LoadSides, figures: dict[str, Difference]) -> LoadView:
    return LoadView(
        version=load.version,
        replaced=load.replaced,
        env_step=load.env_step,
        until_step=load.until_step,
        at=load.at,
        enough=figures["milestones"].change is not None,
        unfinished=load.sides.unfinished,
        figures={name: difference_view(found) for name, found in figures.items()},
    )


def _load_marks(run: RunStory | None) -> tuple[LoadMark, ...]:
    return tuple(
        LoadMark(version=load.version, step=load.env_step, at=load.at)
        for load in (run.loads if run else ())
    )


def _change_view(change: ChampionChanged) -> ChangeView:
    return ChangeView(
        **change.model_dump(exclude={"changed_at"}),
        at=change.changed_at,
    )


def _name_of(run: RunStory) -> RunName:
    return RunName(
        run_id=run.run_id,
        env_step=run.step,
        judged=run.judged,
        recipe=run.recipe,
        loads=len(run.loads),
        last_at=run.at,
    )


def _standing(change: ChampionChanged) -> tuple[object, ...]:
    """What must differ for a change to be one; a start of the service tells what stands."""
    return (
        change.version, change.activation, change.pinned, change.pin_reason,
        change.pinned_until, change.withdrawn,
    )  # fmt: skip
