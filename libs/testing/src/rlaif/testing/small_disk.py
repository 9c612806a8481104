"""A file system that a test can fill to the last byte: a small tmpfs in a mount namespace.

It needs no privileges if the kernel allows user namespaces.
"""

import shutil
import subprocess
from pathlib import Path

NO_SMALL_DISK = "this user may not mount a tmpfs: run as root, or allow user namespaces"


def on_small_disk(folder: Path, megabytes: int) -> tuple[str, ...]:
    """Return the prefix of a command that then runs with a tmpfs at `folder`."""
    mount = f'mount -t tmpfs -o size={megabytes}m tmpfs "$0" && exec "$@"'
    return ("unshare", "-Urm", "sh", "-c", mount, str(folder))


def has_small_disk() -> bool:
    """Whether this user may mount one; otherwise tests are skipped with `NO_SMALL_DISK`."""
    if shutil.which("unshare") is None:
        return False
    tried = [*on_small_disk(Path("/mnt"), 1), "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0
