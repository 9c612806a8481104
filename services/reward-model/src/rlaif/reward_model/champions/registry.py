"""The published reward models in the store: publish, roll back, repair after a crash.

Steps of a publication, and the state after a crash following each step:

1. `rm.safetensors`, `rm.pt`   an orphan that is never read; its version is reused only by the same
                               network
2. `manifest.json`             the commit point (`put_once`): the version exists; `heal` makes it
                               the champion
3. `champion.json`             the version is live; the event is not published yet
4. the event                   published again at each start, with the same id

Versions are never reused. One process writes at a time. If two do, in a rolling update or by
mistake, neither replaces a champion that it has not read: `champion.json` is written with
`If-Match`, else `ChampionConflictError` is raised.

`champion.json` is the only object that is replaced, so it is the one that can be damaged by hand.
Each activation leaves a copy, `reward_model/activations/N.json`, with its pin; `heal` rebuilds a
missing or unreadable champion from the newest copy that names a usable version.
"""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from pydantic import ValidationError

from rlaif.contracts.events import RewardModelPublished
from rlaif.contracts.reward_models import Champion, RewardModelManifest
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_net import artifact
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.weights import Weighted
from rlaif.storage import keys
from rlaif.storage.ports import (
    DAMAGED,
    InvalidKeyError,
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)

_JSON = "application/json"

logger = logging.getLogger(__name__)
_MANIFESTS_KEPT = 500
"""Manifests in memory, a page of the longest list."""

_MAX_ORPHANS = 20
"""Versions that are skipped because a crash left files without a manifest."""


class UnknownVersionError(LookupError):
    """No reward model of this version was published."""


class CorruptRegistryError(StorageError):
    """An object of the registry was not written by this service."""


class CorruptChampionError(CorruptRegistryError):
    """`champion.json` was not written by this service; `heal` rebuilds it."""


class ChampionConflictError(StorageError):
    """Another process changed the champion after it was read here; nothing was written."""


@dataclass(frozen=True)
class Live:
    """The champion with its manifest; `tag` identifies the object that was read."""

    champion: Champion
    manifest: RewardModelManifest
    tag: str | None = field(default=None, compare=False, repr=False)

    @property
    def pays(self) -> bool:
        """Whether the trainer uses it; False once it was withdrawn."""
        return self.champion.withdrawn is None

    def event(self) -> RewardModelPublished:
        """The event that publishes it; equal for equal activations."""
        metrics = self.manifest.metrics
        if metrics.heldout_accuracy is None:
            raise CorruptRegistryError(f"version {self.manifest.version} has no held-out accuracy")
        same = {"version", "model_key", "model_sha256", "parent_version", "labels", "episodes"}
        return RewardModelPublished(
            **self.manifest.model_dump(include=same),
            manifest_key=self.champion.manifest_key,
            layout_version=self.manifest.spec.layout_version,
            heldout_accuracy=metrics.heldout_accuracy,
            heldout_pairs=metrics.heldout_pairs,
            activation=self.champion.activation,
        )


