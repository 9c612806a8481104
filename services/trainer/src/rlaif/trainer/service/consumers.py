"""Which events the trainer listens to, and what each does."""

from typing import Any

from rlaif.bus.connection import Bus
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import RewardModelPublished
from rlaif.trainer.service.champion import ChampionWatcher


def build_workers(
    bus: Bus, champion: ChampionWatcher, observer: WorkerObserver
) -> list[DurableWorker]:
    """The trainer's workers: event → handler."""

    async def handle_reward_model_published(_event: CloudEvent[Any]) -> None:
        champion.hint()

    return [
        DurableWorker(
            bus,
            RewardModelPublished,
            "trainer",
            handle_reward_model_published,
            observer=observer,
        )
    ]
