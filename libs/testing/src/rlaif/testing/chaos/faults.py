"""Inject planned faults into the running stack and measure the recovery from each."""

import asyncio
import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from rlaif.bus.errors import BusError
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentCaptured, SegmentExported, SegmentScored
from rlaif.storage import keys
from rlaif.storage.ports import StorageError
from rlaif.testing.chaos.plan import PROCESSES, SERVERS, Fault
from rlaif.testing.chaos.rig import Rig
from rlaif.testing.data.junk import JUNK
from rlaif.testing.waiting import eventually

_RECOVERY_SECONDS = 90.0
_POLL_SECONDS = 0.1
_AT_ONCE = 3
_NEWEST = 100
"""Number of newest segments of which an object may be damaged: they may still be handled."""

_SMALL = 60_000
"""Maximum size of junk events, in bytes: NATS rejects 1 MB."""

_NOT_NOW = (BusError, StorageError, httpx.HTTPError, OSError)
"""Another fault prevents this one."""


@dataclass(eq=False)
class Injected:
    """A fault that is active or has ended.

    Attributes:
        at: Seconds since the start of the stack.
        recovery: Seconds from its end (for a kill, from its start) until its target was ready
            again, despite other faults. None: not within 90 s, or not applicable.
    """

    fault: Fault
    at: float
    recovery: float | None = None


@dataclass
class Injector:
    """Injects at most three faults at a time, one per target.

    Attributes:
        damaged: Segments of which an object was damaged before they were exported, or whose
            exported files were.
        backups: Key → bytes of each damaged object.
        skipped: Faults that were prevented by other ones.
    """

    rig: Rig
    seed: int
    done: list[Injected] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    backups: dict[str, bytes] = field(default_factory=dict)
    skipped: int = 0
    _rng: Random = field(init=False)
    _busy: set[str] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._rng = Random(f"injector {self.seed}")

    async def inject(self, fault: Fault) -> None:
        """Start a fault once fewer than three are active and its target has no other."""
        target = f"link {fault.target}" if fault.kind == "link" else fault.target
        await eventually(
            lambda: len(self._busy) < _AT_ONCE and target not in self._busy,
            f"room for {fault.name}",
            seconds=10 * _RECOVERY_SECONDS,
        )
        self._busy.add(target)
        self.done.append(happens := Injected(fault, round(self.rig.seconds, 1)))
        task = asyncio.create_task(self._run(happens, target))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until all faults have ended and their targets have recovered."""
        await asyncio.gather(*self._tasks)

    async def _run(self, happens: Injected, target: str) -> None:
        try:
            await self._apply(happens.fault)
            happens.recovery = await self._recovered(happens.fault)
        except _NOT_NOW:
            self.done.remove(happens)
            self.skipped += 1
        finally:
            self._busy.discard(target)

    async def _apply(self, fault: Fault) -> None:
        if fault.kind in {"kill", "stop", "kill child"}:
            await self._signal(fault)
        elif fault.kind == "link":
            proxy = self.rig.proxies[fault.target]
            proxy.disturb(fault.how)
            await asyncio.sleep(fault.seconds)
            proxy.heal()
        elif fault.kind == "llm":
            await self.rig.tell_llm(fault.how)
            await asyncio.sleep(fault.seconds)
            with suppress(httpx.HTTPError):  # it was restarted without faults
                await self.rig.tell_llm("")
        elif fault.kind == "object":
            await self._damage(fault)
        else:
            with self.rig.bus.asking("publish garbage"):
                await (self._send_junk() if fault.how == "junk" else self._send_again())

    async def _signal(self, fault: Fault) -> None:
        tree = self.rig.tree(fault.target)
        if fault.kind == "kill child":
            tree = tree[1:]
        if not tree:
            raise ProcessLookupError(fault.target)
        pid = self._rng.choice(tree) if fault.kind == "kill child" else tree[0]
        if fault.kind != "stop":
            os.kill(pid, signal.SIGKILL)
            return
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(fault.seconds)
        if self.rig.children[fault.target].pid == pid:  # else it was restarted meanwhile
            os.kill(pid, signal.SIGCONT)

    async def _recovered(self, fault: Fault) -> float | None:
        """Wait until the target is ready."""
        if fault.kind in {"object", "garbage"}:
            return None
        indirect = fault.kind == "llm" or (fault.kind == "link" and fault.target == "mock-llm")
        hit = [fault.target]
        if indirect:
            hit = ["judge", "judge-2"]
        elif fault.kind == "link":
            hit = [name for name in PROCESSES if name not in SERVERS]
        began = time.monotonic()
        await asyncio.sleep(_POLL_SECONDS)
        while time.monotonic() - began < _RECOVERY_SECONDS:
            if all(await asyncio.gather(*map(self.rig.is_ready, hit))):
                return round(time.monotonic() - began, 1)
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _damage(self, fault: Fault) -> None:
        """Damage an object of a captured segment and store a copy of the original."""
        name = self._rng.choice(list(self.rig.segments)[-_NEWEST:])
        recording = self.rig.segments[name]
        episode = recording.capture.episode_id
        key = {
            "capture": keys.capture(episode, name),
            "keyframe": keys.keyframe(recording.keyframe.sha256),
            "segment": keys.segment(
                episode, name, self._rng.choice(("states.jsonl", "observations.npy"))
            ),
        }[fault.target]
        affected = {name}
        if fault.target == "keyframe":  # captures that are uploaded later repair it
            affected = await asyncio.to_thread(self._unexported, recording.keyframe.sha256)
        store = self.rig.system.episodes
        good = await asyncio.to_thread(store.get, key)
        self.backups.setdefault(key, good)
        self.damaged |= affected
        if fault.how == "delete":
            await asyncio.to_thread(store.delete_many, [key])
        else:
            bad = bytearray(good)
            bad[len(bad) // 2] ^= 1
            if fault.how == "cut":
                del bad[len(bad) // 2 :]
            await asyncio.to_thread(store.put, key, bytes(bad))

    def _unexported(self, keyframe: str) -> set[str]:
        """Captured segments that start at a keyframe and may still be replayed from it."""
        store = self.rig.system.episodes
        mine = [
            each.capture
            for each in list(self.rig.segments.values())
            if each.keyframe.sha256 == keyframe
        ]
        return {
            each.segment_id
            for each in mine
            if store.head(keys.manifest(each.episode_id, each.segment_id)) is None
        }

    async def _send_junk(self) -> None:
        kind = self._rng.choice((SegmentCaptured, SegmentExported, SegmentScored))
        junk = self._rng.choice([each for each in JUNK.values() if len(each) < _SMALL])
        await self.rig.bus.jetstream.publish(spec_of(kind).subject, junk, timeout=5)

    async def _send_again(self) -> None:
        """Publish a stored event under another id, as a producer with a bug would."""
        spec = spec_of(self._rng.choice((SegmentCaptured, SegmentExported)))
        js = self.rig.bus.jetstream
        state = (await js.stream_info(spec.stream)).state
        sequence = self._rng.randint(max(1, state.first_seq), max(1, state.last_seq))
        message = await js.get_msg(spec.stream, sequence)
        try:
            event: dict[str, Any] = json.loads(message.data or b"")
        except ValueError:
            return await self._send_junk()
        if not isinstance(event, dict) or "data" not in event:
            return await self._send_junk()
        event["id"] = f"{event['id']}-again-{len(self.done)}"
        await js.publish(spec.subject, json.dumps(event).encode(), timeout=5)
        return None
