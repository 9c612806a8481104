"""A node that is drained for an upgrade must get rid of its pods."""

from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, named, pods, selects

_SCALED = ("Deployment", "StatefulSet")


def blocked_drains(manifests: list[Manifest]) -> Iterator[str]:
    """Budgets that also select pods of a kind without a scale, such as a Job."""
    for budget in manifests:
        if budget.get("kind") != "PodDisruptionBudget":
            continue
        if isinstance(budget["spec"].get("minAvailable"), int):
            continue  # counted without asking anybody for a scale
        for pod in pods(manifests):
            if pod.owner["kind"] not in _SCALED and selects(budget["spec"]["selector"], pod.labels):
                owner = named(pod.owner)
                yield f"{named(budget)}: selects pods of {owner}, and then allows no eviction"
