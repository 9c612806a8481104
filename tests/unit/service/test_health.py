import asyncio

from rlaif.service.health import Readiness


async def test_a_check_that_raises_or_hangs_is_not_ready_and_does_not_stop_the_others() -> None:
    readiness = Readiness(timeout=0.01)

    def broken() -> str | None:
        raise ConnectionError("refused")

    async def hangs() -> str | None:
        await asyncio.Event().wait()
        return None

    readiness.add("broken", broken)
    readiness.add("hangs", hangs)
    readiness.add("fine", lambda: None)
    report = await readiness.report()
    assert report.status == "not ready"
    assert report.checks["broken"].detail == "ConnectionError: refused"
    assert report.checks["hangs"].detail == "no answer within 0.01 s"
    assert report.checks["fine"].ok
