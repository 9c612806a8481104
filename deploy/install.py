"""Installs packages into a virtual environment: by uv, or by pip where uv does not succeed.

    python3 deploy/install.py .venv/bin/python --no-deps --require-hashes -r requirements.lock
    python3 deploy/install.py .venv/bin/python -c constraints.txt torch

The arguments mean the same to both. uv is installed into the environment first, by its entry in
requirements.lock, and asks the indexes and folders that pip is configured with.

PyTorch comes from its index for CPUs, as the wheels for Linux on PyPI bring CUDA, which no service
uses. TORCH=cuda asks pip's own index instead, and TORCH_INDEX=… the one that it names. Without
them the index for CPUs is not asked on other systems than Linux, nor where pip is configured with
an index or folders.

Needs Python 3.7 and the standard library alone.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
CONTAINERFILE = ROOT / "deploy/containers/Containerfile"
OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}
"""Setting of pip, of one or more words → option of uv."""
VARIABLES = {"cert": "SSL_CERT_FILE", "client-cert": "SSL_CLIENT_CERT", "proxy": "ALL_PROXY"}
"""Setting of pip → variable of uv."""
INDEXES = {"index-url", "extra-index-url", "find-links", "no-index"}


class Environment:
    """A virtual environment and what its pip is configured with, such as `find-links`."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._pip = [python, "-m", "pip", "--disable-pip-version-check"]
        self._uv = Path(python).with_name("uv")
        self.configured = self._configuration()

    def install_uv(self) -> None:
        """Install the uv of the lock; without it pip installs the rest."""
        entry = re.search(r"^uv==(?:.*\\\n)*.*\n", LOCK.read_text(), re.MULTILINE)
        if entry is not None and not self._uv.exists():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "uv.lock")
                path.write_text(entry[0])
                self._by_pip(["--no-deps", "--require-hashes", "-r", str(path)])

    def install(self, words: list[str]) -> bool:
        """Install what pip's arguments ask for."""
        if self._uv.exists():
            if self._by_uv(words, self.configured):
                return True
            _say("uv did not succeed: pip is tried")
        return self._by_pip(words)

    def install_from(self, index: str, words: list[str]) -> bool:
        """Install from this index alone, which may not answer: that is known after a minute."""
        words = [*words, "--index-url", index]
        if self._uv.exists():
            return self._by_uv(words, {}, UV_HTTP_TIMEOUT="20", UV_HTTP_RETRIES="1")
        return self._by_pip([*words, "--timeout", "20", "--retries", "1"])

    def _by_pip(self, words: list[str]) -> bool:
        # `user = true` in a pip.conf, the default of some distributions, fails in an environment.
        # Files are compiled when they are first imported; most never are.
        return _succeeds([*self._pip, "install", "--quiet", "--no-user", "--no-compile", *words])

    def _by_uv(self, words: list[str], configured: dict[str, str], **variables: str) -> bool:
        options = [
            f"{option}={word}"
            for name, option in OPTIONS.items()
            for word in configured.get(name, "").split()
        ]
        if configured.get("no-index", "").lower() in ("1", "y", "yes", "t", "true", "on"):
            options.append("--no-index")
        # Any index may have a package, as with pip; digests say which files are the right ones.
        variables.update(UV_INDEX_STRATEGY="unsafe-best-match", UV_SYSTEM_CERTS="true")
        variables.update(
            {name: configured[key] for key, name in VARIABLES.items() if key in configured}
        )
        if not _has_cache():
            variables["UV_NO_CACHE"] = "true"
        command = [str(self._uv), "pip", "install", "--quiet", "--python", self._python]
        return _succeeds([*command, *options, *words], variables)

    def _configuration(self) -> dict[str, str]:
        listed = subprocess.run(
            [*self._pip, "config", "list"], stdout=subprocess.PIPE, check=True, text=True
        )
        rows = [line.partition("=") for line in listed.stdout.splitlines() if "=" in line]
        found: dict[str, str] = {}
        for section in ("global.", "install.", ":env:."):  # the last one wins
            for key, _, value in rows:
                if key.startswith(section):
                    found[key[len(section) :]] = str(ast.literal_eval(value))
        return found


def index_for_cpus(configured: dict[str, str]) -> str:
    """The index to ask for PyTorch before pip's own; empty for none."""
    if "TORCH_INDEX" in os.environ:
        return os.environ["TORCH_INDEX"]
    if os.environ.get("TORCH") == "cuda" or not sys.platform.startswith("linux"):
        return ""
    if INDEXES & configured.keys():
        _say("PyTorch comes from where pip is configured to look (TORCH_INDEX=… names an index)")
        return ""
    named = re.search(r"^ARG TORCH_INDEX=(.*)$", CONTAINERFILE.read_text(), re.MULTILINE)
    return named[1] if named else ""


def main() -> int:
    """Install; exit code 0 when it is done."""
    if os.environ.get("TORCH", "cpu") not in ("cpu", "cuda"):
        sys.stderr.write("error: TORCH is cpu, which is the default, or cuda\n")
        return 2
    python, *words = sys.argv[1:]
    environment = Environment(python)
    environment.install_uv()
    index = index_for_cpus(environment.configured) if "torch" in words else ""
    if index:
        if environment.install_from(index, words):
            return 0
        _say(
            f"No PyTorch for CPUs from {index}: taking the one of pip's own index, on Linux with "
            "CUDA, a further 2.7 GB"
        )
    return 0 if environment.install(words) else 1


def _has_cache() -> bool:
    """Whether uv can write its cache: some accounts have no home; uv fails there."""
    named = os.environ.get("UV_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    folder = Path(os.path.expanduser(named or "~/.cache")).absolute()
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    return existing.is_dir() and os.access(existing, os.W_OK)


def _succeeds(command: list[str], variables: dict[str, str] | None = None) -> bool:
    environment = {**os.environ, **(variables or {})}
    return subprocess.run(command, env=environment, check=False).returncode == 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
