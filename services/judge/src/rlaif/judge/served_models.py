"""Reads the names of the judges' models from servers with a single model.

Such a server answers for any name. Its own one belongs to the configuration, so that scores of two
models are never mixed.
"""

import asyncio
import contextlib
import logging

from rlaif.judge.parts import judges_of
from rlaif.judge.routes import judge_urls, open_connections
from rlaif.judge.rubric.judges import Judge, with_models
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.openai import OpenAiModel

logger = logging.getLogger(__name__)

_SECONDS = 5.0


async def served_judges(settings: JudgeSettings) -> tuple[Judge, ...]:
    """The judges of the settings with each server's only model, if it is reached within 5 s.

    LLM_USE_DIRECT names the models of its servers itself.

    Raises:
        StartupError: The panel file, a URL, the key or the CA file is invalid.
    """
    judges = judges_of(settings)
    if settings.llm_use_direct:
        return judges
    urls, found = judge_urls(settings, judges), dict[str, str]()

    async def read(name: str, url: str, base: str | None) -> None:
        _, names = await OpenAiModel(connections, url, settings.calls, base=base).listed()
        if len(names) == 1:
            found[name] = names[0]

    async with open_connections(settings, [url for url, _ in urls.values()]) as connections:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS), asyncio.TaskGroup() as group:
                for name, (url, base) in urls.items():
                    group.create_task(read(name, url, base))
    served = with_models(judges, found)
    if served != judges:
        logger.info("models of the servers: %s", found)
    return served
