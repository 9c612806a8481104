"""Reads the names of the judges' models from servers with a single model.

Such a server answers for any name. Its own one belongs to the configuration, so that scores of two
models are never mixed. A judge that starts while its servers are away scores nothing until one
answers, and restarts when one names another model, so that replicas have one configuration.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from rlaif.judge.parts import judges_of
from rlaif.judge.routes import judge_urls, open_connections
from rlaif.judge.rubric.judges import Judge, with_models
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.openai import OpenAiModel

logger = logging.getLogger(__name__)

_SECONDS = 5.0
_MISSING_SECONDS, _FOUND_SECONDS = 2.0, 30.0
"""Pause between two readings while a server is away, and afterwards."""


async def served_judges(
    settings: JudgeSettings, seconds: float = 0.0
) -> tuple[tuple[Judge, ...], bool]:
    """The judges of the settings with each server's only model; whether all servers are away.

    Waits for the servers for some `seconds`. LLM_USE_DIRECT names the models of its servers itself.

    Raises:
        StartupError: The panel file, a URL, the key or the CA file is invalid.
    """
    judges, deadline = judges_of(settings), time.monotonic() + seconds
    found, missing = await _read(settings, judges)
    while missing and time.monotonic() < deadline:
        await asyncio.sleep(_MISSING_SECONDS)
        found, missing = await _read(settings, judges)
    served = with_models(judges, found)
    if served != judges:
        logger.info("models of the servers: %s", found)
    return served, missing == len(judges)


async def _read(settings: JudgeSettings, judges: tuple[Judge, ...]) -> tuple[dict[str, str], int]:
    """Judge → only model of its server; the number of judges whose server is away."""
    if settings.llm_use_direct:
        return {}, 0
    urls = judge_urls(settings, judges)

    async def read(url: str, base: str | None) -> list[str] | None:
        model = OpenAiModel(connections, url, settings.calls, base=base)
        try:
            async with asyncio.timeout(_SECONDS):
                names = (await model.listed())[1]
                return names if names or await model.is_up() else None
        except TimeoutError:
            return None

    async with open_connections(settings, [url for url, _ in urls.values()]) as connections:
        lists = await asyncio.gather(*(read(*each) for each in urls.values()))
    listed = zip(urls, lists, strict=True)
    found = {name: names[0] for name, names in listed if names and len(names) == 1}
    return found, lists.count(None)


@dataclass
class ServedModels:
    """Follows the models of the servers while the judge runs.

    Attributes:
        judges: The judges, with the models that are called.
        away: Whether no server has answered yet.
        answers: Whether a route answers, as some servers list no models.
        restart: Called when a server has another only model.
    """

    settings: JudgeSettings
    judges: tuple[Judge, ...]
    away: bool
    answers: Callable[[], bool]
    restart: Callable[[], None]

    async def run(self) -> None:
        while True:
            answers = self.answers()
            found, missing = await _read(self.settings, self.judges)
            if with_models(self.judges, found) != self.judges:
                logger.warning("restarting with the models of the servers: %s", found)
                self.restart()
            elif missing < len(self.judges) or answers:
                self.away = False
            await asyncio.sleep(_MISSING_SECONDS if missing else _FOUND_SECONDS)
