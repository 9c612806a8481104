"""Our own rules for manifests: what must never reach a cluster, whatever its schema says."""

from collections.abc import Callable, Iterator

from rlaif.validate.manifests import Manifest
from rlaif.validate.policy.containers import (
    fixed_users,
    missing_probes,
    missing_resources,
    open_containers,
)
from rlaif.validate.policy.disruption import blocked_drains
from rlaif.validate.policy.images import unpinned_images
from rlaif.validate.policy.network import open_namespaces
from rlaif.validate.policy.ray import (
    heads_without_api_server,
    idle_runners,
    object_stores_beside_shm,
)
from rlaif.validate.policy.rights import unneeded_tokens, wide_rights
from rlaif.validate.policy.secrets import literal_secrets

Rule = Callable[[list[Manifest]], Iterator[str]]

RULES: tuple[Rule, ...] = (
    literal_secrets,
    wide_rights,
    unneeded_tokens,
    unpinned_images,
    missing_probes,
    missing_resources,
    fixed_users,
    open_containers,
    open_namespaces,
    heads_without_api_server,
    object_stores_beside_shm,
    idle_runners,
    blocked_drains,
)


def findings(manifests: list[Manifest]) -> list[str]:
    """What breaks a rule: one line each, with the object's name."""
    return [line for rule in RULES for line in rule(manifests)]
