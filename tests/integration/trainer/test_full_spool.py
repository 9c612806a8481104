"""A spool that takes no more costs captures, never training."""

from pathlib import Path

import pytest

from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import GrantCaptures
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.settings import TrainerSettings

SECONDS = 240.0


@pytest.mark.timeout(900)
async def test_captures_beyond_the_bound_are_dropped_and_counted_while_training_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    settings = TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "ray_workers": 0,
            "batch_size": 128,
            "minibatch_size": 64,
            "epochs": 1,
            "episode_length": 40,
            "segment_frames": 40,
            "spool_captures": 3,
        }
    )
    metrics = ServiceMetrics("trainer")
    runs = RunManager(settings, metrics)
    run = await runs.start()

    def lost() -> bool:
        return runs.captures_lost is not None

    await eventually(lambda: run.state.status == "training", "the start", seconds=SECONDS)

    async def grant(segments: int) -> None:
        """As if the judges took so many, whatever leaves the spool; until an iteration is over."""
        await runs.send(GrantCaptures(segments=segments))
        seen = run.state.iteration
        await eventually(lambda: run.state.iteration > seen, "an iteration", seconds=SECONDS)

    while not lost():
        await grant(40)
    assert runs.captures_lost == "3 captures wait in the spool already"
    assert Spool(run.directory / "spool").count() == 3
    iteration = run.state.iteration
    await eventually(
        lambda: run.state.iteration > iteration + 1, "training goes on", seconds=SECONDS
    )
    assert run.state.last is not None
    dropped = run.state.last.segments_dropped
    assert dropped > 0
    assert "captures are dropped; training goes on" in caplog.text
    assert metrics.registry.get_sample_value("rlaif_trainer_segments_dropped") == dropped
    while lost():
        for path in list(Spool(run.directory / "spool").waiting()):
            path.unlink()
        await grant(2)
    await runs.stop()
