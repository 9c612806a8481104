"""The pytest plugin of the workspace: `-p rlaif.testing.plugin` loads every fixture below.

Servers start with the first test that uses them. `--hypothesis-profile few` runs a fifth of the
examples of each property without an explicit number: for repeated runs on the same code.

Programs that are installed in the environment, such as kubectl, are added to PATH.
"""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rlaif.testing.servers.nats_server import bus, guarded_nats, nats_server, nats_url
from rlaif.testing.servers.s3_server import (
    _s3_stores,
    episodes_store,
    file_store,
    models_store,
    s3,
    s3_server,
)

# The duration of an example depends on the load of the machine, not on the tested code.
settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("all"), max_examples=20)
settings.load_profile("all")


def pytest_configure() -> None:
    """Append the environment's programs to PATH, and remove unrelated variables.

    Tests use only local servers, without proxies; a `make` that they start must not inherit the
    options of the one that started the tests. Threads of numpy and torch, which are not
    imported yet, spin where cores are few and shared: with two, torch took four times as long.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ["PATH"] = os.pathsep.join(
        [os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    )
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("MAKE", "MFLAGS")):
            del os.environ[name]


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Restore the handlers of the root logger and the levels of all existing loggers.

    A command whose `main` runs inside a test configures logging of the whole process.
    """
    known = logging.Logger.manager.loggerDict.values()
    loggers = [logging.getLogger(), *(each for each in known if isinstance(each, logging.Logger))]
    levels = [logger.level for logger in loggers]
    handlers = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        if logger.level != level:
            logger.setLevel(level)


__all__ = [
    "_s3_stores",
    "bus",
    "episodes_store",
    "file_store",
    "guarded_nats",
    "logging_as_before",
    "models_store",
    "nats_server",
    "nats_url",
    "pytest_configure",
    "s3",
    "s3_server",
]
