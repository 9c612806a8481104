"""Logging of the test process, put back after each test.

A command whose `main` runs inside a test sets up the logs of the whole process; a later test of the
same process, in whatever order, would find another level and its records gone.
"""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """The root's handlers, and the levels of all loggers that were there, are put back."""
    loggers = [logging.getLogger(), *_named_loggers()]
    levels = [logger.level for logger in loggers]
    handlers = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        if logger.level != level:
            logger.setLevel(level)


def _named_loggers() -> list[logging.Logger]:
    known = logging.Logger.manager.loggerDict.values()
    return [each for each in known if isinstance(each, logging.Logger)]
