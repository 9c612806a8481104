"""Reads the names of the judges' models from servers with a single model.

Such a server answers for any name. Its own one belongs to the configuration, so that scores of two
models are never mixed.
"""

import asyncio
import contextlib
import logging

from rlaif.judge.parts import judges_of
from rlaif.judge.routes import judge_urls, open_connections
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.openai import OpenAiModel

logger = logging.getLogger(__name__)

_SECONDS = 5.0


async def with_served_models(settings: JudgeSettings) -> JudgeSettings:
    """The settings with the name of each server's only model, if it is reached within 5 s.

    A panel file and LLM_USE_DIRECT name their models themselves.

    Raises:
        StartupError: A URL, the key or the CA file is invalid.
    """
    if settings.panel_file is not None or settings.llm_use_direct:
        return settings
    urls = judge_urls(settings, judges_of(settings))
    found: dict[str, str] = {}

    async def read(name: str, url: str, base: str | None) -> None:
        _, names = await OpenAiModel(connections, url, settings.calls, base=base).listed()
        if len(names) == 1:
            found[f"{name}_model"] = names[0]

    async with open_connections(settings, [url for url, _ in urls.values()]) as connections:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS), asyncio.TaskGroup() as group:
                for name, (url, base) in urls.items():
                    group.create_task(read(name, url, base))
    served = settings.model_copy(update=found)
    if served != settings:
        logger.info("models of the servers: %s", found)
    return served
