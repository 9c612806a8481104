"""Watches the ring from outside, over its REST APIs, and says when it has closed."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from rlaif.contracts.run_figures import RunFigures
from rlaif.local.lines import Part, fit
from rlaif.local.places import HOST
from rlaif.local.troubles import Report
from rlaif.service.peers import peer_client


@dataclass(frozen=True)
class LoopClosed:
    """The trainer loaded a reward model that the judges' preferences made."""

    version: int
    labels: int
    episodes: int
    heldout_accuracy: float | None
    heldout_pairs: int
    env_step: int

    def sentence(self) -> str:
        """The one line that says that everything works."""
        accuracy = "unknown" if self.heldout_accuracy is None else f"{self.heldout_accuracy:.2f}"
        return (
            f"Loop closed: reward model v{self.version} from {self.labels} labels of "
            f"{self.episodes} episodes, held-out accuracy {accuracy} "
            f"({self.heldout_pairs} pairs), loaded at environment step {self.env_step:,}"
        )


@dataclass(frozen=True)
class LoopReading:
    """The ring in figures; None where a service did not say.

    `refusal` is the last candidate that was refused, its id and a sentence.
    """

    status: str | None = None
    env_steps: int | None = None
    figures: RunFigures = field(default_factory=RunFigures)
    next_model: str | None = None
    reward_model_version: int | None = None
    refusal: tuple[str, str] | None = None

    @classmethod
    def of(cls, run: Mapping[str, Any], training: Mapping[str, Any]) -> "LoopReading":
        """From what trainer and reward-model service say; empty where one said nothing."""
        version = run.get("reward_model_version")
        return cls(
            status=run.get("status"),
            env_steps=run.get("env_steps"),
            figures=RunFigures.model_validate(run),
            next_model=_next_model(training, version),
            reward_model_version=version,
            refusal=_refusal(training.get("last_rejection")),
        )

    def parts(self, starting: float | None = None) -> list[Part]:
        """For the moving line, without what is not known; `starting` in seconds, if it does."""
        known = [
            Part(_status(self.status, starting)),
            _part("{:,} steps", self.env_steps or None, 1),
            _part("next model: {}", self.next_model, 2),
            _part("reward model v{}", self.reward_model_version, 3),
            _part("{:,} captured", self.figures.segments_captured, 4),
            _part("return {:.2f}", self.figures.episode_return_mean, 5),
            _part("{:,.0f} steps/s", self.figures.steps_per_second, 6),
            _part("{:,} episodes", self.figures.episodes, 7),
        ]
        return [part for part in known if part is not None]

    def sentence(self) -> str:
        """All of it in one line."""
        return fit(self.parts())


class LoopWatch:
    """Asks trainer and reward-model service; remembers which closings it has told."""

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls
        self._told: set[int] = set()
        self._client = peer_client(f"http://{HOST}", timeout=3.0)

    async def look(self) -> tuple[LoopReading, LoopClosed | None]:
        """The ring now, and a closing that was not told before.

        Versions that existed before this start are not told: their loop closed then.
        """
        run, training = await asyncio.gather(
            self._get("trainer", "runs/current"), self._get("reward-model", "training")
        )
        run, training = run or {}, training or {}
        snapshot = LoopReading.of(run, training)
        return snapshot, await self._closing(run)

    async def remember_known(self) -> set[int]:
        """Note the versions that exist already; returns them."""
        page = await self._get("reward-model", "reward-models?limit=500") or {}
        self._told |= {item["version"] for item in page.get("items", [])}
        return set(self._told)

    async def reports(self, services: Iterable[str]) -> dict[str, Report | None]:
        """Service → what fails in its `/readyz`; None where it does not answer."""
        names = list(services)
        answers = await asyncio.gather(*(self._readiness(name) for name in names))
        return dict(zip(names, answers, strict=True))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _closing(self, run: dict[str, Any]) -> LoopClosed | None:
        version, step = run.get("reward_model_version"), run.get("reward_model_loaded_at_step")
        if version is None or step is None or version in self._told:
            return None
        manifest = await self._get("reward-model", f"reward-models/{version}")
        if manifest is None:
            return None
        self._told.add(version)
        metrics = manifest["metrics"]
        return LoopClosed(
            version=version,
            labels=manifest["labels"],
            episodes=manifest["episodes"],
            heldout_accuracy=metrics["heldout_accuracy"],
            heldout_pairs=metrics["heldout_pairs"],
            env_step=step,
        )

    async def _readiness(self, service: str) -> Report | None:
        try:
            answer = await self._client.get(f"{self._urls[service]}/readyz")
            checks = answer.json()["checks"]
        except (httpx.HTTPError, ValueError, KeyError):
            return None
        return {name: check["detail"] or "" for name, check in checks.items() if not check["ok"]}

    async def _get(self, service: str, path: str) -> dict[str, Any] | None:
        try:
            answer = await self._client.get(f"{self._urls[service]}/api/v1/{path}")
        except httpx.HTTPError:
            return None
        if answer.status_code != 200:
            return None
        body: dict[str, Any] = answer.json()
        return body


def _status(status: str | None, starting: float | None) -> str:
    if starting is None or status not in (None, "starting"):
        return status or "no run"
    return f"training starts its emulators, {starting:.0f} s"


def _part(text: str, value: float | str | None, rank: int) -> Part | None:
    return None if value is None else Part(text.format(value), rank)


def _next_model(training: Mapping[str, Any], loaded: int | None) -> str | None:
    """What stands between now and the next model: the need that is furthest from being met."""
    attempt = training.get("last_attempt") or {}
    if training.get("state") == "training":
        return "training"
    if attempt.get("outcome") == "published" and (attempt["version"] or 0) > (loaded or 0):
        return f"v{attempt['version']} made, being loaded"
    needs = [need for need in training.get("needs", []) if need["found"] < need["least"]]
    furthest = sorted(needs, key=lambda need: float(need["found"] / need["least"]))[:1]
    pairs = training.get("pairs")
    if pairs is not None and pairs["found"] < pairs["least"]:
        # What the gate missed in the last one; new labels bring it.
        furthest.insert(0, pairs)
    if not furthest:
        return "training" if training.get("needs") else None
    return ", ".join(f"{need['found']} of {need['least']} {need['what']}" for need in furthest)


def _refusal(attempt: Mapping[str, Any] | None) -> tuple[str, str] | None:
    if attempt is None:
        return None
    why, *others = attempt["reasons"] or ["no reason was given"]
    why += f" (and {len(others)} more)" if others else ""
    return attempt["candidate_id"], (
        f"no new reward model from {attempt['labels']} labels yet: {why}"
    )
