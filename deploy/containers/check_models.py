"""Asks the judges' servers which models they have, and touches a file while all have theirs.

The service `llm-check` of docker-compose.yml. It reads the judge's own settings, says what is
wrong, and says it again when it changes. Nothing is asked that costs tokens.
"""

import asyncio
import ssl
import sys
from pathlib import Path

import httpx

from rlaif.judge.settings import JudgeSettings
from rlaif.judge.wiring import judge_urls, judges_of

ANSWERED = Path("/tmp/models-answer")
PAUSE_SECONDS = 15.0


async def trouble(client: httpx.AsyncClient, url: str, model: str) -> str | None:
    """What keeps a judge from its model, as far as a list of models tells; None: nothing does."""
    where = f"{url.rstrip('/').removesuffix('/v1')}/v1/models"
    try:
        answer = await client.get(where)
        if answer.status_code != 200:
            return f"{where} answers {answer.status_code}"
        names = [each["id"] for each in answer.json()["data"]]
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"{where} does not answer: {error or type(error).__name__}"
    except (ValueError, KeyError, TypeError):
        return f"{where} gives no list of models; is it an OpenAI API?"
    return None if model in names else f"{where} has no model {model}, but {', '.join(names)}"


def trusted(ca_file: Path | None) -> ssl.SSLContext:
    """Certificates of the public authorities, or of the one in the file."""
    return ssl.create_default_context(cafile=ca_file) if ca_file else httpx.create_ssl_context()


def tell_health(well: bool) -> None:
    """For the health check, which looks for the file."""
    if well:
        ANSWERED.touch()
    else:
        ANSWERED.unlink(missing_ok=True)


async def main() -> None:
    """Ask again and again, until the container is stopped."""
    settings = JudgeSettings()
    llm = settings.llm
    judges = judges_of(settings)
    urls = judge_urls(settings, judges)
    headers = {"Authorization": f"Bearer {llm.api_key.get_secret_value()}"} if llm.api_key else {}
    said: list[str] | None = None
    async with httpx.AsyncClient(headers=headers, verify=trusted(llm.ca_file)) as client:
        while True:
            found = [await trouble(client, urls[each.name], each.model) for each in judges]
            lines = [
                f"judge {judge.name}: {what or 'its model answers'}"
                for judge, what in zip(judges, found, strict=True)
            ]
            if lines != said:
                sys.stdout.write("".join(f"{line}\n" for line in lines))
                sys.stdout.flush()
                said = lines
            tell_health(not any(found))
            await asyncio.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    asyncio.run(main())
