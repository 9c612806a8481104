"""Certificates for test servers: created by openssl, valid for one day on this machine only."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificate:
    """A server's certificate and key, and its certificate authority; PEM files."""

    file: Path
    key_file: Path
    ca_file: Path


def make_certificate(folder: Path) -> Certificate:
    """Create a certificate authority and a certificate for 127.0.0.1 and localhost.

    Skips the test if openssl is not installed.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: on Debian, apt-get install openssl")

    def run(*arguments: object) -> None:
        words = [openssl, *map(str, arguments)]
        subprocess.run(words, check=True, capture_output=True, cwd=folder)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    run(
        "req", "-x509", *new_key, "-days", 1, "-subj", "/CN=authority of a test",
        "-keyout", "ca.key", "-out", "ca.pem",
    )  # fmt: skip
    run("req", *new_key, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    run(
        "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
        "-CAcreateserial", "-days", 1, "-extfile", "names", "-out", "server.pem",
    )  # fmt: skip
    return Certificate(folder / "server.pem", folder / "server.key", folder / "ca.pem")
