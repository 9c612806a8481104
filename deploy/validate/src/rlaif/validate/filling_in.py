"""What a user still has to fill in: our manifests name no registry, no digest and no host."""

import re
from collections.abc import Iterator
from pathlib import Path

from rlaif.validate.manifests import Manifest, named, read, texts

_PLACEHOLDER = re.compile(
    r"sha256:0{64}|[\w./:@-]*\byour-[\w./:@-]+|[\w./:@-]*\bexample\.(?:com|org)[\w./-]*"
    r"|\b(?:infra|ami)-id\b"
)


def to_fill_in(manifests: list[Manifest], deploy: Path) -> Iterator[str]:
    """A line for everything that a stream needs and that git does not hold."""
    for found, where in placeholders(manifests):
        yield f"{found} ({where})"
    keys = _keys(deploy)
    for name in missing_secrets(manifests):
        # A service's own key of a store is named as the one that all services share.
        alike = "rlaif-s3" if name.startswith("rlaif-s3-") else name
        yield f"Secret {name}: {', '.join(keys.get(alike, ('its keys are its own',)))}"
    for entry, properties in vault_entries(manifests).items():
        yield f"vault entry {entry}: {', '.join(properties)}"
    for each in manifests:
        spec = each.get("spec") or {}
        if each.get("kind") == "SecretStore":
            provider = next(iter(spec["provider"]))
            yield f"your vault, in the place of {provider}'s ({named(each)})"
        elif each.get("kind") == "MachineSet":
            zone = spec["template"]["spec"]["providerSpec"]["value"]["placement"]
            yield f"region and zone, now {', '.join(zone.values())} ({named(each)})"
        elif each.get("kind") == "ApplicationSet":
            source = spec["template"]["spec"]["source"]
            yield f"repository.env: repoURL, targetRevision, now {source['targetRevision']}"
        elif each.get("kind") == "ClusterQueue":
            for flavor in (it for group in spec["resourceGroups"] for it in group["flavors"]):
                quota = (f"{it['name']} {it['nominalQuota']}" for it in flavor["resources"])
                yield f"the quota of your nodes, now {', '.join(quota)} ({named(each)})"


def vault_entries(manifests: list[Manifest]) -> dict[str, list[str]]:
    """Entries of the vault with the properties that ExternalSecrets read; one missing fails all."""
    entries: dict[str, list[str]] = {}
    for each in manifests:
        if each.get("kind") == "ExternalSecret":
            for source in (it["remoteRef"] for it in each["spec"].get("data") or ()):
                known = entries.setdefault(source["key"], [])
                if source["property"] not in known:
                    known.append(source["property"])
    return entries


def _keys(deploy: Path) -> dict[str, list[str]]:
    """Keys of our Secrets by name: the sealed ones have them written out."""
    sealed = [
        manifest
        for file in sorted((deploy / "components/secrets-sealed").glob("*.yaml"))
        for manifest in read(file.read_text())
        if manifest.get("kind") == "SealedSecret"
    ]
    return {each["metadata"]["name"]: list(each["spec"]["encryptedData"]) for each in sealed}


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
