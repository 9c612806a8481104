"""Sends where the training stands and which champion is live, for people, on plain NATS."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.telemetry import Missing, RewardModelStatus
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.repeating import LOOK_SECONDS, Repeated


@dataclass(frozen=True)
class StatusSender:
    """Sends `RewardModelStatus`, in which pins end by `now`; nothing in the ring waits for it."""

    training: TrainingLoop
    monitor: RewardHackingMonitor
    telemetry: TelemetryPublisher
    now: Callable[[], datetime]

    async def run(self) -> None:
        """Send until cancelled."""
        seconds = asyncio.get_running_loop().time
        repeated = Repeated()
        while True:
            status = status_of(self.training, self.monitor, self.now())
            if repeated.due(status, seconds()):
                await self.telemetry.send(status)
            await asyncio.sleep(LOOK_SECONDS)


def status_of(
    training: TrainingLoop, monitor: RewardHackingMonitor, now: datetime
) -> RewardModelStatus:
    """The reading at `now`; a pin that has ended by itself is none."""
    status, live = training.status(), training.champions.live
    champion = live.champion if live and live.pays else None
    held = champion is not None and champion.held(now)
    return RewardModelStatus(
        at=now,
        state=status.state,
        labels=status.labels,
        missing=tuple(
            Missing(what=need.what, have=need.found, need=need.least)
            for need in (status.pairs, *status.needs)
            if need is not None and not need.met
        ),
        champion_version=champion.version if champion else None,
        activation=champion.activation if champion else None,
        pinned=held,
        pin_reason=champion.pin_reason if champion and held else None,
        pinned_until=champion.pinned_until if champion and held else None,
        withdrawn=live.champion.withdrawn if live else None,
        champion_gate=live.manifest.metrics if champion and live else None,
        gaming_alarm=monitor.alarm,
    )
