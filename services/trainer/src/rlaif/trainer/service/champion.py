"""Passes the champion reward model to the training process.

`rm.published` is a hint; `reward_model/champion.json` determines the model, so lost, repeated and
reordered events are harmless.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import ValidationError

from rlaif.contracts.reward_models import Champion
from rlaif.files.whole import write_whole
from rlaif.pacing.pause import pause
from rlaif.storage import keys, sealed
from rlaif.storage.ports import (
    InvalidKeyError,
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.protocol import LoadRewardModel, RewardModelRefused

logger = logging.getLogger(__name__)

POLL_SECONDS = 30.0

_DISK_PAUSE_SECONDS = 5.0


class ChampionWatcher:
    """Fetches the champion when it changes and passes it on as a command."""

    def __init__(
        self,
        store: ObjectStore,
        directory: Path,
        send: Callable[[LoadRewardModel], Awaitable[None]],
        refuse: Callable[[RewardModelRefused], None] = lambda refusal: None,
    ) -> None:
        """Keep models in `directory`; call `refuse` once for a model with a wrong digest."""
        self._store = store
        self._directory = directory
        self._send = send
        self._refuse = refuse
        self._sent: Champion | None = None
        self._refused: Champion | None = None
        self._hint = asyncio.Event()
        self._disk_issue: str | None = None
        self._unreadable: str | None = None

    def check(self) -> str | None:
        """Why the champion is unknown, old, or cannot be stored on this disk; None if stored."""
        return self._unreadable or self._disk_issue

    def hint(self) -> None:
        """Check soon, after an event that reported a change."""
        self._hint.set()

    async def run(self) -> None:
        while True:
            seconds = POLL_SECONDS
            try:
                await self.refresh()
                self._disk_issue = None
            except StorageError as error:
                logger.warning("cannot read the champion", extra={"reason": str(error)})
            except OSError as error:
                self._disk_issue = f"the model cannot be stored on this disk: {disk.why(error)}"
                logger.warning("cannot store the champion", extra={"reason": self._disk_issue})
                seconds = _DISK_PAUSE_SECONDS
            if await pause(seconds, unless=self._hint):
                self._hint.clear()

    async def refresh(self) -> bool:
        """Fetch and pass on the champion if it changed; returns whether it did."""
        champion = await asyncio.to_thread(self._read)
        if champion is None or champion == self._sent or self._is_older(champion):
            return False
        path: Path | str | None = ""
        if champion.withdrawn is None:  # else its file is not needed
            path = await asyncio.to_thread(self._fetch, champion)
        if path is None:
            self._report(champion)
            return False
        await self._send(
            LoadRewardModel(
                version=champion.version,
                path=str(path),
                sha256=champion.model_sha256,
                withdrawn=champion.withdrawn,
            )
        )
        self._sent = champion
        return True

    def _is_older(self, champion: Champion) -> bool:
        """Whether it is older than the last one passed on, as a copy or a forgery."""
        if self._sent is None or champion.activation >= self._sent.activation:
            return False
        self._unreadable = (
            f"{keys.CHAMPION} has activation {champion.activation}, which is older than the loaded "
            f"{self._sent.activation}, so the loaded model stays; activate a version, or restart "
            "this service if the store was replaced"
        )
        return True

    def _report(self, champion: Champion) -> None:
        """Report a rejected champion once; it is fetched again in case it is repaired."""
        if champion == self._refused:
            return
        self._refused = champion
        self._refuse(
            RewardModelRefused(
                version=champion.version,
                reason=f"hash_mismatch: {champion.model_key} is not the published file; "
                "activate another version, or upload it again",
            )
        )

    def _read(self) -> Champion | None:
        """The champion; None, so that the last one stays, if it is missing or unreadable."""
        champion, unreadable = None, None
        try:
            champion = Champion.model_validate_json(self._store.get(keys.CHAMPION))
        except ObjectNotFoundError:
            pass
        except (ValidationError, ObjectCorruptError) as error:
            unreadable = (
                f"{keys.CHAMPION} cannot be read, so the loaded model stays; the "
                "reward-model service rebuilds the file: check that it is running"
            )
            if self._unreadable is None:
                logger.error(unreadable, extra={"reason": f"{error!s:.500}"})
        self._unreadable = unreadable
        return champion

    def _fetch(self, champion: Champion) -> Path | None:
        """The verified model on local disk; None if the object has a wrong digest."""
        path = self._directory / f"{champion.model_sha256}.safetensors"
        if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == path.stem:
            return path
        try:
            data = sealed.read(self._store, champion.model_key, champion.model_sha256)
        except (ObjectCorruptError, InvalidKeyError) as error:
            logger.error(
                "reward model has a wrong digest; keeping the previous one",
                extra={"version": champion.version, "reason": str(error)},
            )
            return None
        write_whole(path, data)
        return path
