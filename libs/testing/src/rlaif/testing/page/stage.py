"""A simulated pipeline: everything that services send, without the services.

For tests of what observes the pipeline. The events, objects and readings are consistent.
"""

import hashlib
import math
import random
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from rlaif.bus.connection import Bus
from rlaif.contracts.events import RewardModelPublished
from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord, rubric_mean
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.telemetry.assistance import ModeFigures
from rlaif.contracts.telemetry.curriculum import CurriculumSegment
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    CurriculumProgress,
    EnvironmentsSeen,
    EnvironmentStands,
    JudgeCall,
    MapPosition,
    Missing,
    PaidStep,
    PaidSteps,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    RunnerSign,
    SearchProgress,
    ServiceHealth,
    TrainingProgress,
    WatchedPay,
    WorldProgress,
)
from rlaif.contracts.telemetry.search import TreeNode
from rlaif.contracts.telemetry.world import RoomSeen, SegmentName
from rlaif.game.machine.pictures import webp
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.events import (
    champion_changed,
    reward_model_published,
    reward_model_rejected,
    run_iterated,
    run_loaded,
    run_started,
    segment_captured,
    segment_exported,
    segment_scored,
)
from rlaif.testing.data.judging.scores import judge_call, score_record
from rlaif.trainer.run_folder.search_report import curriculum_report

SERVICES = ("trainer", "exporter", "judge", "reward-model")
JUDGES = ("state", "puzzle", "vision")
COMPUTED = ("novelty", "efficiency")

CAVES = 4
"""The group of the dungeon of Seedling Vale."""

_GATE = GateMetrics(
    paid_accuracy=0.812, best_slot_accuracy=0.644, ridge_accuracy=0.703, llm_only_share=0.457
)
_RISES = tuple(0.011 * math.sin(number / 2.5) + 0.004 for number in range(20))


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

_FINDS = (
    (0, None, 0.001, 0, 1.0, ("sword",)),
    (1, 0, 0.05, 2, 2.0, ("shield",)),
    (2, 1, 0.11, 4, 3.0, ("shovel",)),
    (3, 0, 0.14, 5, 1.5, ("coins",)),
    (4, 1, 0.18, 7, 3.25, ("bombs", "room 0/5A: door")),
    (5, 4, 0.51, 19, 4.25, ("event in room 0/48",)),
    (6, 5, 2.0, 77, 5.25, ("bracelet",)),
    (7, 6, 4.1, 158, 6.5, ("rod of seasons",)),
    (8, 5, 4.9, 188, 4.5, ("heart piece",)),
    (9, 7, 5.3, 204, 7.0, ("item in room 0/6B",)),
    (10, 7, 6.9, 265, 7.5, ("satchel", "ember seeds")),
    (11, 10, 7.27, 280, 8.5, ("feather",)),
    (12, 11, 7.9, 304, 8.75, ("event in room 5/C7",)),
    (13, 10, 11.2, 430, 8.0, ("ring",)),
    (14, 11, 12.9, 496, 9.5, ("flippers",)),
    (15, 14, 13.2, 508, 10.5, ("gnarled key",)),
    (16, 15, 15.65, 602, 11.5, ("door up in room 4/11",)),
    (17, 16, 15.7, 604, 12.5, ("small key", "map 1")),
)
"""(node, parent, million frames, seconds, level, marks) of a fictitious search."""


