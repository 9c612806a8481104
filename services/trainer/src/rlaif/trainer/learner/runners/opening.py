"""The runners of a run, as many as its settings say and where they say."""

from collections.abc import Callable

from rlaif.trainer.learner.runners.child import ChildProcess
from rlaif.trainer.learner.runners.pool import ALONE, InProcess, Link, RunnerPool
from rlaif.trainer.learner.runners.runner import AssistConfig, RunnerConfig
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings


def runner_config(
    settings: TrainerSettings,
    env: EnvConfig,
    *,
    files: str = "",
    exploring: int = 0,
    resumes: bool = False,
) -> RunnerConfig:
    """What the runners of a run are built of; `files` is a name for those on other machines.

    So many environments of all of them are `exploring`; the search for them is opened separately.

    With `resumes` the runners are given saved games before they sample.
    """
    return RunnerConfig(
        env=env,
        count=settings.envs_per_worker,
        seed=settings.seed,
        gamma=settings.ppo.gamma,
        files=files,
        runners=max(1, settings.ray_workers),
        exploring=exploring,
        assist=AssistConfig(settings.planner, settings.takeover, settings.guidance),
        rewards=settings.rewards,
        curriculum=settings.curriculum.absolute()
        if settings.curriculum_counts or exploring
        else None,
        resumes=resumes,
    )


def open_runners(config: RunnerConfig, count: int, *, on_cluster: bool = False) -> RunnerPool:
    """Start `count` runners, or one in this process if that is 0; returns before they are ready.

    They are child processes, or actors of the Ray cluster that this process has joined.
    """
    if not count:
        return RunnerPool({ALONE: InProcess(config)})
    link: Callable[[RunnerConfig, int], Link] = ChildProcess
    if on_cluster:
        # Imported here, for runners on this machine need no Ray.
        from rlaif.trainer.learner.runners.cluster import ActorLink

        link = ActorLink
    return RunnerPool({number: link(config, number) for number in range(1, count + 1)})
