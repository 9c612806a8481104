"""Secrets are named in manifests, never written there: git and the cluster's store keep them."""

import re
from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, named, pods, texts

_SECRET_NAME = re.compile(
    r"(PASSWORD|PASSWD|SECRET|TOKEN|ACCESS_KEY|API_KEY|PRIVATE_KEY|CREDENTIAL)", re.IGNORECASE
)
_NOT_THE_SECRET = re.compile(r"(_FILE|_PATH|_NAME|_URL|_URI|_ENABLED|_SECONDS)$", re.IGNORECASE)
_A_SECRET = (
    ("a password in an address", re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@$]*:[^/\s@$][^/\s@]*@")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    (
        "a password in a text",
        re.compile(
            r"(?im)^\s*['\"]?\w*(password|secret_key|access_key|api_key|token)['\"]?\s*[:=]\s*"
            r"['\"]?(?![$<{'\"\s]|file:|\d+$|true\b|false\b|null\b)\S"
        ),
    ),
)


def literal_secrets(manifests: list[Manifest]) -> Iterator[str]:
    """Values in Secrets, in variables with the name of a secret, and in any text."""
    for each in manifests:
        if each.get("kind") == "Secret" and (each.get("data") or each.get("stringData")):
            yield f"{named(each)}: a Secret with values; an operator or you make it, not git"
        elif each.get("kind") == "ConfigMap":
            for key, value in (each.get("data") or {}).items():
                if value and _is_secret(key):
                    yield f"{named(each)}: {key} has the name of a secret and a value"
        if each.get("kind") not in ("SealedSecret", "CustomResourceDefinition"):
            yield from _texts(each)
    for pod in pods(manifests):
        for container in pod.containers():
            for variable in container.get("env") or ():
                if variable.get("value") and _is_secret(variable["name"]):
                    yield f"{named(pod.owner)}: {variable['name']} is a secret written down"


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _NOT_THE_SECRET.search(name)


def _texts(manifest: Manifest) -> Iterator[str]:
    for text in texts(manifest):
        for what, pattern in _A_SECRET:
            if pattern.search(text):
                yield f"{named(manifest)}: {what}"
