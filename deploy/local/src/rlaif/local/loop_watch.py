"""Watches the pipeline over its REST APIs and reports closed feedback loops."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from rlaif.contracts.telemetry.run import RunFigures
from rlaif.local.places import HOST
from rlaif.service.peers import peer_client

NO_RUN = "no run"
"""Status while the trainer has no run; it starts one unless `TRAINER_AUTOSTART=false`."""

PATIENCE_SECONDS = 5.0

_AT_REST = {NO_RUN: "no run; POST /api/v1/runs starts one", "on disk": "the run is stopped"}


@dataclass(frozen=True)
class LoopClosed:
    """The trainer loaded a reward model trained on the judges' preferences."""

    version: int
    labels: int
    episodes: int
    heldout_accuracy: float | None
    heldout_pairs: int
    env_step: int
    simple_margin: float = 0.0

    def sentence(self) -> str:
        """One line with the figures of the new model and the relaxation of the gate."""
        relaxed = f"; gate relaxed, margin {self.simple_margin:g}" if self.simple_margin < 0 else ""
        accuracy = "unknown" if self.heldout_accuracy is None else f"{self.heldout_accuracy:.2f}"
        return (
            f"Loop closed: reward model v{self.version} from {self.labels} labels of "
            f"{self.episodes} episodes, held-out accuracy {accuracy} "
            f"({self.heldout_pairs} pairs), loaded at environment step {self.env_step:,}{relaxed}"
        )


@dataclass(frozen=True)
class LoopReading:
    """Figures of the pipeline; None where a service did not respond.

    `refusal` is the last rejected candidate: its id and a message.
    """

    run_id: str | None = None
    status: str | None = None
    env_steps: int | None = None
    figures: RunFigures = field(default_factory=RunFigures)
    next_model: str | None = None
    reward_model_version: int | None = None
    refusal: tuple[str, str] | None = None

    @classmethod
    def of(cls, run: Mapping[str, Any], training: Mapping[str, Any]) -> "LoopReading":
        """Build from the responses of trainer and reward-model service; empty for none."""
        version = run.get("reward_model_version")
        return cls(
            run_id=run.get("run_id"),
            status=run.get("status"),
            env_steps=run.get("env_steps"),
            figures=RunFigures.model_validate(run),
            next_model=_next_model(training, version),
            reward_model_version=version,
            refusal=_refusal(training.get("last_rejection")),
        )

    def sentence(self, starting: float | None = None) -> str:
        """Known figures, the most important first; `starting` is in seconds since the start."""
        figures: tuple[tuple[str, float | str | None], ...] = (
            ("{:,} steps", self.env_steps or None),
            ("next model: {}", self.next_model),
            ("reward model v{}", self.reward_model_version),
            ("{:,} captured", self.figures.segments_captured),
            ("return {:.2f}", self.figures.episode_return_mean),
            ("{:,.0f} decisions/s", self.figures.steps_per_second),
            ("{:,.0f} frames/s", self.figures.frames_per_second),
            ("{:,} episodes", self.figures.episodes),
        )
        known = [text.format(value) for text, value in figures if value is not None]
        return " · ".join([_status(self.status, starting), *known])


