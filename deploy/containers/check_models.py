"""Asks the judges' servers which models they have, and touches a file while all have theirs.

The service `llm-check` of docker-compose.yml. It reads the judge's own settings, says what is
wrong, and says it again when it changes. Nothing is asked that costs tokens.
"""

import asyncio
import ssl
import sys
from collections.abc import Iterable
from pathlib import Path

import httpx

from rlaif.judge.parts import judges_of
from rlaif.judge.routes import judge_urls
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.addresses import endpoint

ANSWERED = Path("/tmp/models-answer")
PAUSE_SECONDS = 15.0


async def trouble(client: httpx.AsyncClient, urls: Iterable[str], model: str) -> str | None:
    """Why a judge cannot use its model, according to the lists of models; None if it can."""
    found = ""
    for where in (endpoint(url, "models") for url in urls):
        try:
            answer = await client.get(where)
            if answer.status_code != 200:
                found += f"{where} answers {answer.status_code}. "
                continue
            names = [each["id"] for each in answer.json()["data"]]
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            found += f"{where} does not answer: {error or type(error).__name__}. "
            continue
        except (ValueError, KeyError, TypeError):
            found += f"{where} gives no list of models; is it an OpenAI API? "
            continue
        if model in names or len(names) == 1:
            return None
        return f"{where} has no model {model}, but {', '.join(names)}"
    return found.strip()


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
    key, ca_file = settings.llm_api_key, settings.llm_ca_file
    judges = judges_of(settings)
    urls = judge_urls(settings, judges)
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    said: list[str] | None = None
    async with httpx.AsyncClient(headers=headers, verify=trusted(ca_file)) as client:
        while True:
            found = [
                await trouble(client, filter(None, urls[each.name]), each.model) for each in judges
            ]
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
