"""`rlaif status`: prints the state of a running pipeline, from the REST interface of its page.

Exit codes: 0 no issue, 1 an issue, 2 there is no pipeline at the address.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from rlaif.client.rest import DEFAULT_HUD, ClientError, get
from rlaif.files.failures import command

_SUMMARY = "Print the state of a pipeline. Exit code 0: no issue, 1: an issue, 2: no pipeline."


@command("rlaif status", ClientError)
def main() -> int:
    """Print a few lines; returns the exit code."""
    parser = argparse.ArgumentParser(prog="rlaif status", description=_SUMMARY)
    parser.add_argument("--url", default=DEFAULT_HUD, help="page address (default: %(default)s)")
    url = parser.parse_args().url
    state = get(url, "state", wanted="services")
    try:
        lines = list(report(state))
    except (LookupError, TypeError) as error:
        raise ClientError(f"the page at {url} is of another release: {error!r}") from error
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if state["issues"] else 0


def report(state: dict[str, Any]) -> Iterator[str]:
    """Lines about the answer of `GET state` of the HUD; an unknown number is `?`."""
    run, models = state["run"], state["reward_models"]
    if run is None:
        yield "run       none yet"
    else:
        yield f"run       {run['run_id']}, {run['status']}"
        steps = f"{_n(run['episodes'])} episodes, {_n(run['env_steps'])} steps"
        yield f"trained   iteration {_n(run['iteration'])}, {steps}"
    done = (f"{_n(state['loop'][each])} {each}" for each in ("captured", "exported", "scored"))
    yield f"segments  {', '.join(done)}"
    live = "none yet" if models["champion"] is None else f"v{models['champion']['version']} is live"
    yield f"model     {live}"
    yield f"headline  {state['headline']['text']}"
    for each in state["services"]:
        if each["state"] != "ready":
            yield f"service   {each['name']} is {each['state']}"
    for each in state["issues"]:
        yield f"issue     {each['service']}: {each['description']}"


def _n(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"
