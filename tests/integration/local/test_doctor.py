"""The doctor on real events and objects: what it finds, repairs, and answers."""

import asyncio
import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.bus.dead_letters import dead_letter
from rlaif.contracts.events import SegmentCaptured, SegmentExported
from rlaif.game.replay_check.segments import Play
from rlaif.local.doctor.__main__ import examine, main
from rlaif.local.doctor.findings import Report
from rlaif.local.doctor.objects import scrub_episodes
from rlaif.local.doctor.opening import Opened
from rlaif.local.places import DataDirectory
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.storage import keys
from rlaif.storage.bounds import size_limit
from rlaif.storage.file import FileStore
from rlaif.testing.data.captures import write_capture
from rlaif.testing.data.judging.candidates import passed_candidate
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.data.judging.segments import write_segment
from rlaif.testing.data.random_play import recorded_play
from rlaif.testing.waiting import backlog_of


@pytest.fixture(scope="session")
def played() -> Any:
    """A capture with its keyframe."""
    (segment,) = recorded_play(Play(segments=1, seed=9))
    return segment


@pytest.fixture
def home(tmp_path: Path) -> DataDirectory:
    home = DataDirectory(tmp_path / "var")
    home.lock().close()
    home.secrets()
    return home


@pytest.fixture
def system(bus: Bus, home: DataDirectory) -> Opened:
    episodes = FileStore(home.root / "objects/zelda-episodes")
    models = FileStore(home.root / "objects/zelda-models")
    return Opened(True, bus, episodes, models, "http://127.0.0.1:8086")


async def examined(
    system: Opened, home: DataDirectory, *, scrub: bool = False, repairs: bool = False
) -> Report:
    return await examine(system, home.root, scrub=scrub, repairs=repairs)


def codes(report: Report) -> list[str]:
    return sorted(each.code for each in report.findings)


async def test_orphans_are_found_and_announced_again(
    system: Opened, home: DataDirectory, played: Any
):
    write_capture(system.episodes, played.capture, played.keyframe.data)
    write_segment(system.episodes, "exported-1")
    found = await examined(system, home)
    assert codes(found) == ["capture_orphaned", "segment_orphaned"]

    repaired = await examined(system, home, repairs=True)
    assert (codes(repaired), len(repaired.repaired)) == ([], 2)
    assert repaired.in_progress == 2
    await backlog_of(system.bus, SegmentCaptured, "exporter", 1)
    await backlog_of(system.bus, SegmentExported, "judge", 1)


async def test_damaged_and_missing_objects_are_found(
    system: Opened, home: DataDirectory, played: Any
):
    event = write_capture(system.episodes, played.capture, played.keyframe.data)
    system.episodes.put(event.keyframe_key, b"cut")
    write_segment(system.episodes, "seg-1")
    system.episodes.put("ep-1/seg-1/states.jsonl", b"{}")
    system.episodes.delete_many(["ep-1/seg-1/observations.npy"])
    system.episodes.put("ep-1/seg-2/manifest.json", b"{")
    system.episodes.put(keys.score("judge", "seg-3"), b"[" * 10_000)
    report = await examined(system, home, scrub=True)
    found = {(each.code, each.subject) for each in report.findings if each.invariant == "I4"}
    assert found == {
        ("object_corrupt", event.keyframe_key),
        ("object_corrupt", "ep-1/seg-1/states.jsonl"),
        ("object_missing", "ep-1/seg-1/observations.npy"),
        ("object_missing", keys.capture("ep-1", "seg-1")),
        ("object_unreadable", "ep-1/seg-2/manifest.json"),
        ("object_unreadable", keys.score("judge", "seg-3")),
    }


async def test_a_scored_segment_that_was_deleted_is_no_finding_and_one_without_manifest_is(
    system: Opened, home: DataDirectory
):
    event = write_segment(system.episodes, "seg-1")
    record = score_record(segment_id="seg-1", manifest_key=event.manifest_key)
    score = keys.score(record.judge_config, "seg-1")
    system.episodes.put(score, record.model_dump_json().encode())
    system.episodes.delete_many([event.manifest_key])
    found = await examined(system, home, scrub=True)
    assert ("judged_manifest_changed", score) in {(f.code, f.subject) for f in found.findings}
    system.episodes.delete_many([info.key for info in system.episodes.list("ep-1/")])
    found = await examined(system, home, scrub=True)
    assert "judged_manifest_changed" not in codes(found)


@pytest.mark.parametrize("damage", [b"{}", None])
async def test_the_exporter_is_asked_for_damaged_files_of_a_segment(
    system: Opened, home: DataDirectory, played: Any, damage: bytes | None
):
    name = played.capture.segment_id
    event = write_capture(system.episodes, played.capture, played.keyframe.data)
    write_segment(system.episodes, name)
    await system.bus.publisher("trainer").publish(event)  # its own id is a duplicate from now on
    await backlog_of(system.bus, SegmentCaptured, "exporter", 1)
    key = keys.segment("ep-1", name, "states.jsonl")
    whole = await examined(system, home, scrub=True, repairs=True)
    assert f"announced capture {name} again" not in whole.repaired
    if damage is None:
        system.episodes.delete_many([key])
    else:
        system.episodes.put(key, damage)
    report = await examined(system, home, scrub=True, repairs=True)
    assert f"announced capture {name} again" in report.repaired
    await backlog_of(system.bus, SegmentCaptured, "exporter", 2)


