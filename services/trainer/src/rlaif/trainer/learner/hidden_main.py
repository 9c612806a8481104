"""Spawns processes that need nothing of the learner."""

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def main_module_hidden() -> Iterator[None]:
    """Processes that are spawned in here do not import our main module.

    `multiprocessing` has each import it again. Ours is the whole learner: 5 s and 300 MB a worker
    for torch and Ray, of which one that only plays needs nothing.
    """
    main = sys.modules["__main__"]
    spec, file = main.__spec__, main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__spec__ = spec
        if file is not None:
            main.__file__ = file
