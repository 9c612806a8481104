"""Writes registry and digests of pushed images into deploy/components/image-pins.

    python3 deploy/image_pins.py --registry quay.io/you [--tag 0.1.0] [--engine podman]

A digest is the one that `make images` wrote when it pushed (var/images), else the one that the
container engine knows of that registry. Needs Python 3.7 and the standard library alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "deploy/components/image-pins/kustomization.yaml"
PUSHED = ROOT / "var/images"
PARTS = ("service", "reward-model", "trainer")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class PinError(Exception):
    """A digest is missing; the message says how to get it."""


def digest_of(image: str, tag: str, engine: str, pushed: Path = PUSHED) -> str:
    """The digest under which the registry has an image.

    Args:
        image: Its name with the registry, without a tag.
        tag: Its tag.
        engine: The container engine that pushed it, such as podman.
        pushed: Folder with `<name>.digest`, which holds `image@digest` of what was pushed.
    """
    file = pushed / f"{image.rpartition('/')[2]}.digest"
    known = [file.read_text().strip()] if file.is_file() else []
    command = [engine, "image", "inspect", "--format", "{{json .RepoDigests}}", f"{image}:{tag}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
        known += json.loads(done.stdout or "null") or []
    except (OSError, ValueError):
        pass  # no such engine, or no such image
    for name, _, digest in (each.partition("@") for each in known):
        if name == image and _DIGEST.fullmatch(digest):
            return digest
    raise PinError(
        f"no digest of {image}:{tag} is known here; push it with "
        f"`make images REGISTRY={image.rpartition('/')[0]}` first"
    )


def pinned(text: str, name: str, image: str, digest: str) -> str:
    """The kustomization with another image under one of its names; all else stays as it is."""
    entry = re.compile(
        rf"(- name: {re.escape(name)}\n +newName: )\S+(\n +digest: )\S+", re.MULTILINE
    )
    changed, found = entry.subn(rf"\g<1>{image}\g<2>{digest}", text)
    if found != 1:
        raise PinError(f"{PINS}: no entry with newName and digest for {name}")
    return changed


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; 2 when a digest is missing, and nothing is written then."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--registry", required=True, help="registry and path, such as quay.io/you")
    parser.add_argument("--tag", default=(ROOT / "VERSION").read_text().strip())
    parser.add_argument("--engine", default="podman", help="container engine that pushed them")
    parser.add_argument("--file", type=Path, default=PINS, help=argparse.SUPPRESS)
    parser.add_argument("--pushed", type=Path, default=PUSHED, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    text = options.file.read_text()
    try:
        for part in PARTS:
            image = f"{options.registry.rstrip('/')}/zelda-rlaif-{part}"
            digest = digest_of(image, options.tag, options.engine, options.pushed)
            text = pinned(text, f"zelda-rlaif/{part}", image, digest)
            sys.stdout.write(f"{image}@{digest}\n")
    except PinError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    new = options.file.with_name(options.file.name + ".new")
    new.write_text(text)
    os.replace(new, options.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
