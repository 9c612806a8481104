"""The same manifest runs the same program tomorrow."""

import re
from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, named, pods

_RELEASE = re.compile(r"^v?\d+\.\d+|^RELEASE\.\d{4}-\d{2}-\d{2}")
"""A tag that a publisher gives once; `1`, `stable` or `main` move on."""


def unpinned_images(manifests: list[Manifest]) -> Iterator[str]:
    """Images without a digest whose tag is missing, `latest`, or no release."""
    for pod in pods(manifests):
        for container in pod.containers():
            image = str(container.get("image") or "")
            if image and not _is_pinned(image):
                yield f"{named(pod.owner)}: image {image} is not pinned"


def _is_pinned(image: str) -> bool:
    if "@sha256:" in image:
        return True
    _, _, tag = image.rpartition("/")[2].partition(":")
    return bool(_RELEASE.match(tag))
