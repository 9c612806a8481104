"""Watches the ring from outside, over its REST APIs, and says when it has closed."""

from dataclasses import dataclass
from typing import Any

import httpx


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
class Snapshot:
    """The ring as one line of figures; None where a service did not say."""

    status: str | None = None
    env_steps: int | None = None
    steps_per_second: float | None = None
    episodes: int | None = None
    captured: int | None = None
    labels: int | None = None
    reward_model_version: int | None = None
    return_mean: float | None = None

    def sentence(self) -> str:
        """For the progress line."""
        version = self.reward_model_version
        return (
            f"{self.status or 'starting'} · {_number(self.env_steps)} steps"
            f" · {_number(self.steps_per_second)} steps/s · {_number(self.episodes)} episodes"
            f" · return {_number(self.return_mean, 2)}"
            f" · {_number(self.captured)} segments captured · {_number(self.labels)} labels"
            f" · reward model {'—' if version is None else f'v{version}'}"
        )


class LoopWatch:
    """Asks trainer and reward-model service; remembers which closings it has told."""

    def __init__(self, urls: dict[str, str]) -> None:
        """Watch the services at these base URLs."""
        self._urls = urls
        self._told: set[int] = set()
        self._client = httpx.AsyncClient(timeout=3.0)

    async def look(self) -> tuple[Snapshot, LoopClosed | None]:
        """The ring now, and a closing that was not told before.

        Versions that existed before this start are not told: their loop closed then.
        """
        run = await self._get("trainer", "runs/current") or {}
        training = await self._get("reward-model", "training") or {}
        snapshot = Snapshot(
            status=run.get("status"),
            env_steps=run.get("env_steps"),
            steps_per_second=run.get("steps_per_second"),
            episodes=run.get("episodes"),
            captured=run.get("segments_captured"),
            labels=training.get("labels"),
            reward_model_version=run.get("reward_model_version"),
            return_mean=run.get("episode_return_mean"),
        )
        return snapshot, await self._closing(run)

    async def remember_known(self) -> set[int]:
        """Note the versions that exist already; returns them."""
        page = await self._get("reward-model", "reward-models?limit=500") or {}
        self._told |= {item["version"] for item in page.get("items", [])}
        return set(self._told)

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

    async def _get(self, service: str, path: str) -> dict[str, Any] | None:
        try:
            answer = await self._client.get(f"{self._urls[service]}/api/v1/{path}")
        except httpx.HTTPError:
            return None
        if answer.status_code != 200:
            return None
        body: dict[str, Any] = answer.json()
        return body


def _number(value: float | None, digits: int = 0) -> str:
    return "—" if value is None else f"{value:,.{digits}f}"