@pytest.mark.parametrize("damage", [b"{", None])
async def test_a_lost_champion_is_rebuilt(
    system: Opened, home: DataDirectory, damage: bytes | None
):
    registry = ModelRegistry(system.models, now=lambda: datetime.now(UTC))
    registry.publish(passed_candidate(seed=1), judge_config="judge", seed=1)
    assert codes(await examined(system, home, scrub=True)) == []
    if damage is None:
        system.models.delete_many([keys.CHAMPION])
    else:
        system.models.put(keys.CHAMPION, damage)
    lost = "champion_corrupt" if damage else "champion_missing"
    report = await examined(system, home)
    assert codes(report) == [lost]
    assert "\n" not in report.findings[0].text
    assert codes(await examined(system, home, repairs=True)) == []


async def test_a_model_with_other_bytes_and_an_older_champion_are_found(
    system: Opened, home: DataDirectory
):
    registry = ModelRegistry(system.models, now=lambda: datetime.now(UTC))
    registry.publish(passed_candidate(seed=1), judge_config="judge", seed=1)
    first = system.models.get(keys.CHAMPION)
    registry.pin("a test")
    registry.publish(passed_candidate(seed=2), judge_config="judge", seed=2)
    system.models.put(keys.CHAMPION, first)
    assert "champion_went_back" in codes(await examined(system, home))
    model = keys.reward_model(1, "rm.safetensors")
    system.models.put(model, b"x" + system.models.get(model)[1:])
    assert {"champion_unusable", "object_corrupt"} <= set(
        codes(await examined(system, home, scrub=True))
    )


async def test_secrets_that_others_may_read_are_found(system: Opened, home: DataDirectory):
    (home.root / "secrets.json").chmod(0o644)
    assert codes(await examined(system, home)) == ["secrets_readable"]


def test_a_stopped_pipeline_is_examined_on_servers_of_the_doctor(
    home: DataDirectory, played: Any, capsys: pytest.CaptureFixture[str]
):
    options = ["--data-dir", str(home.root), "--json"]
    assert main(options) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["healthy"], report["running"], report["findings"]) == (True, False, [])

    episodes = FileStore(home.root / "objects/zelda-episodes")
    write_capture(episodes, played.capture, played.keyframe.data)
    assert main(options) == 1
    assert [each["code"] for each in json.loads(capsys.readouterr().out)["findings"]] == [
        "capture_orphaned"
    ]
    assert main([*options, "--repair"]) == 0
    assert json.loads(capsys.readouterr().out)["in_progress"] == 1
    assert main(options) == 0, "its event waits for the exporter of the next start"


def test_a_stopped_pipeline_is_examined_in_the_stores_of_its_last_start(
    home: DataDirectory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    played: Any,
):
    write_capture(FileStore(tmp_path / "disk"), played.capture, played.keyframe.data)
    monkeypatch.setenv("EPISODES_STORE", str(tmp_path / "disk"))
    options = ["--data-dir", str(home.root), "--json", "--quick"]
    assert main(options) == 1
    monkeypatch.delenv("EPISODES_STORE")
    assert main(options) == 1, "the capture is found again"


async def test_the_command_that_redrives_a_dead_letter_works_as_printed(
    system: Opened, home: DataDirectory, tmp_path: Path
):
    letter = dead_letter(
        b'{"id": "it\'s $HOME"}', stream="CAPTURES", sequence=1, subject="s", consumer="exporter",
        attempts=1, reason="missing_object", detail="", dead_at=datetime.now(UTC),
    )  # fmt: skip
    await system.bus.publisher("exporter").publish(letter)
    curl = tmp_path / "curl"
    curl.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    curl.chmod(0o755)
    [found] = (await examined(system, home)).dead_letters
    ended = await asyncio.to_thread(
        subprocess.run,
        ["sh", "-c", found["redrive"]],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    words = ended.stdout.splitlines()
    assert f"Authorization: Bearer {home.secrets().api_token}" in words
    assert '{"event_id": "it\'s $HOME"}' in words


class DeletingStore(FileStore):
    """Its segments are deleted, as by the exporter, once one of their objects has been read."""

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        data = super().get(key, max_bytes)
        if key.endswith("manifest.json"):
            self.delete_many([info.key for info in self.list(key.removesuffix("manifest.json"))])
        return data


def test_a_segment_that_is_deleted_meanwhile_is_no_finding(tmp_path: Path):
    episodes = DeletingStore(tmp_path / "episodes")
    write_segment(episodes, "seg-1")
    assert list(scrub_episodes(episodes)) == []


async def test_a_score_that_is_too_large_does_not_stop_the_doctor(
    system: Opened, home: DataDirectory
):
    score = keys.score("judge", "seg-1")
    system.episodes.put(score, bytes(size_limit(score) + 1))
    report = await examined(system, home, scrub=True)
    assert ("object_unreadable", score) in {(f.code, f.subject) for f in report.findings}


def test_a_directory_without_a_pipeline_is_a_wrong_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["--data-dir", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
