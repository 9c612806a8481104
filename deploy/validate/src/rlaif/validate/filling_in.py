"""What a user still has to fill in: our manifests name no registry, no digest and no host."""

import re
from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, named, texts

_PLACEHOLDER = re.compile(
    r"sha256:0{64}|[\w./:@-]*\byour-[\w./:@-]+|[\w./:@-]*\bexample\.(?:com|org)[\w./-]*"
)


def placeholders(manifests: list[Manifest]) -> Iterator[tuple[str, str]]:
    """Each placeholder with the first object that holds it, each one once."""
    seen: set[str] = set()
    for each in manifests:
        for text in texts(each):
            for found in _PLACEHOLDER.findall(text):
                if found not in seen:
                    seen.add(found)
                    yield found, named(each)


def missing_secrets(manifests: list[Manifest]) -> list[str]:
    """Names of Secrets that pods ask for and that nothing in the stream makes."""
    asked = {name for each in manifests for name in _asked(each)}
    return sorted(asked - {name for each in manifests for name in _made(each)})


def _asked(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("secretRef", "secretKeyRef") and inner.get("name"):
                if not inner.get("optional"):
                    yield inner["name"]
            elif key == "secret" and isinstance(inner, dict) and inner.get("secretName"):
                if not inner.get("optional"):
                    yield inner["secretName"]
            else:
                yield from _asked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _asked(inner)


def _made(manifest: Manifest) -> Iterator[str]:
    """Secrets that an operator makes of this object."""
    spec, metadata = manifest.get("spec") or {}, manifest.get("metadata") or {}
    own = str(metadata.get("name"))
    match manifest.get("kind"):
        case "ExternalSecret":
            yield (spec.get("target") or {}).get("name") or own
        case "Secret" | "SealedSecret" | "ObjectBucketClaim":
            yield own
        case "Certificate":
            yield spec["secretName"]
        case "Service":
            annotations = metadata.get("annotations") or {}
            yield annotations.get("service.beta.openshift.io/serving-cert-secret-name", "")
