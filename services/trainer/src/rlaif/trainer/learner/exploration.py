"""Runners that only explore: the search phase of mode `quest`, and `rlaif.trainer.explore`."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.learner.runners.pool import Call, RunnerPool, ready
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.search.search import Figures, Search
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import CaptureSettings

_STEPS = 64
"""Decisions of each environment between two reports."""

_MAX_SECONDS = 600.0
"""A runner that does not report for so long is replaced."""


def open_explorers(
    settings: TrainerSettings, env: EnvConfig, files: ExploreConfig | None = None
) -> RunnerPool:
    """Start runners all of whose environments explore.

    On other machines they read `files` of the run.
    """
    config = runner_config(settings, env, files)
    config = replace(config, exploring=config.count, assist=None, curriculum=None)
    return open_runners(config, settings.ray_workers, on_cluster=settings.joins_cluster)


def explorers_of(rom: Path | None, *, workers: int, environments: int = 8) -> RunnerPool:
    """Start runners that explore a game without a run."""
    settings = TrainerSettings.model_validate(
        {"rom_path": rom, "ray_workers": workers, "envs_per_worker": environments}
    )
    capture = CaptureSettings(best_episodes=0)
    return open_explorers(settings, EnvConfig("explore", game=settings.game, capture=capture))


def explore(search: Search, runners: RunnerPool) -> Iterator[Figures]:
    """Let runners explore endlessly; yield statistics after each report."""
    runners.wait_until_ready()
    ordered: dict[int, Future[Any]] = {}
    while True:
        for number in runners.restore(lambda: ready):
            search.forget(number)
            ordered.pop(number, None)
        idle = [number for number in runners.healthy if number not in ordered]
        ordered |= runners.order_of({number: _order(search, number) for number in idle})
        done, _ = wait(ordered.values(), _MAX_SECONDS, FIRST_COMPLETED)
        for number in [each for each, answer in ordered.items() if answer in done or not done]:
            fragments: list[Fragment] = runners.answers({number: ordered.pop(number)}, 0.0)
            for fragment in fragments:
                assert fragment.explored is not None
                search.take_in(number, fragment.explored)
                yield search.figures


def _order(search: Search, runner: int) -> Call:
    job = search.next_job(runner)
    return methodcaller("sample", steps=_STEPS, capture_quota=0, context=CaptureContext(), job=job)
