"""A ring on a stage: everything that services send, without the services.

For tests of what watches the ring. The events, objects and readings agree with each other.
"""

import hashlib
import math
import random
from datetime import UTC, datetime
from typing import Any

from rlaif.bus.connection import Bus
from rlaif.contracts.assistance import ModeFigures
from rlaif.contracts.events import RewardModelPublished
from rlaif.contracts.quest import QuestProgress, Standing
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord, rubric_mean
from rlaif.contracts.telemetry import (
    AssistanceStatus,
    JudgeCall,
    MapPosition,
    Missing,
    ModelLoad,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    RunHistory,
    ServiceHealth,
    TrainingProgress,
    WatchedPay,
)
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.events import (
    reward_model_published,
    reward_model_rejected,
    segment_captured,
    segment_exported,
    segment_scored,
)
from rlaif.testing.data.scores import judge_call, score_record

SERVICES = ("trainer", "exporter", "judge", "reward-model")
JUDGES = ("state", "puzzle", "vision")
COMPUTED = ("novelty", "efficiency")

_GATE = GateMetrics(
    paid_accuracy=0.812, best_slot_accuracy=0.644, ridge_accuracy=0.703, llm_only_share=0.457
)
_PAID = tuple(0.11 * math.sin(number / 2.5) + 0.04 for number in range(20))


_BY_MODE = {
    "dialog": ModeFigures(
        calls={"ok": 61, "timeout": 3},
        cached=12,
        in_flight=1,
        timed=52,
        seconds=23.4,
        plans={"taken": 31, "stale": 4},
        takeovers={"done": 26, "no_progress": 3, "hurt": 1},
        planner_steps=1284,
        suggestions={"given": 17, "followed": 9, "declined": 5, "expired": 2},
        bonus=0.45,
    ),
    "puzzle": ModeFigures(
        calls={"ok": 20, "invalid": 2},
        timed=22,
        seconds=40.5,
        plans={"taken": 17, "refused": 1},
        takeovers={"done": 12, "unreachable": 4},
        planner_steps=902,
    ),
    "vision": ModeFigures(not_asked={"busy": 3}, suggestions={"given": 2, "expired": 2}),
}


