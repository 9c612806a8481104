"""The page of a service's REST interface, in a real browser."""

from typing import Any

OPERATIONS = "document.querySelectorAll('.opblock').length"
PARAMETERS = "document.querySelectorAll('.opblock .parameters-container').length"


async def test_the_interface_can_be_read_and_tried_without_other_sites(
    chromium: Any, hud_url: str
) -> None:
    await chromium.open(f"{hud_url}/docs")
    await chromium.wait_for(f"{OPERATIONS} > 5")
    await chromium.evaluate("document.querySelector('.opblock-summary-control').click()")
    await chromium.wait_for(f"{PARAMETERS} === 1")
    await chromium.evaluate("document.querySelector('.try-out__btn').click()")
    await chromium.wait_for("document.querySelector('.btn.execute') !== null")
    await chromium.evaluate("document.querySelector('.btn.execute').click()")
    await chromium.wait_for("document.querySelector('.live-responses-table') !== null")
    assert chromium.errors == []
    outside = [url for url in chromium.requested if not url.startswith((hud_url, "data:"))]
    assert outside == []
