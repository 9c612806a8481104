"""Each episode is put down to the step at which it began."""

from dataclasses import replace

from tests.unit.trainer.test_run_figures import STEPS, fragment

from rlaif.trainer.learner.progress import Cohorts
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment


def ending(played: Fragment, *, at: int = STEPS - 1) -> Fragment:
    summary = EpisodeSummary(length=8, reward=1.25, rooms=3, terminated=True, gained=2, died=True)
    return replace(played, episodes=(summary,), env_index_of_end=((at, 0),))


def add(cohorts: Cohorts, played: list[Fragment], env_steps: int) -> None:
    """The reward model paid each episode 0.5."""
    cohorts.add(played, [[0.5] * len(each.episodes) for each in played], env_steps)


def test_an_episode_began_where_the_one_before_it_ended() -> None:
    cohorts = Cohorts()
    add(cohorts, [fragment(continues=False)], 104)
    assert (cohorts.ended.count, cohorts.oldest_open) == (0, 100)
    add(cohorts, [ending(fragment())], 108)
    ended = cohorts.ended
    assert (ended.began, ended.gained, ended.rooms) == ((100,), (2,), (3,))
    assert (ended.returns, ended.lengths, ended.died) == ((1.25,), (8,), (True,))
    assert ended.shaped == (0.5,)
    assert cohorts.oldest_open == 104, "the next one began in that iteration"
    add(cohorts, [ending(fragment())], 112)
    assert cohorts.ended.began == (104,)


def test_a_game_of_an_older_checkpoint_began_nobody_knows_when() -> None:
    cohorts = Cohorts()
    add(cohorts, [ending(fragment(continues=True))], 104)
    assert cohorts.ended.began == (None,)
    assert cohorts.oldest_open == 100


def test_while_it_is_not_known_when_a_running_episode_began_no_step_is_told() -> None:
    cohorts = Cohorts()
    add(cohorts, [fragment(continues=True)], 104)
    assert cohorts.oldest_open is None


def test_the_games_of_a_runner_that_is_gone_hold_up_nothing() -> None:
    cohorts = Cohorts()
    lost = replace(fragment(continues=False), runner=2)
    add(cohorts, [fragment(continues=False), lost], 8)
    add(cohorts, [ending(fragment())], 12)
    assert cohorts.oldest_open == 8


def test_a_checkpoint_keeps_when_its_games_began() -> None:
    cohorts, again = Cohorts(), Cohorts()
    add(cohorts, [fragment(continues=False)], 104)
    again.load_state_dict(cohorts.state_dict())
    add(again, [ending(fragment())], 108)
    assert again.ended.began == (100,)


def test_a_try_of_practice_is_no_episode_and_the_next_one_begins_after_it() -> None:
    cohorts = Cohorts()
    add(cohorts, [fragment(continues=False)], 104)
    tried = ending(fragment())
    (episode,) = tried.episodes
    add(cohorts, [replace(tried, episodes=(replace(episode, start="practice:0123"),))], 108)
    assert cohorts.ended.count == 0
    assert cohorts.oldest_open == 104
