"""Figures of the episodes before and after each model load."""

from collections.abc import Callable, Sequence

from rlaif.hud.read_model.history.comparison import MIN_EPISODES, difference
from rlaif.hud.read_model.history.run_story import MAX_COHORT, Episode, RunStory
from rlaif.hud.read_model.history.scores import by_episode
from rlaif.hud.read_model.history.views import LoadsView, LoadView, ScorePoint

FIGURES: dict[str, Callable[[Episode], float | None]] = {
    "milestones": lambda episode: episode.gained,
    "rooms": lambda episode: episode.rooms,
    "deaths": lambda episode: episode.died,
    "episode_return": lambda episode: episode.reward,
    "shaped_return": lambda episode: episode.shaped,
}
"""Figure → its value for one episode; None when it is unknown."""

SCORE = "judge_score"

Groups = dict[str, tuple[float, ...]]
"""Figure → its values, one per episode."""


def compare_loads(
    run: RunStory | None, scores: Sequence[ScorePoint], newest: int
) -> Callable[[], LoadsView]:
    """Collect the groups now; the returned function compares them, in any thread.

    A comparison takes 30 ms per load, unless it is cached.
    """
    if run is None:
        return lambda: _view(None, [])
    borders = [0, *(load.step for load in run.loads), run.step + 1]
    groups = [_of_cohort(run, scores, borders, index) for index in range(len(borders) - 1)]
    unfinished = [run.unfinished(index) for index in range(len(borders) - 1)]
    marks, run_id = list(run.loads), run.run_id

    def load_view(index: int) -> LoadView:
        after = groups[index + 1]
        figures = {name: difference(group, after[name]) for name, group in groups[index].items()}
        return LoadView(
            version=marks[index].version,
            replaced=marks[index - 1].version if index else None,
            env_step=marks[index].step,
            until_step=marks[index + 1].step if index + 1 < len(marks) else None,
            at=marks[index].at,
            enough=figures["milestones"].change is not None,
            unfinished=unfinished[index + 1],
            figures=figures,
        )

    newest_first = range(len(marks))[-newest:][::-1]
    return lambda: _view(run_id, [load_view(index) for index in newest_first], known=len(marks))


def _view(run_id: str | None, loads: Sequence[LoadView], *, known: int = 0) -> LoadsView:
    return LoadsView(
        run_id=run_id,
        min_episodes=MIN_EPISODES,
        max_episodes=MAX_COHORT,
        known=known,
        loads=tuple(loads),
    )


def _of_cohort(
    run: RunStory, scores: Sequence[ScorePoint], borders: Sequence[int], index: int
) -> Groups:
    first, end = borders[index], borders[index + 1]
    is_last = index + 1 == len(borders) - 1
    own = [each for each in scores if first <= each.env_step and (is_last or each.env_step < end)]
    episodes = run.cohort(index)
    groups = {
        name: tuple(float(value) for each in episodes if (value := read(each)) is not None)
        for name, read in FIGURES.items()
    }
    return {**groups, SCORE: tuple(by_episode(own, lambda score: score.weighted)[-MAX_COHORT:])}
