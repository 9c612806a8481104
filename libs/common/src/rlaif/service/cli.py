"""The command line of a service: options from its settings class, then one uvicorn process.

Exit codes: 0 stopped on request, 1 the app failed, 2 a setting or option is invalid, 3 a resource
of the machine is missing, such as a free port.
"""

import argparse
import logging
import os
import pkgutil
import re
import resource
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_settings import CliSettingsSource, SettingsError

from rlaif.files.failures import command
from rlaif.service.logging import configure_logging
from rlaif.service.settings import (
    ServiceSettings,
    Setting,
    SharedSettings,
    describe,
    flat_values,
)
from rlaif.tracing.spans import UnknownExporterError, export_spans

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

S = TypeVar("S", bound=ServiceSettings)
AnySettings = TypeVar("AnySettings", bound=SharedSettings)

MAX_CONNECTIONS = 1000
_MAX_DESCRIPTORS = 65_536

GRACEFUL_SECONDS = 5
"""Grace period of open requests when the service is stopped."""

_MAX_METAVAR = 40
"""Maximum characters of an option's values in the help; more would not fit on a line."""

PRECEDENCE = "An option overrides its environment variable, which overrides the default."

WEBSOCKET_BYTES = 65_536
"""Maximum size of a message from a browser."""


class StartupError(Exception):
    """Raised by `create_app` for a missing resource; the message has the reason and the fix."""


class InvalidSettingsError(Exception):
    """Invalid settings, one line for each. `create_app` may raise it too."""


def run(
    settings_class: type[S],
    create_app: Callable[[S], "FastAPI"] | str,
    *,
    description: str,
    argv: Sequence[str] | None = None,
) -> int:
    """Run a service until SIGTERM or SIGINT; returns its exit code.

    `create_app` is the function or its name, `module:function`, which is imported after the
    options are parsed, so that `--help` is fast.
    """
    return command(settings_class.service_name())(_run)(
        settings_class, create_app, description, argv
    )


def _run(
    settings_class: type[S],
    create_app: Callable[[S], "FastAPI"] | str,
    description: str,
    argv: Sequence[str] | None,
) -> int:
    name = settings_class.service_name()
    parser = argparse.ArgumentParser(
        prog=name,
        usage="%(prog)s [OPTION ...]",
        description=description,
        epilog=PRECEDENCE,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--print-settings",
        action="store_true",
        help="Print the settings as JSON, secrets masked, and exit.",
    )
    options = Options(parser, settings_class)
    arguments = parser.parse_args(argv)
    try:
        settings = options.load(arguments)
        if arguments.print_settings:
            sys.stdout.write(masked_json(settings) + "\n")
            return 0
        configure_logging(name, settings.log_level, settings.log_format)
        export_spans(name)
        make = pkgutil.resolve_name(create_app) if isinstance(create_app, str) else create_app
        with bind(settings) as listener:
            return _serve(name, make(settings), listener)
    except (InvalidSettingsError, UnknownExporterError) as error:
        return _fail(name, str(error), 2)
    except StartupError as error:
        return _fail(name, str(error), 3)


class Options(Generic[AnySettings]):
    """Adds the options of a settings class to a parser, by pydantic-settings."""

    def __init__(self, parser: argparse.ArgumentParser, settings_class: type[AnySettings]) -> None:
        self._settings_class = settings_class
        known = {each.option for each in describe(settings_class)}

        def add(group: Any, *flags: str, **argument: Any) -> None:
            # Omits whole blocks, internal fields and names of variables.
            if named := known.intersection(flags):
                if len(str(argument.get("metavar") or "")) > _MAX_METAVAR:
                    names = str(argument["metavar"]).strip("{}").replace(",", ", ")
                    argument |= {"metavar": "NAME", "help": f"{argument['help']} One of {names}."}
                group.add_argument(*named, **argument)

        self._source = CliSettingsSource[argparse.ArgumentParser](
            settings_class, root_parser=parser, add_argument_method=add
        )

    def load(self, arguments: argparse.Namespace, **given: Any) -> AnySettings:
        """Settings from options, `given` and the environment; raises InvalidSettingsError."""
        try:
            source = self._source(parsed_args=arguments)
        except SettingsError as error:
            raise InvalidSettingsError(str(error)) from error
        return load_settings(self._settings_class, _cli_settings_source=source, **given)


