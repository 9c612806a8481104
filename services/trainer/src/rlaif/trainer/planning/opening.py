"""Makes the planner that the settings name, in the process that plays, and checks them before."""

from contextlib import suppress

from rlaif.contracts.plans import Mode
from rlaif.llm.openai import connections_to
from rlaif.llm.ports import ClientSetupError
from rlaif.network.addresses import is_http_url, without_credentials
from rlaif.trainer.planning.desk import MODES
from rlaif.trainer.planning.threaded import ThreadedPlanner
from rlaif.trainer.play.planner_port import Planner
from rlaif.trainer.settings.planner import PlannerSettings


class PlannerSettingsError(ValueError):
    """The planner cannot work with these settings: what, why, how to mend it."""


def open_planner(settings: PlannerSettings) -> Planner | None:
    """The planner; None when it is off. Nothing is opened before the first question."""
    return ThreadedPlanner(settings) if settings.is_on else None


def check_planner(settings: PlannerSettings) -> None:
    """See that the settings can work, as far as that shows without a call.

    Raises:
        PlannerSettingsError: An address is none, the key cannot stand in a header, or the file of
            the authority or a proxy of the environment cannot be used.
    """
    if not settings.is_on:
        return
    for mode in MODES:
        _check_url(settings, mode)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if not (key.isascii() and (key.isprintable() or not key)):
        raise PlannerSettingsError(
            "PLANNER_API_KEY has characters that no header may hold, such as a line break at its "
            "end; set it without them"
        )
    urls = [settings.url(mode) for mode in MODES]
    try:
        connections_to(settings.calls, api_key=None, ca_file=settings.ca_file, urls=urls)
    except ClientSetupError as error:
        raise PlannerSettingsError(str(error)) from error
    except OSError as error:
        raise PlannerSettingsError(
            f"{settings.ca_file} is no PEM file of certificates: {error}; set PLANNER_CA_FILE"
        ) from error


def _check_url(settings: PlannerSettings, mode: Mode) -> None:
    url = settings.base_url or ""
    with suppress(ValueError):
        url = settings.url(mode)
    if not is_http_url(url):
        raise PlannerSettingsError(
            f"the planner's route /{mode} has the address {without_credentials(url)!r}, which is "
            f"none: set PLANNER_BASE_URL or PLANNER_{mode.upper()}_URL to one like http://llm:8000"
        )
