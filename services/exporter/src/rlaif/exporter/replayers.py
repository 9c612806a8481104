"""Pool of replay processes; a process whose replay hangs is killed.

Faults of a capture are `rlaif.exporter.faults.ExportFault`. Other errors:

FailedReplayError        the replay raised an unexpected error
NoReplayerError          no process could be started; the capture is not at fault
"""

import asyncio
import contextlib
import logging
import os
import sys
from typing import Any

from rlaif.contracts.game.captures import Capture
from rlaif.exporter.faults import ExportFault, HungReplayError, LostReplayError
from rlaif.exporter.messages import (
    LENGTH,
    BrokenMessageError,
    Message,
    body_length,
    decode,
    encode,
)
from rlaif.exporter.replaying import SegmentFiles
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.captures.replay import replay_frames
from rlaif.game.machine.cartridges import Cartridge
from rlaif.service.child_process import ending

_START_SECONDS = 60.0
_END_SECONDS = 2.0

_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
"""Otherwise numpy starts an unused thread per core."""

logger = logging.getLogger(__name__)


class FailedReplayError(Exception):
    """The replay raised an unexpected error; its process is intact."""


class NoReplayerError(Exception):
    """No replay process could be started."""


class ReplayerPool:
    """Replays captures, each on a process of its own.

    The number of processes is bounded by the worker's concurrency.
    """

    def __init__(self, cartridge: Cartridge, settings: ReplaySettings) -> None:
        self._cartridge = cartridge
        self._settings = settings
        self._free: list[_Replayer] = []
        self._starting = asyncio.Lock()
        self._why: str | None = None

    def check(self) -> str | None:
        """Reason why no replay is possible, or None."""
        return self._why

    async def warm(self) -> None:
        """Start a process in advance; `check` reports a failure."""
        with contextlib.suppress(NoReplayerError):
            async with self._starting:
                self._free.append(await self._start())

    async def replay(self, capture: Capture, packed_keyframe: bytes) -> SegmentFiles:
        """Replay a capture; see `rlaif.exporter.replaying`.

        Raises:
            ExportFault: It cannot be replayed, or its replay cost the process.
            FailedReplayError: An unexpected error.
            NoReplayerError: No process is available.
        """
        replayer = await self._take()
        seconds = self._settings.seconds(replay_frames(capture))
        try:
            answer = await replayer.ask(
                {"seconds": seconds},
                (capture.model_dump_json().encode(), packed_keyframe),
                seconds=seconds,
            )
            files = segment_files(answer)
        except (ExportFault, FailedReplayError):
            self._free.append(replayer)
            raise
        except TimeoutError as error:
            await replayer.kill()
            raise HungReplayError(
                f"the replay of segment {capture.segment_id} did not end within {seconds:.0f} s; "
                "its keyframe makes the emulator hang, or this machine is far too slow "
                "(EXPORTER_REPLAY_GRACE_SECONDS)"
            ) from error
        except (EOFError, OSError, BrokenMessageError) as error:
            code = await replayer.ended()
            raise LostReplayError(
                f"the process that replayed segment {capture.segment_id} ended ({ending(code)}): "
                f"{error or type(error).__name__}"
            ) from error
        except BaseException:
            await replayer.kill()
            raise
        self._free.append(replayer)
        return files

    async def close(self) -> None:
        """End the idle processes; the others end after their replays."""
        free, self._free = self._free, []
        await asyncio.gather(*(replayer.end() for replayer in free))

    async def _take(self) -> "_Replayer":
        if (free := await self._pop()) is not None:
            return free
        # One at a time: the one being started may suffice.
        async with self._starting:
            return await self._pop() or await self._start()

    async def _pop(self) -> "_Replayer | None":
        while self._free:
            replayer = self._free.pop()
            if replayer.alive:
                return replayer
            await replayer.kill()
        return None

    async def _start(self) -> "_Replayer":
        try:
            started = await _start(self._cartridge, self._settings)
        except NoReplayerError as error:
            self._why = str(error)
            raise
        self._why = None
        return started


def start_request(
    cartridge: Cartridge, settings: ReplaySettings
) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    """Header and parts of the first message to a process."""
    header = {
        "rom_sha256": cartridge.sha256,
        "game": cartridge.game,
        "sound_emulated": cartridge.needs_sound,
        "png_interval_frames": settings.png_interval_frames,
        "film_pictures": settings.film_pictures,
    }
    return header, (cartridge.data,)


def segment_files(answer: Message) -> SegmentFiles:
    """The segment of an answer, else raise its error; BrokenMessageError for neither."""
    match answer.header:
        case {"refused": str(reason), "detail": str(detail)}:
            raise ExportFault(reason, detail)
        case {"failed": str(detail)}:
            raise FailedReplayError(detail)
        case {"replayed": {"frames": int(frames), "picture_steps": [*steps]}}:
            states, observations, film, *pictures = answer.parts
            return SegmentFiles(
                states=states,
                observations=observations,
                pictures=dict(zip(steps, pictures, strict=True)),
                replayed_frames=frames,
                film=film or None,
            )
    raise BrokenMessageError("an answer of unknown type")


class _Replayer:
    """One process, used by one replay at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(
        self, header: dict[str, Any], parts: tuple[bytes, ...], *, seconds: float
    ) -> Message:
        """Send a request and wait for its answer; EOFError or OSError if the process ended."""
        outgoing, incoming = self._process.stdin, self._process.stdout
        assert outgoing is not None
        assert incoming is not None
        async with asyncio.timeout(seconds):
            outgoing.write(encode(header, parts))
            await outgoing.drain()
            length = body_length(await incoming.readexactly(LENGTH.size))
            return decode(await incoming.readexactly(length))

    async def kill(self) -> int:
        """Kill it; returns its exit code, negative for a signal."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        return await self._process.wait()

    async def ended(self) -> int:
        """Exit code of a process that closed its pipe.

        It gets a moment to end by itself: `kill` polls it first, and asyncio would then lose the
        exit code, which identifies the cause.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                return await self._process.wait()
        return await self.kill()

    async def end(self) -> None:
        """Let it end, then kill it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()


async def _start(cartridge: Cartridge, settings: ReplaySettings) -> _Replayer:
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rlaif.exporter.replay_process", str(os.getpid()),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env=os.environ | _ONE_THREAD,
        )  # fmt: skip
    except OSError as error:
        raise NoReplayerError(f"no replay process could be started: {error}") from error
    replayer = _Replayer(process)
    try:
        answer = await replayer.ask(*start_request(cartridge, settings), seconds=_START_SECONDS)
        if "ready" not in answer.header:
            raise EOFError(answer.header.get("failed", "no answer"))
    except (TimeoutError, EOFError, OSError, BrokenMessageError) as error:
        code = await replayer.ended()
        why = str(error) or f"no answer in {_START_SECONDS:g} s"
        raise NoReplayerError(
            f"no replay process could be started ({ending(code)}): {why}; see the log"
        ) from error
    except BaseException:
        await replayer.kill()
        raise
    logger.info("replay process started", extra={"pid": process.pid})
    return replayer