def load_settings(settings_class: type[AnySettings], **given: Any) -> AnySettings:
    """Settings from `given`, the environment and the defaults; raises InvalidSettingsError."""
    try:
        return settings_class(**given)
    except ValidationError as error:
        settings = describe(settings_class)
        lines = [complaint(settings, e["loc"], e["msg"]) for e in error.errors(include_input=False)]
        raise InvalidSettingsError("; ".join(lines)) from error
    except SettingsError as error:
        raise InvalidSettingsError(_of_source(settings_class, error)) from error


def complaint(settings: Sequence[Setting], loc: tuple[int | str, ...], reason: str) -> str:
    """One line about an invalid value: its setting, the reason, and how to set it."""
    for setting in settings:
        depth = len(setting.path)
        if loc[:depth] == setting.path or loc[:1] == (setting.environment,):
            where = ".".join([setting.name, *map(str, loc[depth:])])
            return f"{where}: {reason}; set {setting.option} or {setting.environment}"
    return f"{'.'.join(map(str, loc)) or 'settings'}: {reason}"


def _of_source(settings_class: type[SharedSettings], error: SettingsError) -> str:
    named = re.search(r'value for field "(\w+)"', str(error))
    path = (named.group(1),) if named else ()
    wrong = next((each for each in describe(settings_class) if each.path == path), None)
    if wrong is None:
        return str(error)
    return f"{wrong.name}: {wrong.environment} is not JSON: {error.__cause__}"


def masked_json(settings: SharedSettings) -> str:
    """The settings by flat name as JSON, without secrets and without credentials in URLs."""
    values = flat_values(settings)
    shown = {each.name: values[each.name] for each in describe(type(settings))}
    text = TypeAdapter(dict[str, Any]).dump_json(shown, indent=2).decode()
    return re.sub(r'//(?:[^"\\]|\\.)*@', "//***@", text)


def bind(settings: ServiceSettings, setting: str = "port") -> socket.socket:
    """A listening socket on `host` and the port of that setting; raises StartupError."""
    number = getattr(settings, setting)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Allows an immediate restart; on Linux, two listeners on one port remain impossible.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, number))
        # Claims the port now: with SO_REUSEADDR several processes can bind, but only one listen.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        port = next(each for each in describe(type(settings)) if each.name == setting)
        raise StartupError(
            f"cannot listen on {settings.host}:{number}: {error.strerror or error}; "
            f"stop its user, or choose another with {port.option} or {port.environment}"
        ) from error
    return listener


def server_config(app: "FastAPI") -> "uvicorn.Config":
    """The uvicorn configuration of every app."""
    import uvicorn

    from rlaif.service.middleware import Connection

    return uvicorn.Config(
        app,
        http=Connection,
        # Half of the file descriptors; the app needs others for its connections and files.
        limit_concurrency=min(MAX_CONNECTIONS, raise_descriptor_limit() // 2),
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        # An app with WebSockets selects their compression.
        ws=getattr(app.state, "websocket_protocol", "auto"),
        ws_per_message_deflate=False,
        ws_max_size=WEBSOCKET_BYTES,
    )


def raise_descriptor_limit() -> int:
    """Raise the soft limit of open files towards the hard limit; returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _MAX_DESCRIPTORS
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS allows less than its hard limit
        return soft
    return wanted


def _serve(name: str, app: "FastAPI", listener: socket.socket) -> int:
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            readiness = getattr(app.state, "readiness", None)
            if readiness is not None:
                readiness.set_stopping()
            super().handle_exit(sig, frame)

    server = Server(server_config(app))
    host, port = listener.getsockname()[:2]
    log = logging.getLogger("rlaif.service")
    log.info("listening", extra={"host": host, "port": port})
    # uvicorn re-raises the signal after a clean stop; this turns it into exit code 0.
    signal.signal(signal.SIGTERM, _leave)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    except SystemExit as stop:
        if stop.code != 0:  # uvicorn exits like this if the lifespan fails
            return _fail(name, "the app did not start; the log above has the reason", 1)
    log.info("stopped")
    return int(getattr(app.state, "exit_code", 0))


RESTART = 75
"""Exit code of a service that is to be started again (EX_TEMPFAIL of sysexits.h)."""


def restart(app: "FastAPI") -> None:
    """Stop the service as SIGTERM does, with the exit code `RESTART`."""
    app.state.exit_code = RESTART
    os.kill(os.getpid(), signal.SIGTERM)


def _leave(_signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _fail(name: str, message: str, code: int) -> int:
    sys.stderr.write(f"{name}: error: {message}\n")
    return code
