"""Configuration and start of the runners of a run."""

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
    """Return the configuration of the runners; `files` is the file server for other machines.

    `exploring` is the total number of environments that explore; their search is opened separately.

    With `resumes`, the runners receive saved games before they sample.
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
    """Start `count` runners, or one in this process if it is 0; returns before they are ready.

    Runners are child processes, or actors of the Ray cluster that this process has joined.
    """
    if not count:
        return RunnerPool({ALONE: InProcess(config)})
    link: Callable[[RunnerConfig, int], Link] = ChildProcess
    if on_cluster:
        # Imported here, because runners on this machine do not need Ray.
        from rlaif.trainer.learner.runners.cluster import ActorLink

        link = ActorLink
    return RunnerPool({number: link(config, number) for number in range(1, count + 1)})
