"""Republishes events of orphaned and damaged segments."""

import asyncio
import time

from pydantic import ValidationError

from rlaif.contracts.game.captures import Capture
from rlaif.exporter.committing import exported_event
from rlaif.exporter.faults import ExportFault
from rlaif.judge.scoring.scores import CorruptScoreError, Scores, parse_score
from rlaif.local.doctor.champion import rebuild_champion
from rlaif.local.doctor.facts import Facts
from rlaif.local.doctor.findings import Finding
from rlaif.local.doctor.opening import Opened
from rlaif.local.doctor.segments import unannounced, unexported, unscored
from rlaif.storage import keys
from rlaif.storage.ports import StorageError
from rlaif.trainer.service.uploader import captured_event

_LOST_CHAMPION = {"champion_corrupt", "champion_missing"}


async def repair(system: Opened, facts: Facts, findings: list[Finding]) -> list[str]:
    """Repair the repairable findings; returns a line for each repair.

    Only damaged files of segments are replaced, by a new export of the capture.
    """
    done = []
    announcements = (
        *(("capture", segment) for segment in _damaged(facts, findings)),
        *(("capture", segment) for segment in unexported(facts) if segment in facts.captures),
        *(("segment", segment) for segment in unscored(facts)),
        *(("score", keys.score(*each)) for each in unannounced(facts)),
    )
    for kind, name in announcements:
        try:
            await _announce(system, facts, kind, name)
        except (StorageError, ValidationError, ExportFault, CorruptScoreError):
            continue  # reported separately: its object is damaged
        done.append(f"announced {kind} {name} again")
    if any(each.code in _LOST_CHAMPION for each in findings):
        live = await asyncio.to_thread(rebuild_champion, system.models)
        done.append(live or "no reward model is live: no usable one was published")
    return done


def _damaged(facts: Facts, findings: list[Finding]) -> list[str]:
    """Exported segments with a damaged or missing file and an intact capture."""
    codes = ("object_corrupt", "object_missing")
    damaged = tuple(each.subject for each in findings if each.code in codes)
    folders = {name: key.removesuffix("manifest.json") for name, key in facts.manifests.items()}
    return [
        name
        for name in sorted(facts.captures.keys() & folders.keys())
        if any(key.startswith(folders[name]) for key in damaged)
    ]


async def _announce(system: Opened, facts: Facts, kind: str, name: str) -> None:
    episodes = system.episodes
    # An event published within the duplicate window would be dropped under the same id.
    again = int(time.time())
    if kind == "capture":
        data = await asyncio.to_thread(episodes.get, facts.captures[name])
        event = captured_event(Capture.model_validate_json(data), data)
        await system.bus.publisher("trainer", again=again).publish(event)
    elif kind == "segment":
        key = facts.manifests[name]
        data = await asyncio.to_thread(episodes.get, key)
        publisher = system.bus.publisher("exporter", again=again)
        await publisher.publish(exported_event(data, key))
    else:
        stored = parse_score(await asyncio.to_thread(episodes.get, name), name)
        publisher = system.bus.publisher("judge")
        await Scores(episodes, publisher, stored.record.judge_config).publish(stored)
