"""A run builds demonstrations from its search during training, and continues if that fails."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.learner import training
from rlaif.trainer.learner.start import with_curriculum
from rlaif.trainer.learner.training import Training
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.settings import TrainerSettings


class EndedBuild:
    """A build that is over, with an error or not."""

    is_over = True
    errors: Iterator[Exception | None]

    def __init__(self, *_: Any, **__: Any) -> None:
        self._error = next(self.errors)

    def lines(self) -> list[str]:
        return []

    def check(self) -> None:
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "reported"),
    [(RuntimeError("exit code 2"), "exit code 2"), (DemonstrationsError("search longer"), None)],
)
def test_a_build_that_crashed_is_reported_until_one_succeeds(
    error: Exception, reported: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EndedBuild, "errors", iter([error, None]), raising=False)
    monkeypatch.setattr(training, "DemonstrationBuild", EndedBuild)
    followed: list[Path] = []
    figures = SimpleNamespace(level=1.0)
    algorithm: Any = SimpleNamespace(
        exploration=SimpleNamespace(search=SimpleNamespace(figures=figures)),
        follow_demonstrations=lambda path, **_: followed.append(path),
    )
    run: Any = SimpleNamespace(settings=TrainerSettings(), directory=tmp_path)
    start: Any = None
    trains = Training(run, start, threading.Event(), start)
    trains._build_curriculum(algorithm)
    trains._build_curriculum(algorithm)
    assert (trains._not_built, followed) == (reported, [])
    figures.level = 2.0
    trains._build_curriculum(algorithm)
    trains._build_curriculum(algorithm)
    assert trains._not_built is None
    assert len(followed) == 1


def test_the_report_has_the_share_from_power_on_that_an_exploring_run_plays(tmp_path: Path) -> None:
    settings, sent = TrainerSettings(), list[Any]()
    run: Any = SimpleNamespace(settings=settings, directory=tmp_path, send=sent.append)
    played = with_curriculum(settings, tmp_path).curriculum
    start: Any = SimpleNamespace(config=SimpleNamespace(curriculum=played))
    subtask = SubtaskFigures("one", (), ("sword",), 5, 4, False, 10, 0.5, 0.75)
    algorithm: Any = SimpleNamespace(course=CurriculumFigures((subtask,)))
    Training(run, start, threading.Event(), start)._report_course(algorithm)
    assert settings.curriculum.power_on < played.power_on
    assert sent[0].power_on_share == played.power_on
