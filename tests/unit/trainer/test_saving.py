"""What the training process does when the disk does not take its checkpoint."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from rlaif.trainer.learner import saving
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.saving import CheckpointSaver
from rlaif.trainer.run_folder.protocol import CheckpointNotSaved, Message
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings


class FullDisk(CheckpointSaver):
    """A disk that takes a checkpoint at the second try.

    Attributes:
        said: Messages to the service.
    """

    def __init__(self, directory: Path) -> None:
        self.said: list[Message] = []
        record = RunRecord(
            run_id="r-1", created_at=datetime(2026, 3, 1, tzinfo=UTC), attempts=0, settings="{}"
        )
        run = RunContext(TrainerSettings(data_dir=directory), record, directory, self.said.append)
        super().__init__(run, SimpleNamespace(), RunTally())  # type: ignore[arg-type]  # not looked at
        self.tries = 0

    def _save(self) -> None:
        self.tries += 1
        if self.tries < 2:
            raise OSError(28, "No space left on device", "policy.safetensors")
        self._note_saved()


@pytest.fixture
def saver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    monkeypatch.setattr(saving, "SAVE_AGAIN_SECONDS", 0.0)
    return FullDisk(tmp_path)


def test_a_run_that_ends_by_itself_waits_for_the_disk(saver: FullDisk):
    assert saver.save_at_the_end("time", lambda: True) == "time"
    assert saver.tries == 2
    (message,) = saver.said
    assert isinstance(message, CheckpointNotSaved)
    assert message.reason == "No space left on device: policy.safetensors"


def test_one_that_was_asked_to_stop_does_not(saver: FullDisk):
    assert saver.save_at_the_end("asked", lambda: True) == "asked"
    assert saver.tries == 1


def test_nor_one_that_is_asked_while_it_waits(saver: FullDisk):
    assert saver.save_at_the_end("time", lambda: False) == "asked"
    assert saver.tries == 1


def test_between_two_tries_it_plays(saver: FullDisk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(saving, "SAVE_AGAIN_SECONDS", 3600.0)
    assert [saver.try_to_save() for _ in range(3)] == [False, False, False]
    assert saver.tries == 1
