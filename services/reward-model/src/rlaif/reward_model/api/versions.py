"""REST routes of published versions, their measurements, the champion, and the monitor."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from rlaif.contracts.reward_model_rest import (
    ActivationRequest,
    ChampionReport,
    ComparisonReport,
    ExaminationReport,
    GateReport,
    PinRequest,
    UnreadableVersion,
    WatchdogReport,
)
from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.reward_model.api.problems import ready, store_problems, stored
from rlaif.reward_model.champions.examination import compare_versions, examine_version
from rlaif.reward_model.champions.registry import CorruptRegistryError, Live, ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.labels.labels import label_digest, vote_digest
from rlaif.reward_model.learning.gate.checks import gate_checks, heldout_checks
from rlaif.reward_model.learning.settings import CONFIDENCE, GateSettings, gate_settings_of
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.paging import Page, PageRequest, Paging
from rlaif.service.problems import not_found

Version = Annotated[int, Path(ge=1, description="Version of the reward model.")]
Training = Callable[[], TrainingLoop | None]
"""None until NATS and S3 are reached."""

_MAX_KNOWN = 16
"""Examinations that are cached."""


class ModelPage(Page[RewardModelManifest]):
    """Published models, newest first."""

    unreadable: list[UnreadableVersion] = Field(
        description="Versions of this page whose manifest cannot be read; not in `items`."
    )


def build_versions_router(
    training: Training, monitor: Callable[[], RewardHackingMonitor | None]
) -> APIRouter:
    """The routes; the arguments give None until NATS and S3 are reached."""
    router = APIRouter(prefix="/api/v1")
    models = APIRouter(prefix="/reward-models", tags=["reward-models"])
    _add_reading(models, training)
    _add_examining(models, training)
    _add_changing(models, training)
    router.include_router(models)

    @router.get("/watchdog", tags=["watchdog"], operation_id="get_watchdog")
    async def get_watchdog() -> WatchdogReport:
        """State of the reward hacking monitor and its last alarm."""
        active = ready(monitor())
        return WatchdogReport(
            iterations=active.iterations,
            window=active.window_iterations,
            alarms=active.alarms,
            alarm=active.alarm,
        )

    return router


def _add_reading(router: APIRouter, training: Training) -> None:
    def registry() -> ModelRegistry:
        return ready(training()).champions.registry

    @router.get("", operation_id="list_reward_models")
    async def list_reward_models(paging: Paging) -> ModelPage:
        """Published versions, newest first, with measurements and lineage."""
        return await stored(_model_page, registry(), paging)

    @router.get("/champion", operation_id="get_champion")
    async def get_champion() -> ChampionReport:
        """The live version."""
        live = await stored(registry().live)
        if live is None:
            raise not_found("reward-model", "champion")
        return _champion_report(live)

    @router.get("/{version}", operation_id="get_reward_model")
    async def get_reward_model(version: Version) -> RewardModelManifest:
        """One published version."""
        return await stored(registry().manifest, version)


def _add_examining(router: APIRouter, training: Training) -> None:
    one_at_a_time = asyncio.Lock()
    known: dict[tuple[object, ...], ExaminationReport] = {}

    @router.get("/{version}/gate", operation_id="get_reward_model_gate")
    async def get_reward_model_gate(version: Version) -> GateReport:
        """The gate's checks of one version, as measured at its training."""
        active = ready(training())
        manifest = await stored(active.champions.registry.manifest, version)
        return _gate_report(manifest, active.settings.gate)

    @router.get("/{version}/examination", operation_id="examine_reward_model")
    async def examine_reward_model(version: Version) -> ExaminationReport:
        """One version on the current labels: accuracy, calibration, shaping reward by slot."""
        active = ready(training())
        registry, labels = active.champions.registry, active.labels
        compared = sum(len(item.preferred) for item in labels)
        key = version, label_digest(labels), compared, vote_digest(labels)
        async with one_at_a_time:
            if key not in known:
                found = await stored(examine_version, registry, version, labels, active.settings)
                if len(known) >= _MAX_KNOWN:
                    del known[next(iter(known))]
                known[key] = found
            return known[key]

    @router.get("/{version}/compare/{other}", operation_id="compare_reward_models")
    async def compare_reward_models(version: Version, other: Version) -> ComparisonReport:
        """Two versions on held-out pairs."""
        active = ready(training())
        registry, labels = active.champions.registry, active.labels
        return await stored(compare_versions, registry, version, other, labels, active.settings)


def _add_changing(router: APIRouter, training: Training) -> None:
    @router.post("/{version}/activate", operation_id="activate_reward_model")
    async def activate_reward_model(
        version: Version, how: ActivationRequest | None = None
    ) -> ChampionReport:
        """Make a published version live.

        It is pinned unless the body says otherwise: candidates do not replace it until
        `DELETE /reward-models/champion/pin`.
        """
        how = how or ActivationRequest()
        champions = ready(training()).champions
        reason = how.reason if how.pin else None
        return await _changed(champions.activate(version, pin_reason=reason))

    @router.put("/champion/pin", operation_id="pin_champion")
    async def pin_champion(pin: PinRequest | None = None) -> ChampionReport:
        """Prevent candidates from replacing the champion."""
        return await _changed(ready(training()).champions.pin((pin or PinRequest()).reason))

    @router.delete("/champion/pin", operation_id="unpin_champion")
    async def unpin_champion() -> ChampionReport:
        """Allow candidates to replace the champion, and train one soon."""
        active = ready(training())
        free = await _changed(active.champions.unpin())
        active.request()
        return free


async def _changed(change: Awaitable[Live]) -> ChampionReport:
    with store_problems():
        return _champion_report(await change)


def _gate_report(manifest: RewardModelManifest, now: GateSettings) -> GateReport:
    then = gate_settings_of(manifest.lineage.settings) if manifest.lineage else None
    checks = (*heldout_checks(manifest.metrics), *gate_checks(manifest.metrics, then or now))
    return GateReport(
        version=manifest.version,
        confidence=CONFIDENCE,
        settings_known=then is not None,
        checks=tuple(check.row() for check in checks),
    )


def _model_page(registry: ModelRegistry, paging: PageRequest) -> ModelPage:
    below = paging.after_number()
    versions = [v for v in reversed(registry.versions()) if below is None or v < below]
    unreadable: list[UnreadableVersion] = []

    def readable() -> Iterator[RewardModelManifest]:
        for version in versions:
            try:
                yield registry.manifest(version)
            except CorruptRegistryError as error:
                unreadable.append(UnreadableVersion(version=version, reason=str(error)))

    page = paging.take(readable(), lambda item: str(item.version))
    # Unreadable versions after the last item belong to the next page.
    last = page.items[-1].version if page.next_cursor else 0
    return ModelPage(
        items=page.items,
        next_cursor=page.next_cursor,
        unreadable=[item for item in unreadable if item.version > last],
    )


def _champion_report(live: Live) -> ChampionReport:
    named = live.champion.model_dump(include=ChampionReport.model_fields.keys() - {"manifest"})
    return ChampionReport(**named, manifest=live.manifest)
