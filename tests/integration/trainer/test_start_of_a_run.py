"""A game that does not start ends its run immediately, with one reason in all reports."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.machine.rom_checks import header_checksum
from rlaif.game.starts.power_on import bring_to_control
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.waiting import eventually
from rlaif.trainer.checks import WrongSettingsError, check_start
from rlaif.trainer.play.start import check_starts
from rlaif.trainer.run_folder.record import UnreadableRunError, begin_attempt, record_path
from rlaif.trainer.service.app import create_app
from rlaif.trainer.service.cli import main
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.settings import TrainerSettings


@pytest.fixture
def game_that_never_starts(tmp_path: Path) -> Path:
    rom = bytearray(0x8000)
    rom[0x100:0x102] = bytes.fromhex("18fe")  # jr to itself
    rom[0x134:0x139] = b"STILL"
    rom[0x14D] = header_checksum(rom)
    path = tmp_path / "still.gb"
    path.write_bytes(rom)
    return path


REASON = (
    "STILL cannot be started: after 6000 frames it still shows a screen that START alone does not "
    "leave. Play it to where episodes should start (make play ROM=…), save with F5, and set "
    "TRAINER_INITIAL_STATE_PATH to the file that it names"
)


@pytest.fixture
async def trainer(
    tmp_path: Path, game_that_never_starts: Path
) -> AsyncIterator[tuple[httpx.AsyncClient, RunManager]]:
    """Of a trainer that starts a run of that game by itself; NATS is away, stores are files."""
    settings = TrainerSettings.model_validate(
        {
            "data_dir": tmp_path / "data",
            "rom_path": game_that_never_starts,
            "ray_workers": 0,
            "nats_url": "nats://127.0.0.1:9",
            "episodes_store": f"file://{tmp_path}/episodes",
            "models_store": f"file://{tmp_path}/models",
        }
    )
    app = create_app(settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8081", timeout=60
            )
        )
        yield client, app.state.runs


async def test_a_run_that_can_never_begin_fails_at_once_and_is_not_tried_again(trainer):
    client, runs = trainer

    async def has_ended() -> bool:
        answer = await client.get("/api/v1/runs/current")
        return answer.status_code == 200 and answer.json()["status"] not in ("starting", "training")

    await eventually(has_ended, "the run to end", seconds=240)
    view = (await client.get("/api/v1/runs/current")).json()
    assert (view["status"], view["attempts"]) == ("failed", 0)
    assert view["failure"] == REASON

    ready = await client.get("/readyz")
    assert ready.status_code == 503
    assert REASON in ready.text

    assert runs.state.progress(datetime.now(UTC)).status == "failed"
    assert not runs.alive


def test_the_command_for_training_reports_it_in_its_last_line(
    tmp_path: Path, game_that_never_starts: Path, capsys: pytest.CaptureFixture[str]
):
    options = ["--rom-path", str(game_that_never_starts), "--data-dir", str(tmp_path / "data")]
    assert main([*options, "--nats-url", "nats://127.0.0.1:9", "--ray-workers", "0"]) == 1
    assert REASON in capsys.readouterr().out


def state_of_the_embedded_game(path: Path, *, in_play: bool) -> Path:
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    if in_play:
        bring_to_control(emulator, cartridge)
    else:
        emulator.tick(60)
    path.write_bytes(emulator.save_state())
    emulator.close()
    return path


def test_a_save_state_in_play_is_a_start(tmp_path: Path):
    check_starts(load_cartridge(), [state_of_the_embedded_game(tmp_path / "a.state", in_play=True)])


def test_a_save_state_of_the_title_is_none(tmp_path: Path):
    path = state_of_the_embedded_game(tmp_path / "title.state", in_play=False)
    settings = TrainerSettings.model_validate({"data_dir": tmp_path, "initial_state_path": path})
    with pytest.raises(WrongSettingsError, match=r"title\.state is not a state of play"):
        check_start(settings)


def test_without_a_rom_or_state_the_embedded_game_is_started(tmp_path: Path):
    check_start(TrainerSettings(data_dir=tmp_path))


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"[]"])
async def test_no_new_run_replaces_one_whose_record_is_damaged(tmp_path: Path, damage: bytes):
    settings = TrainerSettings.model_validate({"data_dir": tmp_path})
    older = record_path(tmp_path, "r1")
    older.parent.mkdir(parents=True)
    begin_attempt(tmp_path, "r1", settings, datetime.now(UTC))
    os.utime(older, (1, 1))
    newest = record_path(tmp_path, "r2")
    newest.parent.mkdir()
    newest.write_bytes(damage)

    runs = RunManager(settings, ServiceMetrics("trainer"))
    await runs.resume_or_start()
    assert not runs.alive
    assert str(newest) in str(runs.issue)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["r1", "r2"]

    with pytest.raises(UnreadableRunError, match="restore it from a backup"):
        await runs.start("r2")
