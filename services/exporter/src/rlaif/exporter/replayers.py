"""Pool of replay processes; a process whose replay hangs is killed.

Faults of a capture are `rlaif.exporter.faults.ExportFault`. Other errors:

FailedReplayError        the replay raised an unexpected error
NoReplayerError          no process could be started; the capture is not at fault
"""

import asyncio
import contextlib
import logging
from typing import Any

from rlaif.contracts.game.captures import Capture
from rlaif.exporter.faults import ExportFault, HungReplayError, LostReplayError
from rlaif.exporter.messages import LARGEST_BYTES, BrokenMessageError, Message, decode, encode
from rlaif.exporter.replaying import SegmentFiles
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.captures.replay import replay_frames
from rlaif.game.machine.cartridges import Cartridge
from rlaif.service.child_process import ChildProcess, ending

_START_SECONDS = 60.0

logger = logging.getLogger(__name__)


class FailedReplayError(Exception):
    """The replay raised an unexpected error; its process is intact."""


class NoReplayerError(Exception):
    """No replay process could be started."""


class ReplayerPool:
    """Replays captures, each in its own process.

    The number of processes is bounded by the worker's concurrency.
    """

    def __init__(self, cartridge: Cartridge, settings: ReplaySettings) -> None:
        self._cartridge = cartridge
        self._settings = settings
        self._free: list[ChildProcess] = []
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
            answer = await _ask(
                replayer,
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
                "its keyframe makes the emulator hang, or this machine is much too slow "
                "(EXPORTER_REPLAY_GRACE_SECONDS)"
            ) from error
        except (EOFError, OSError, ValueError) as error:
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
        """Terminate the idle processes; the others terminate after their replays."""
        free, self._free = self._free, []
        await asyncio.gather(*(replayer.end() for replayer in free))

    async def _take(self) -> ChildProcess:
        if (free := await self._pop()) is not None:
            return free
        # One at a time: the one being started may suffice.
        async with self._starting:
            return await self._pop() or await self._start()

    async def _pop(self) -> ChildProcess | None:
        while self._free:
            replayer = self._free.pop()
            if replayer.alive:
                return replayer
            await replayer.kill()
        return None

    async def _start(self) -> ChildProcess:
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
    """The segment of an answer; raises the answer's error, or BrokenMessageError if invalid."""
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


async def _start(cartridge: Cartridge, settings: ReplaySettings) -> ChildProcess:
    try:
        replayer = await ChildProcess.start("rlaif.exporter.replay_process")
    except OSError as error:
        raise NoReplayerError(f"no replay process could be started: {error}") from error
    try:
        answer = await _ask(replayer, *start_request(cartridge, settings), seconds=_START_SECONDS)
        if "ready" not in answer.header:
            raise EOFError(answer.header.get("failed", "no answer"))
    except (TimeoutError, EOFError, OSError, ValueError) as error:
        code = await replayer.ended()
        why = str(error) or f"no answer in {_START_SECONDS:g} s"
        raise NoReplayerError(
            f"no replay process could be started ({ending(code)}): {why}; see the log"
        ) from error
    except BaseException:
        await replayer.kill()
        raise
    logger.info("replay process started", extra={"pid": replayer.pid})
    return replayer


async def _ask(
    replayer: ChildProcess, header: dict[str, Any], parts: tuple[bytes, ...], *, seconds: float
) -> Message:
    """As `ChildProcess.ask`; BrokenMessageError for bytes that are no message."""
    return decode(await replayer.ask(encode(header, parts), seconds=seconds, most=LARGEST_BYTES))