class Stage:
    """Plays the services on a real bus and a real store.

    Attributes:
        loads: (version, environment step) of each model load, oldest first; `progress` reports the
            newest.
        curve: Return by step; `progress` reports its end.
    """

    def __init__(self, bus: Bus, store: ObjectStore, *, run_id: str = "run-1") -> None:
        self._bus = bus
        self._store = store
        self._run_id = run_id
        self._random = random.Random(7)
        self._activations = 0
        self.loads: list[tuple[int, int]] = []
        self.curve: list[tuple[int, float]] = []

    async def segments(self, captured: int, *, exported: int, scored: int) -> None:
        """Publish segments in these numbers; ids and scores are fictitious."""
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
        """Publish a score; with `stored` False, its object is missing."""
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
        """Make a version the champion: a new one, or an old one again."""
        self._activations += 1
        event = reward_model_published(version).model_copy(update={"activation": self._activations})
        await self._bus.publisher("reward-model").publish(event)
        return event

    async def reject(self) -> None:
        await self._bus.publisher("reward-model").publish(reward_model_rejected())

    async def changed(self, version: int, activation: int, **how: Any) -> None:
        """Publish a change of the champion or its pin, for the history."""
        change = champion_changed(version, activation=activation, changed_at=_now(), **how)
        await self._bus.publisher("reward-model").publish(change)

    async def past(
        self, until: int, *loads: tuple[int | None, int], pace: int = 500, **start: Any
    ) -> None:
        """Continue a run to a step and report each iteration: it improves slowly.

        `loads` are (version, step); a version of None is no model. `start` is of its beginning.
        """
        publisher = self._bus.publisher("trainer")
        at = _now() - timedelta(hours=1)
        await publisher.publish(run_started(run_id=self._run_id, at=at, **start))
        waiting = list(loads)
        for step in range(0, until, pace):
            while waiting and waiting[0][1] <= step:
                await self.loaded(*waiting.pop(0), at=at)
            gained = [int(self._random.triangular(0, 4 + 8 * step / until, 1 + 3 * step / until))]
            parts = {
                "room": round(0.4 + 0.4 * self._random.random(), 4),
                "square": round(0.1 * self._random.random(), 4),
                "death": -0.25 if gained[0] == 0 else 0.0,
                "shaping": round(self._random.gauss(0.05, 0.1), 4) if step else 0.0,
            }
            piece = run_iterated(
                step, step + pace, gained=gained, run_id=self._run_id, at=at, paid=parts,
                learned_from=sum(parts.values()), entropy=2.0 - step / until,
                learner={"mean_kl_loss": 0.0123, "vf_explained_var": round(step / until, 4)},
            )  # fmt: skip
            await publisher.publish(piece)

    async def loaded(self, version: int | None, step: int, *, at: datetime | None = None) -> None:
        """Publish a model load, for the history."""
        changes = {"run_id": self._run_id, "at": at or _now()}
        event = run_loaded(version, step).model_copy(update=changes)
        await self._bus.publisher("trainer").publish(event)

    async def load(self, version: int, step: int) -> None:
        self.loads.append((version, step))
        await self.loaded(version, step)

    async def progress(self, **changes: Any) -> None:
        """Report the progress of the trainer: the end of its curve."""
        step, mean = self.curve[-1] if self.curve else (0, None)
        load = self.loads[-1] if self.loads else None
        values = {
            "run_id": self._run_id,
            "status": "training",
            "iteration": 147,
            "env_steps": step,
            "episodes": 247,
            "steps_per_second": 523.4,
            "frames_per_second": 18_300.2,
            "episode_return_mean": mean,
            "shaped_return_mean": 0.234,
            "episode_length_mean": 899.6,
            "rooms_mean": 2.52,
            "paid_share": 0.284 if load else None,
            "paid_advantage_share": 0.117 if load else None,
            "segments_captured": 1,
            "segments_skipped": 2787,
            "reward_model_version": load[0] if load else None,
            "reward_model_loaded_at_step": load[1] if load else None,
        }
        await self._send(TrainingProgress.model_validate({"at": _now(), **values, **changes}))

    async def rewards(self) -> None:
        """Report the parts of the reward, and the position of the player."""
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
                reward_model_version=self.loads[-1][0] if self.loads else None,
                potential=-0.217,
                rises=_RISES,
                bin_seconds=0.5,
            )
        )

    async def paid_steps(self, count: int, *, unexplained: float = 0.0) -> None:
        """Rewards of the newest decisions of the watched game; the last one is incomplete."""
        steps = []
        for number in range(1, count + 1):
            parts = {"square": 0.05} if number % 3 == 0 else {}
            parts |= {"room": 1.0} if number % 50 == 0 else {}
            parts |= {"damage": -0.25} if number % 37 == 0 else {}
            steps.append(
                PaidStep(
                    number=number,
                    env_step=8 * number,
                    reward=sum(parts.values()) + (unexplained if number == count else 0.0),
                    parts=parts,
                    paid=0.1 * math.sin(number / 9),
                    reward_model_version=4,
                    ended=number == 1 + count // 2,
                )
            )
        await self._send(PaidSteps(at=_now(), env="env-0", steps=tuple(steps)))

    async def calls(self, count: int, outcome: str = "ok", *judges: str) -> None:
        """Report `count` calls of each judge that end with `outcome`."""
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
        """The trainer reports what the planner did in the run."""
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
        """The trainer reports the outcome of one question: a plan that was played."""
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
        call = {"at": _now(), "run_id": self._run_id, **plan, **values}
        await self._send(PlayerCall.model_validate(call))

    async def search(self, finds: int = len(_FINDS), **changes: Any) -> None:
        """The trainer reports what its search found, with the tree of its first finds."""
        tree = tuple(
            TreeNode(
                node=node, parent=parent, frames=int(millions * 1e6), seconds=seconds,
                level=level, marks=marks,
            )
            for node, parent, millions, seconds, level, marks in _FINDS[:finds]
        )  # fmt: skip
        values = {
            "at": _now(),
            "run_id": self._run_id,
            "running": True,
            "frames": 18_400_000,
            "seconds": 707.0,
            "seconds_left": 1993.0,
            "found_seconds": max((node.seconds for node in tree), default=None),
            "workers": 2,
            "nodes": 4123,
            "level": max((node.level for node in tree), default=0.0),
            "marks": sum(len(node.marks) for node in tree),
            "tree": tree,
        }
        await self._send(SearchProgress.model_validate({**values, **changes}))

    async def curriculum(self, **changes: Any) -> None:
        """The trainer reports its curriculum: the later a subtask, the less progress."""
        marks = [None, *(marks[0] for *_, marks in _FINDS)]
        segments = tuple(
            CurriculumSegment(
                demonstration=demonstration,
                from_mark=first,
                to_mark=last,
                frontier=max(0.0, round((place + 2 * demonstration - 6) / 20, 2)),
                success=None if place > 14 else 0.55,
                tries=0 if place > 14 else 400 - 20 * place,
            )
            for demonstration in range(5)
            for place, (first, last) in enumerate(pairwise(marks))
            if last is not None
        )
        report = curriculum_report(
            "backward", segments, power_on_share=0.08, demonstrations=5, whole_tries=40,
            whole_success=0.35,
        )  # fmt: skip
        values = {"at": _now(), "run_id": self._run_id, **dict(report)}
        await self._send(CurriculumProgress.model_validate({**values, **changes}))

    async def world(self, rooms: int = len(SEEDLING_ROOMS), **changes: Any) -> None:
        """The trainer reports this many rooms of Seedling Vale, with invented counts."""
        step = self.curve[-1][0] if self.curve else 90_000
        seen = tuple(
            RoomSeen(
                group=group,
                room=room,
                name=name,
                dungeon=1 if group == CAVES else None,
                floor=0 if group == CAVES else None,
                column=room % 8 if group == CAVES else None,
                line=room // 8 if group == CAVES else None,
                entries=1 + 3000 // (1 + number) ** 2,
                frames=600 + 900_000 // (1 + number) ** 2,
                deaths=(7 * number) % 5,
                long_stays=(5 * number) % 4,
                calls=(3 * number) % 7,
                last_step=max(0, step - 2500 * number),
                picture=True,
                segments=(
                    SegmentName(episode_id="episode-0001", segment_id=f"segment-{number:04d}"),
                )
                if number < 5
                else (),
            )
            for number, ((group, room), name) in enumerate(SEEDLING_ROOMS.items())
        )[:rooms]
        values = {"at": _now(), "run_id": self._run_id, "rooms": seen}
        await self._send(WorldProgress.model_validate({**values, **changes}))

    async def environments(self, *, silent: dict[int, float] | None = None, **changes: Any) -> None:
        """The trainer reports the player positions of two runners.

        `silent`: runner → seconds since its last heartbeat; others sent theirs just now.
        """
        stands = tuple(
            EnvironmentStands(
                env=f"{runner}-{n}",
                runner=runner,
                group=0,
                room=room,
                x=30 + 25 * n,
                y=40 + 20 * runner,
                rooms_visited=2 + n,
                steps=400 * (n + 1),
                episode_return=1.25 * n - 0.5,
            )
            for runner in (1, 2)
            for n, room in enumerate((0x77, 0x67, 0x78, 0x77))
        )
        ages = {1: 0.2, 2: 0.3} | (silent or {})
        signs = tuple(
            RunnerSign(runner=runner, silent_seconds=age, still_seconds=age)
            for runner, age in ages.items()
        )
        values = {
            "at": _now(),
            "run_id": self._run_id,
            "watched": "1-0",
            "runners": signs,
            "environments": stands,
        }
        await self._send(EnvironmentsSeen.model_validate({**values, **changes}))

    async def frame(self, env: str, shade: int) -> None:
        """Send a picture of one shade of grey."""
        pixels = np.full((144, 160, 3), shade, dtype=np.uint8)
        now = time.time_ns() // 1000
        packed = ScreenFrame(1, now, 90_000, webp(pixels)).pack()
        await self._bus.telemetry().send_bytes(f"{FRAME_SUBJECT}.{env}", packed)

    async def status(self, version: int | None, **changes: Any) -> None:
        """The reward-model service reports the live model and what it waits for."""
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
        """Services report their health; `checks` are the failing ones."""
        for service in services or SERVICES:
            await self._send(
                ServiceHealth.model_validate(
                    {
                        "at": _now(),
                        "service": service,
                        "instance": f"{service}-1",
                        "status": status,
                        "checks": {"bus": None, "store": None, **checks},
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
            start=QuestPosition(objective=3, distance=start),
            end=QuestPosition(objective=3, distance=end),
            objectives=18,
            votes=3,
            agreement=1,
            judge="state",
        )


def _now() -> datetime:
    return datetime.now(UTC)
