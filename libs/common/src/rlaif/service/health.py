"""Readiness: named checks of a service. Liveness checks nothing."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import BaseModel

Check = Callable[[], str | Awaitable[str | None] | None]
"""Returns None if healthy, else a sentence about the problem. Must not block."""


class CheckReport(BaseModel):
    """The answer of one check."""

    ok: bool
    detail: str | None


class ReadinessReport(BaseModel):
    """Body of `/readyz`."""

    status: Literal["ready", "not ready", "stopping"]
    checks: dict[str, CheckReport]


class Readiness:
    """The checks of one service; an asynchronous check times out after `timeout` seconds."""

    def __init__(self, *, timeout: float = 2.0) -> None:
        self._checks: dict[str, Check] = {}
        self._timeout = timeout
        self._stopping = False

    @property
    def stopping(self) -> bool:
        """True once the service is being stopped; long responses should end."""
        return self._stopping

    def add(self, name: str, check: Check) -> None:
        self._checks[name] = check

    def set_stopping(self) -> None:
        self._stopping = True

    async def report(self) -> ReadinessReport:
        """Run all checks concurrently; one that raises counts as not ready."""
        names = list(self._checks)
        details = await asyncio.gather(*(self._ask(self._checks[name]) for name in names))
        checks = {
            name: CheckReport(ok=detail is None, detail=detail)
            for name, detail in zip(names, details, strict=True)
        }
        if self._stopping:
            return ReadinessReport(status="stopping", checks=checks)
        fine = all(check.ok for check in checks.values())
        return ReadinessReport(status="ready" if fine else "not ready", checks=checks)

    async def _ask(self, check: Check) -> str | None:
        try:
            answer = check()
            if inspect.isawaitable(answer):
                async with asyncio.timeout(self._timeout):
                    answer = await answer
        except TimeoutError:
            return f"no answer within {self._timeout:g} s"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return answer
