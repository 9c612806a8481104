"""What the training process does when the disk does not take its checkpoint."""

import io
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from rlaif.trainer.learner import process
from rlaif.trainer.learner.process import Training
from rlaif.trainer.run_folder.protocol import MESSAGES, CheckpointNotSaved, Command, Stop
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings


class FullDisk(Training):
    """Training on a disk that takes a checkpoint at the n-th try."""

    room_at: int
    tries = 0

    def _save(self, algorithm: Any) -> None:
        self.tries += 1
        if self.tries < self.room_at:
            raise OSError(28, "No space left on device", "policy.safetensors")
        self._saved = (self._iteration, 0.0)

    def _obey(self, algorithm: Any) -> bool:
        return not any(isinstance(command, Stop) for command in self._asked())

    @property
    def said(self) -> list[Any]:
        return [MESSAGES.validate_json(line) for line in self.messages.getvalue().splitlines()]  # type: ignore[attr-defined]  # a buffer


@pytest.fixture
def training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    monkeypatch.setattr(process, "_SAVE_AGAIN_SECONDS", 0.0)
    record = RunRecord(
        run_id="r-1", created_at=datetime(2026, 3, 1, tzinfo=UTC), attempts=0, settings="{}"
    )
    commands: SimpleQueue[Command] = SimpleQueue()
    made = FullDisk(TrainerSettings(data_dir=tmp_path), record, tmp_path, commands, io.BytesIO())  # type: ignore[arg-type]  # a stand-in
    made.room_at = 2
    return made


def test_a_run_that_ends_by_itself_waits_for_the_disk(training: FullDisk):
    assert training._save_at_the_end(object(), "time") == "time"  # type: ignore[arg-type]  # not looked at
    assert training.tries == 2
    (message,) = training.said
    assert isinstance(message, CheckpointNotSaved)
    assert message.reason == "No space left on device: policy.safetensors"


def test_one_that_was_asked_to_stop_does_not(training: FullDisk):
    assert training._save_at_the_end(object(), "asked") == "asked"  # type: ignore[arg-type]  # not looked at
    assert training.tries == 1


def test_nor_one_that_is_asked_while_it_waits(training: FullDisk):
    training.commands.put(Stop())
    assert training._save_at_the_end(object(), "time") == "asked"  # type: ignore[arg-type]  # not looked at
    assert training.tries == 1


def test_between_two_tries_it_plays(training: FullDisk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "_SAVE_AGAIN_SECONDS", 3600.0)
    tried = [training._try_to_save(object()) for _ in range(3)]  # type: ignore[arg-type]  # not looked at
    assert tried == [False, False, False]
    assert training.tries == 1