class Stage:
    """Plays the services on a real bus and a real store.

    Attributes:
        loads: What the trainer says that it loaded, oldest first.
        curve: What it says of the return.
    """

    def __init__(self, bus: Bus, store: ObjectStore, *, run_id: str = "run-1") -> None:
        self._bus = bus
        self._store = store
        self._run_id = run_id
        self._random = random.Random(7)
        self._activations = 0
        self.loads: list[ModelLoad] = []
        self.curve: list[tuple[int, float]] = []

    async def segments(self, captured: int, *, exported: int, scored: int) -> None:
        """So many segments came so far; their ids and scores are made up."""
        for number in range(captured):
            segment_id = f"segment-{number:04d}"
            step = 1500 * (number + 1)
            event = segment_captured(segment_id).model_copy(update={"env_step": step})
            await self._bus.publisher("trainer").publish(event)
            if number < exported:
                await self._bus.publisher("exporter").publish(segment_exported(segment_id))
            if number < scored:
                await self.score(segment_id, step)

    async def score(self, segment_id: str, step: int, *, stored: bool = True) -> None:
        """The judges answered; `stored` False loses the object."""
        record = self._record(segment_id, step)
        data = record.model_dump_json().encode()
        scored = segment_scored(segment_id, weighted=record.weighted).model_copy(
            update={
                "score_sha256": hashlib.sha256(data).hexdigest(),
                "abstained": tuple(sorted(record.abstentions)),
            }
        )
        if stored:
            self._store.put_once(scored.score_key, data)
        await self._bus.publisher("judge").publish(scored)

    async def publish(self, version: int) -> RewardModelPublished:
        """A version becomes the champion: a new one, or an old one again."""
        self._activations += 1
        event = reward_model_published(version).model_copy(update={"activation": self._activations})
        await self._bus.publisher("reward-model").publish(event)
        return event

    async def reject(self) -> None:
        """The gate refuses a candidate."""
        await self._bus.publisher("reward-model").publish(reward_model_rejected())

    async def load(self, version: int, step: int) -> None:
        """The trainer loads a version."""
        self.loads.append(ModelLoad(version=version, env_step=step, at=_now()))
        await self.history()

    async def history(self) -> None:
        """The trainer tells what its run went through."""
        await self._send(
            RunHistory(
                at=_now(),
                run_id=self._run_id,
                episode_return=tuple(self.curve),
                loads=tuple(self.loads),
            )
        )

    async def progress(self, **changes: Any) -> None:
        """The trainer tells where it stands, which is the end of its curve."""
        step, mean = self.curve[-1] if self.curve else (0, None)
        load = self.loads[-1] if self.loads else None
        values = {
            "run_id": self._run_id,
            "status": "training",
            "iteration": 147,
            "env_steps": step,
            "episodes": 247,
            "steps_per_second": 523.4,
            "episode_return_mean": mean,
            "shaped_return_mean": 0.234,
            "episode_length_mean": 899.6,
            "rooms_mean": 2.52,
            "paid_share": 0.284 if load else None,
            "paid_advantage_share": 0.117 if load else None,
            "segments_captured": 1,
            "segments_skipped": 2787,
            "reward_model_version": load.version if load else None,
            "reward_model_loaded_at_step": load.env_step if load else None,
        }
        await self._send(TrainingProgress.model_validate({"at": _now(), **values, **changes}))

    async def rewards(self) -> None:
        """The parts of the reward, and where the player stands."""
        parts = {"room": 1.004, "shaping": -2.237, "square": 0.041, "novelty": 0.0125}
        step = self.curve[-1][0] if self.curve else 0
        await self._send(
            RewardBreakdown(
                at=_now(),
                run_id=self._run_id,
                env_step=step,
                parts=parts,
                total=sum(parts.values()),
            )
        )
        await self._send(
            MapPosition(at=_now(), env="env-0", group=0, room=119, x=40, y=60, rooms_visited=3)
        )
        await self._send(
            WatchedPay(
                at=_now(),
                env="env-0",
                env_step=step,
                reward_model_version=self.loads[-1].version if self.loads else None,
                potential=-0.217,
                paid=_PAID,
                bin_seconds=0.5,
            )
        )

    async def calls(self, count: int, outcome: str = "ok", *judges: str) -> None:
        """So many calls of each judge end with `outcome`."""
        for number in range(count):
            for judge in judges or JUDGES:
                await self._send(
                    JudgeCall(
                        at=_now(),
                        judge=judge,
                        route=f"/{judge}",
                        model="mock-7b",
                        segment_id="segment-0000",
                        outcome=outcome,
                        latency_seconds=0.2 + 0.01 * number,
                    )
                )

    async def assistance(self, *, has_planner: bool | None = True, **changes: Any) -> None:
        """The trainer tells what the language model that plays did in the run."""
        step = self.curve[-1][0] if self.curve else 0
        values = {
            "at": _now(),
            "run_id": self._run_id,
            "env_steps": step,
            "has_planner": has_planner,
            "by_mode": _BY_MODE if has_planner else {},
        }
        await self._send(AssistanceStatus.model_validate({**values, **changes}))

    async def wish(self, **values: Any) -> None:
        """The trainer tells what came of one question to that model; a plan that was played."""
        plan = {
            "kind": "plan",
            "mode": "puzzle",
            "env": "1-0",
            "step": 1207,
            "call": "ok",
            "wanted": ("PUSH_BLOCK column=3 row=4 direction=UP", "MOVE_TO room=5/161"),
            "reason": "The block hides the stairs.",
            "followed": True,
            "ending": "done",
            "steps": 43,
            "latency_seconds": 1.84,
        }
        told = {"at": _now(), "run_id": self._run_id, **plan, **values}
        await self._send(PlayerCall.model_validate(told))

    async def status(self, version: int | None, **changes: Any) -> None:
        """The reward-model service tells what is live and what it waits for."""
        values = {
            "state": "idle",
            "labels": 191,
            "missing": (Missing(what="new labels", have=7, need=12),),
            "champion_version": version,
            "activation": self._activations or None,
            "champion_gate": _GATE if version else None,
        }
        await self._send(RewardModelStatus.model_validate({"at": _now(), **values, **changes}))

    async def health(self, *services: str, status: str = "ready", **checks: str | None) -> None:
        """Services tell how they are; `checks` are those that fail."""
        for service in services or SERVICES:
            await self._send(
                ServiceHealth.model_validate(
                    {
                        "at": _now(),
                        "service": service,
                        "instance": f"{service}-1",
                        "status": status,
                        "checks": {"nats": None, "store": None, **checks},
                    }
                )
            )

    async def _send(self, reading: Any) -> None:
        await self._bus.telemetry().send(reading)

    def _record(self, segment_id: str, step: int) -> ScoreRecord:
        levels = {name: self._random.choice((0, 1, 2, None)) for name in RUBRIC_WEIGHTS}
        criteria = {
            name: CriterionScore(
                value=level / 2,
                votes=(level,) * 3,
                agreement=1,
                judge="ram" if name in COMPUTED else "state",
                source="computed" if name in COMPUTED else "votes",
            )
            for name, level in levels.items()
            if level is not None
        }
        values = {name: score.value for name, score in criteria.items()}
        return score_record(
            segment_id=segment_id,
            criteria=criteria,
            abstentions={name: "split_votes" for name in RUBRIC_WEIGHTS if name not in criteria},
            weighted=rubric_mean(values, RUBRIC_WEIGHTS),
            calls=(judge_call(rationale="It walked to the old well and looked around."),),
            env_step=step,
            quest=self._quest() if "progress" in criteria else None,
        )

    def _quest(self) -> QuestProgress:
        start, end = (self._random.randint(0, 20) for _ in range(2))
        return QuestProgress(
            start=Standing(objective=3, distance=start),
            end=Standing(objective=3, distance=end),
            objectives=18,
            votes=3,
            agreement=1,
            judge="state",
        )


def _now() -> datetime:
    return datetime.now(UTC)
