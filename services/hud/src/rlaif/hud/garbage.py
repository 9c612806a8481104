"""Frees what connections leave behind while there is little of it.

A page that goes leaves a cycle of some ninety objects (protocol, transport, task, traceback), and a
wait for a message that ran out of time another. Python frees cycles in its last generation when a
quarter of all objects are new: minutes later, megabytes later, each time a little higher, as what
lives on lies between them.
"""

import asyncio
import gc

COLLECT_SECONDS = 10.0


def keep_for_good() -> None:
    """What there is now lives as long as the process: do not look through it again.

    For a process that serves alone: what a test made before would never be freed.
    """
    gc.collect()
    gc.freeze()


async def collect_garbage() -> None:
    """Free cycles every COLLECT_SECONDS, until cancelled."""
    while True:
        await asyncio.sleep(COLLECT_SECONDS)
        gc.collect()
