"""A full spool loses captures and never stops training."""

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
async def test_captures_beyond_the_limit_are_dropped_and_counted_while_training_continues(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    settings = TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "ray_workers": 0,
            "batch_size": 256,
            "ppo_minibatch_size": 64,
            "ppo_epochs": 1,
            "actions": "seed",
            "episode_length": 120,
        }
    )
    limit = settings.capture.spool_captures
    metrics = ServiceMetrics("trainer")
    runs = RunManager(settings, metrics)
    run = await runs.start()
    spool = Spool(run.directory / "spool")

    def lost() -> bool:
        return runs.captures_lost is not None

    await eventually(lambda: run.state.status == "training", "the start", seconds=SECONDS)
    for n in range(limit):
        (spool.directory / f"earlier-{n}.capture").write_bytes(b"")

    async def grant(segments: int) -> None:
        """Grant captures until an iteration is complete."""
        await runs.send(GrantCaptures(segments=segments))
        seen = run.state.iteration
        await eventually(lambda: run.state.iteration > seen, "an iteration", seconds=SECONDS)

    while not lost():
        await grant(40)
    assert runs.captures_lost == f"{limit} captures are in the spool already"
    assert spool.count() == limit
    iteration = run.state.iteration
    await eventually(
        lambda: run.state.iteration > iteration + 1, "training continues", seconds=SECONDS
    )
    assert run.state.last is not None
    dropped = run.state.last.segments_dropped
    assert dropped > 0
    assert "captures are dropped; training continues" in caplog.text
    assert metrics.registry.get_sample_value("rlaif_trainer_segments_dropped") == dropped
    while lost():
        for path in list(spool.waiting()):
            path.unlink()
        await grant(2)
    await runs.stop()