class ModelRegistry:
    """Reads and writes `reward_model/`. Its calls block."""

    def __init__(self, store: ObjectStore, *, now: Callable[[], datetime]) -> None:
        """Work in `store`, the models' bucket; `now` dates manifests."""
        self._store = store
        self._now = now
        # Manifests never change.
        self._read_manifest = lru_cache(_MANIFESTS_KEPT)(self._manifest)

    def live(self) -> Live | None:
        """The champion, perhaps withdrawn; None before the first publication.

        Raises `CorruptChampionError`.
        """
        data, tag = self._stored()
        if data is None:
            return None
        try:
            return replace(self._live(Champion.model_validate_json(data)), tag=tag)
        except (ValidationError, UnknownVersionError, CorruptRegistryError) as error:
            reason = str(error).splitlines()[0]
            raise CorruptChampionError(f"{keys.CHAMPION} cannot be used: {reason}") from error

    def sound(self) -> bool:
        """Whether the champion is intact; if not, `heal` repairs it."""
        try:
            live = self.live()
        except CorruptChampionError:
            return False
        return live is not None or next(iter(self._store.list(keys.ACTIVATIONS)), None) is None

    def versions(self) -> list[int]:
        found = (
            keys.reward_model_version(item.key) for item in self._store.list(keys.REWARD_MODELS)
        )
        return sorted(version for version in found if version is not None)

    def manifest(self, version: int) -> RewardModelManifest:
        """The manifest of a version; `CorruptRegistryError` if it cannot be read."""
        return self._read_manifest(version)

    def _manifest(self, version: int) -> RewardModelManifest:
        key = keys.reward_model(version, "manifest.json")
        try:
            made = RewardModelManifest.model_validate_json(self._store.get(key))
        except ObjectNotFoundError as error:
            raise UnknownVersionError(f"there is no reward model {version}") from error
        except (ValidationError, ObjectCorruptError) as error:
            reason = str(error).splitlines()[0]
            raise CorruptRegistryError(f"{key} cannot be read: {reason}") from error
        if made.version != version:
            raise CorruptRegistryError(f"{key} describes version {made.version}")
        return made

    def network(self, version: int, *, layout_version: str) -> Weighted:
        """The network of a version; `RewardNetError` if its file is not one of this layout."""
        manifest = self.manifest(version)
        data = self._store.get(manifest.model_key)
        return artifact.load(data, sha256=manifest.model_sha256, layout_version=layout_version).net

    def publish(self, candidate: Candidate, *, judge_config: str, seed: int) -> Live:
        """Publish a candidate that passed as the next version and champion."""
        if candidate.net is None or not candidate.passed:
            raise ValueError(f"{candidate.candidate_id} did not pass the gate")
        live, versions = self.live(), self.versions()
        first = max(versions, default=0) + 1
        for version in range(first, first + _MAX_ORPHANS):
            data = artifact.save(
                candidate.net, candidate.net.spec, version=version, probes=candidate.probes
            )
            manifest = RewardModelManifest(
                version=version,
                model_key=keys.reward_model(version, "rm.safetensors"),
                model_sha256=hashlib.sha256(data).hexdigest(),
                spec=candidate.net.spec,
                judge_config=judge_config,
                # A withdrawn version is not a target of a rollback.
                parent_version=live.manifest.version if live and live.pays else None,
                labels=candidate.labels,
                preferences=candidate.preferences,
                episodes=candidate.episodes,
                label_digest=candidate.label_digest,
                seed=seed,
                metrics=candidate.metrics,
                created_at=self._now(),
                lineage=candidate.lineage,
            )
            if self._commit(manifest, data, candidate.rm_pt):
                return self._promote(self.manifest(version), live)
        raise CorruptRegistryError(
            f"versions {first} to {version} have files without a manifest; delete these folders of "
            f"{keys.REWARD_MODELS}"
        )

    def activate(
        self, version: int, *, pin_reason: str | None = None, pinned_until: datetime | None = None
    ) -> Live:
        """Make a published version the champion, if it is not already.

        Without `pin_reason` it is not pinned; without `pinned_until` the pin ends with `unpin`.
        Raises `RewardNetError` if the trainer would reject its file.
        """
        manifest = self.manifest(version)
        self.network(version, layout_version=manifest.spec.layout_version)
        live = self.live()
        if live is None or live.manifest.version != version or not live.pays:
            return self._promote(manifest, live, pin_reason=pin_reason, pinned_until=pinned_until)
        if pin_reason is None:
            return live
        return self._write(live, pin_reason=pin_reason, pinned_until=pinned_until)

    def withdraw(self, reason: str) -> Live:
        """Withdraw the champion; no model is live until one passes or is activated."""
        live = self._champion()
        champion = live.champion.model_copy(
            update={"activation": live.champion.activation + 1, "withdrawn": reason}
        )
        return self._write(replace(live, champion=champion), pin_reason=None)

    def pin(self, reason: str) -> Live:
        """Prevent candidates from replacing the champion until `unpin`."""
        return self._write(self._champion(), pin_reason=reason)

    def unpin(self) -> Live:
        return self._write(self._champion(), pin_reason=None)

    def heal(self) -> Live | None:
        """Finish an interrupted promotion, or rebuild a lost champion; returns the champion.

        Versions whose files cannot be used are skipped. A pinned champion stays.
        """
        try:
            live, reason = self.live(), f"{keys.CHAMPION} is missing"
        except CorruptChampionError as error:
            live, reason = None, str(error)
        if live is None:
            live = self._rebuild(reason)
        else:
            self._keep_copy(live.champion)
        if live is not None and live.champion.held(self._now()):
            return live
        known = live.champion.newest_version or live.champion.version if live else 0
        newest = self._newest_usable(above=known)
        return self._promote(newest, live) if newest is not None else live

    def _rebuild(self, reason: str) -> Live | None:
        """The champion of the last usable copy, including its pin; None without a copy."""
        for number in self._activations():
            live = self._copy(number)
            if live is not None and self._usable(live.manifest):
                logger.error(
                    "%s; rebuilt from activation %d: version %d, pinned: %s",
                    reason, number, live.manifest.version, live.champion.pinned,
                )  # fmt: skip
                self._put_champion(live.champion, self._stored()[1])
                return self.live()
        if self._stored()[0] is not None:
            logger.error(
                "%s; it has no usable copy, so the newest usable version is made live; an earlier "
                "rollback or pin is lost",
                reason,
            )
            # Deleted first: the trainer cannot use it either.
            self._store.delete_many([keys.CHAMPION])
        return None

    def _stored(self) -> tuple[bytes | None, str | None]:
        """The champion's object, readable or not, and its tag; None if there is none."""
        try:
            return self._store.get_tagged(keys.CHAMPION)
        except ObjectNotFoundError:
            return None, None
        except ObjectCorruptError as error:
            logger.error("deleting the champion, which cannot be read: %s", error)
            self._store.delete_many([keys.CHAMPION])
            return None, None

    def _activations(self) -> list[int]:
        found = (keys.activation_number(item.key) for item in self._store.list(keys.ACTIVATIONS))
        return sorted((number for number in found if number is not None), reverse=True)

    def _copy(self, number: int) -> Live | None:
        """The champion of an activation; None if its copy or version cannot be read."""
        try:
            return self._live(
                Champion.model_validate_json(self._store.get(keys.activation(number)))
            )
        except (
            ValidationError, UnknownVersionError, CorruptRegistryError, ObjectCorruptError
        ) as error:  # fmt: skip
            logger.warning("activation %d cannot be read: %s", number, error)
            return None

    def _live(self, champion: Champion) -> Live:
        manifest = self.manifest(champion.version)
        named = (champion.manifest_key, champion.model_key, champion.model_sha256)
        if named != _files_of(manifest):
            raise CorruptRegistryError(f"it does not name the files of version {manifest.version}")
        return Live(champion, manifest)

    def _newest_usable(self, *, above: int) -> RewardModelManifest | None:
        """The newest version after `above` whose files can be used; None without one."""
        for version in reversed(self.versions()):
            if version <= above:
                return None
            try:
                manifest = self.manifest(version)
            except CorruptRegistryError as error:
                logger.error("skipping version %d: %s", version, error)
                continue
            if self._usable(manifest):
                return manifest
        return None

    def _usable(self, manifest: RewardModelManifest) -> bool:
        try:
            self.network(manifest.version, layout_version=manifest.spec.layout_version)
        except (RewardNetError, *DAMAGED, InvalidKeyError) as error:
            logger.error("skipping version %d: %s", manifest.version, error)
            return False
        return True

    def _commit(self, manifest: RewardModelManifest, data: bytes, rm_pt: bytes) -> bool:
        """Write the files of a version; False if another network has it."""
        if (
            not self._store.put_once(manifest.model_key, data)
            and self._store.get(manifest.model_key) != data
        ):
            return False
        self._store.put(keys.reward_model(manifest.version, "rm.pt"), rm_pt)
        key = keys.reward_model(manifest.version, "manifest.json")
        record = manifest.model_dump_json().encode()
        # Equal bytes: a retried put whose first response was lost.
        return (
            self._store.put_once(key, record, content_type=_JSON) or self._store.get(key) == record
        )

    def _champion(self) -> Live:
        live = self.live()
        if live is None:
            raise UnknownVersionError("there is no champion yet")
        return live

    def _promote(
        self,
        manifest: RewardModelManifest,
        live: Live | None,
        *,
        pin_reason: str | None = None,
        pinned_until: datetime | None = None,
    ) -> Live:
        manifest_key, model_key, model_sha256 = _files_of(manifest)
        before = live.champion.activation if live else max([0, *self._activations()])
        champion = Champion(
            version=manifest.version,
            manifest_key=manifest_key,
            model_key=model_key,
            model_sha256=model_sha256,
            activation=before + 1,
            newest_version=max([manifest.version, *self.versions()]),
        )
        return self._write(
            Live(champion, manifest, tag=live.tag if live else None),
            pin_reason=pin_reason,
            pinned_until=pinned_until,
        )

    def _write(
        self, live: Live, *, pin_reason: str | None, pinned_until: datetime | None = None
    ) -> Live:
        """Replace the champion that was read, whose tag `live` has."""
        champion = live.champion.model_copy(
            update={
                "pinned": pin_reason is not None,
                "pin_reason": pin_reason,
                "pinned_until": pinned_until if pin_reason is not None else None,
            }
        )
        self._put_champion(champion, live.tag)
        self._keep_copy(champion)
        return Live(champion, live.manifest)

    def _put_champion(self, champion: Champion, tag: str | None) -> None:
        """Replace the object with this tag; without a tag, only create it."""
        data = _bytes_of(champion)
        if tag is None:
            done = self._store.put_once(keys.CHAMPION, data, content_type=_JSON)
        else:
            done = self._store.put_over(keys.CHAMPION, data, tag, content_type=_JSON)
        # Equal bytes: a retried put whose first response was lost.
        if not done and self._stored()[0] != data:
            raise ChampionConflictError(
                f"{keys.CHAMPION} was changed by another process after it was read; version "
                f"{champion.version} is not live; run only one reward-model service"
            )

    def _keep_copy(self, champion: Champion) -> None:
        """Store the copy of this activation; the champion is valid without it."""
        try:
            self._store.put(keys.activation(champion.activation), _bytes_of(champion))
        except StorageError as error:
            logger.warning("no copy of activation %d yet: %s", champion.activation, error)


def _bytes_of(champion: Champion) -> bytes:
    return champion.model_dump_json().encode()


def _files_of(manifest: RewardModelManifest) -> tuple[str, str, str]:
    """Keys of manifest and model, and the model's digest, as a champion names them."""
    key = keys.reward_model(manifest.version, "manifest.json")
    return key, manifest.model_key, manifest.model_sha256
