"""Makes the planner that the settings name, in the process that plays, and checks them before."""

import ssl
from urllib.parse import urlsplit

from rlaif.network.addresses import without_credentials
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
            the authority cannot be read.
    """
    if not settings.is_on:
        return
    for mode in MODES:
        _check_url(settings.url(mode), mode)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if not (key.isascii() and (key.isprintable() or not key)):
        raise PlannerSettingsError(
            "PLANNER_API_KEY has characters that no header may hold, such as a line break at its "
            "end; set it without them"
        )
    if settings.ca_file is not None:
        try:
            ssl.create_default_context(cafile=settings.ca_file)
        except OSError as error:
            raise PlannerSettingsError(
                f"{settings.ca_file} is no PEM file of certificates: {error}; set PLANNER_CA_FILE"
            ) from error


def _check_url(url: str, mode: str) -> None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise PlannerSettingsError(
            f"the planner's route /{mode} has the address {without_credentials(url)!r}, which is "
            f"none: set PLANNER_BASE_URL or PLANNER_{mode.upper()}_URL to one like http://llm:8000"
        )