class LoopWatch:
    """Polls trainer and reward-model service, and reports each closed loop once."""

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls
        self._reported: set[int] = set()
        self._issues: dict[str, str] = {}
        self._client = peer_client(f"http://{HOST}", timeout=3.0)

    async def poll(self) -> tuple[LoopReading, LoopClosed | None]:
        """Return the current figures and a newly closed loop, if any.

        Versions that existed before this start are not reported.
        """
        run, training = await asyncio.gather(
            self._get("trainer", "runs/current", absent={"status": NO_RUN}),
            self._get("reward-model", "training"),
        )
        run, training = run or {}, training or {}
        snapshot = LoopReading.of(run, training)
        return snapshot, await self._closing(run)

    async def remember_known(self) -> set[int]:
        """Record and return the versions that exist already."""
        page = await self._get("reward-model", "reward-models?limit=500") or {}
        self._reported |= {item["version"] for item in page.get("items", [])}
        return set(self._reported)

    async def issues(self) -> dict[str, str]:
        """Key → description of each issue on the page; while it is down, that and the last ones."""
        found = await self._get("hud", "issues")
        if found is None or "issues" not in found:
            return self._issues | {"hud": "hud does not respond"}
        self._issues = {
            each["key"]: f"{each['service']}: {each['description']}" for each in found["issues"]
        }
        return self._issues

    async def close(self) -> None:
        await self._client.aclose()

    async def _closing(self, run: dict[str, Any]) -> LoopClosed | None:
        version, step = run.get("reward_model_version"), run.get("reward_model_loaded_at_step")
        if version is None or step is None or version in self._reported:
            return None
        manifest = await self._get("reward-model", f"reward-models/{version}")
        if manifest is None:
            return None
        self._reported.add(version)
        metrics = manifest["metrics"]
        return LoopClosed(
            version=version,
            labels=manifest["labels"],
            episodes=manifest["episodes"],
            heldout_accuracy=metrics["heldout_accuracy"],
            heldout_pairs=metrics["heldout_pairs"],
            env_step=step,
            simple_margin=_simple_margin(manifest),
        )

    async def _get(
        self, service: str, path: str, *, absent: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The response; `absent` for 404, None if there is none."""
        try:
            answer = await self._client.get(f"{self._urls[service]}/api/v1/{path}")
            if answer.status_code != 200:
                return absent if answer.status_code == 404 else None
            body: dict[str, Any] = answer.json()
        except (httpx.HTTPError, ValueError):  # no answer, or one of another server
            return None
        return body


class LastingIssues:
    """Issues that last for `PATIENCE_SECONDS`: services wait for dependencies when they start."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._reported: dict[str, str] = {}

    def update(self, now: float, issues: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """Descriptions of the issues to report at `now` (seconds), and of the resolved ones."""
        self._since = {key: self._since.get(key, now) for key in issues}
        resolved = [text for key, text in self._reported.items() if key not in issues]
        lasting = {
            key: self._reported.get(key, text)
            for key, text in issues.items()
            if now - self._since[key] >= PATIENCE_SECONDS
        }
        new = [text for key, text in lasting.items() if key not in self._reported]
        self._reported = lasting
        return new, resolved


def _simple_margin(manifest: Mapping[str, Any]) -> float:
    """`REWARD_MODEL_SIMPLE_MARGIN` of the training; 0 if the manifest does not have it."""
    try:
        return float(json.loads(manifest["lineage"]["settings"])["gate"]["simple_margin"])
    except (ValueError, KeyError, TypeError):
        return 0.0


def _status(status: str | None, starting: float | None) -> str:
    if starting is None or status not in (None, "starting"):
        return _AT_REST.get(status or NO_RUN, status or NO_RUN)
    return f"training is starting emulators, {starting:.0f} s"


def _next_model(training: Mapping[str, Any], loaded: int | None) -> str | None:
    """The requirement of the next model that is furthest from being met."""
    attempt = training.get("last_attempt") or {}
    if training.get("state") == "training":
        return "training"
    if attempt.get("outcome") == "published" and (attempt["version"] or 0) > (loaded or 0):
        return f"v{attempt['version']} published, not loaded yet"
    needs = [need for need in training.get("needs", []) if need["found"] < need["least"]]
    furthest = sorted(needs, key=lambda need: float(need["found"] / need["least"]))[:1]
    pairs = training.get("pairs")
    if pairs is not None and pairs["found"] < pairs["least"]:
        # Held-out pairs that the gate missed last time; new labels add them.
        furthest.insert(0, pairs)
    if not furthest:
        return "training" if training.get("needs") else None
    return ", ".join(f"{need['found']} of {need['least']} {need['what']}" for need in furthest)


def _refusal(attempt: Mapping[str, Any] | None) -> tuple[str, str] | None:
    if attempt is None:
        return None
    why, *others = attempt["reasons"] or ["no reason given"]
    why += f" (and {len(others)} more)" if others else ""
    return attempt["candidate_id"], (
        f"no new reward model from {attempt['labels']} labels yet: {why}"
    )
