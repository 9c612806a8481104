"""The command line of a service: options from its settings class, then one uvicorn process.

Exit codes: 0 stopped as asked, 1 the app failed to start or broke, 2 a setting or option is wrong,
3 something that it needs from the machine is missing, such as a free port.
"""

import argparse
import json
import logging
import re
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import SettingsError

from rlaif.service.logging import configure_logging
from rlaif.service.settings import FieldDoc, ServiceSettings, describe

if TYPE_CHECKING:
    from fastapi import FastAPI

S = TypeVar("S", bound=ServiceSettings)

GRACEFUL_SECONDS = 5
"""How long open requests may take to end once the service is asked to stop."""

WEBSOCKET_BYTES = 65_536
"""Largest message that a browser may send."""


class StartupError(Exception):
    """`create_app` raises it when something is missing; the text says what, why and the fix."""


class InvalidSettingsError(Exception):
    """Settings that do not fit; one line for each. `create_app` may raise it too."""


def run(
    settings_class: type[S],
    create_app: Callable[[S], "FastAPI"],
    *,
    description: str,
    argv: Sequence[str] | None = None,
) -> int:
    """Run a service until SIGTERM or SIGINT.

    Args:
        settings_class: Its settings; each field becomes one option.
        create_app: Builds the app. It should import the app's modules inside, so that `--help`
            stays fast.
        description: First sentence of `--help`.
        argv: Arguments without the program's name; those of the process when None.

    Returns:
        The exit code. `--help` and unknown options leave by SystemExit, as argparse does.
    """
    name = settings_class.service_name()
    fields = describe(settings_class)
    options = vars(settings_parser(settings_class, name, description).parse_args(argv))
    print_settings = options.pop("print_settings")
    try:
        settings = load_settings(settings_class, options)
    except InvalidSettingsError as error:
        return _fail(name, str(error), 2)
    if print_settings:
        sys.stdout.write(masked_json(settings) + "\n")
        return 0
    configure_logging(name, settings.log_level, settings.log_format)
    try:
        listener = _bind(settings.host, settings.port)
    except OSError as error:
        return _fail(name, _bind_problem(fields, settings, error), 3)
    with listener:
        try:
            app = create_app(settings)
        except InvalidSettingsError as error:
            return _fail(name, str(error), 2)
        except StartupError as error:
            return _fail(name, str(error), 3)
        return _serve(name, app, listener)


def load_settings(settings_class: type[S], options: dict[str, Any]) -> S:
    """Build the settings from options, environment and defaults, in that order.

    Args:
        settings_class: What to build.
        options: Field name → text (or bool for flags), only those that were given.

    Raises:
        InvalidSettingsError: One line for each wrong value: field, reason, how to set it.
    """
    fields = {field.name: field for field in describe(settings_class)}
    try:
        return settings_class(**{k: _decode(fields[k], v) for k, v in options.items()})
    except ValidationError as error:
        lines = [_complaint(fields, e["loc"], e["msg"]) for e in error.errors(include_input=False)]
        raise InvalidSettingsError("; ".join(lines)) from error
    except SettingsError as error:
        raise InvalidSettingsError(f"{error}: give it as JSON") from error


def masked_json(settings: ServiceSettings) -> str:
    """The settings as JSON without secrets, also without those inside URLs."""
    text = json.dumps(settings.model_dump(mode="json"), indent=2)
    return re.sub(r"//[^/@\s\"]+@", "//***@", text)


def _decode(field: FieldDoc, value: Any) -> Any:
    if field.kind == "data" and isinstance(value, str):
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            raise InvalidSettingsError(
                f"{field.name}: not JSON ({error}); set {field.option} or {field.environment}"
            ) from error
    return value


def _complaint(fields: dict[str, FieldDoc], loc: tuple[int | str, ...], reason: str) -> str:
    by_alias = {field.environment: field for field in fields.values()}
    head = str(loc[0]) if loc else ""
    field = fields.get(head) or by_alias.get(head)
    if field is None:
        return f"{head or 'settings'}: {reason}"
    where = ".".join([field.name, *map(str, loc[1:])])
    return f"{where}: {reason}; set {field.option} or {field.environment}"


def settings_parser(
    settings_class: type[ServiceSettings], name: str, description: str
) -> argparse.ArgumentParser:
    """A command line with one option for each setting; only those given are in its answer.

    Args:
        settings_class: Whose fields become options.
        name: Of the program.
        description: First sentence of `--help`.
    """
    fields = describe(settings_class)
    parser = argparse.ArgumentParser(
        prog=name,
        description=description,
        epilog="An option wins over its environment variable, which wins over the default.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--print-settings",
        action="store_true",
        help="Print the settings as JSON, secrets masked, and leave.",
    )
    own = parser.add_argument_group(f"settings of {name}")
    shared = parser.add_argument_group("settings of all services")
    for field in fields:
        _add_option(shared if field.shared else own, field)
    return parser


def _add_option(group: argparse._ArgumentGroup, field: FieldDoc) -> None:
    text = f"{field.description} [env: {field.environment}] [default: {field.default}]"
    text = text.replace("%", "%%")
    if field.kind == "flag":
        group.add_argument(
            field.option,
            dest=field.name,
            action=argparse.BooleanOptionalAction,
            default=argparse.SUPPRESS,
            help=text,
        )
    else:
        metavar = "JSON" if field.kind == "data" else field.name.rsplit("_", 1)[-1].upper()
        group.add_argument(
            field.option, dest=field.name, metavar=metavar, default=argparse.SUPPRESS, help=text
        )


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Restart at once after a stop; two live listeners on one port stay impossible on Linux.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # Claims the port now: with SO_REUSEADDR two processes could both bind, only one listens.
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def _bind_problem(fields: list[FieldDoc], settings: ServiceSettings, error: OSError) -> str:
    port = next(field for field in fields if field.name == "port")
    return (
        f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}; "
        f"stop what uses it, or choose another with {port.option} or {port.environment}"
    )


def _serve(name: str, app: "FastAPI", listener: socket.socket) -> int:
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            readiness = getattr(app.state, "readiness", None)
            if readiness is not None:
                readiness.set_stopping()
            super().handle_exit(sig, frame)

    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            server_header=False,
            timeout_graceful_shutdown=GRACEFUL_SECONDS,
            # Pictures are compressed already: deflating them costs latency and gains nothing.
            ws_per_message_deflate=False,
            ws_max_size=WEBSOCKET_BYTES,
        )
    )
    host, port = listener.getsockname()[:2]
    log = logging.getLogger("rlaif.service")
    log.info("listening", extra={"host": host, "port": port})
    # uvicorn raises the signal again after its clean stop; this turns that into exit code 0.
    signal.signal(signal.SIGTERM, _leave)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    except SystemExit as stop:
        if stop.code != 0:  # uvicorn's own way out when the lifespan fails
            return _fail(name, "the app did not start; the log above says why", 1)
    log.info("stopped")
    return 0


def _leave(signum: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _fail(name: str, message: str, code: int) -> int:
    sys.stderr.write(f"{name}: error: {message}\n")
    return code
