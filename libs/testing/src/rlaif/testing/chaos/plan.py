"""The sequence of injected faults, a function of the seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

SERVERS = ("nats", "s3", "mock-llm")
PROCESSES = (*SERVERS, "hud", "exporter", "judge", "judge-2", "reward-model", "trainer")
PARENTS = ("exporter", "reward-model")
"""Services with child processes: replays, and the training of a reward model."""

DISTURBANCES = ("latency", "black hole", "reset")
LLM_FAULTS = ("429:0.5", "500:1", "timeout:0.3", "garbage:0.3", "cut:0.3", "drip:0.2")
DAMAGES = ("flip", "cut", "delete")
OBJECTS = ("capture", "keyframe", "segment")
GARBAGE = ("junk", "duplicate")

_WEIGHTS = {"kill": 9, "stop": 4, "kill child": 2, "link": 6, "llm": 3, "object": 3, "garbage": 3}
_SECONDS = {"stop": (2.0, 25.0), "link": (2.0, 15.0), "llm": (3.0, 15.0)}


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        kind: Such as `kill` or `link`.
        target: Target, which has at most one fault at a time.
        how: The variant, such as `black hole` or `429:0.5`; empty if there is only one.
        seconds: Duration; 0 for an instantaneous fault.
    """

    kind: str
    target: str
    how: str = ""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Label for recovery times: kind, variant and target, if needed."""
        if self.kind in {"object", "garbage"}:
            return f"{self.kind} {self.how}"
        return " ".join(filter(None, (self.kind, self.how, self.target)))


def fault_plan(seed: int) -> Iterator[Fault]:
    """Yield faults endlessly; equal seeds give equal faults."""
    rng = Random(seed)
    while True:
        yield _draw(rng)


def _draw(rng: Random) -> Fault:
    (kind,) = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
    seconds = round(rng.uniform(*_SECONDS.get(kind, (0.0, 0.0))), 1)
    if kind == "link":
        return Fault(kind, rng.choice(SERVERS), rng.choice(DISTURBANCES), seconds)
    if kind == "llm":
        return Fault(kind, "mock-llm", rng.choice(LLM_FAULTS), seconds)
    if kind == "object":
        return Fault(kind, rng.choice(OBJECTS), rng.choice(DAMAGES))
    if kind == "garbage":
        return Fault(kind, "events", rng.choice(GARBAGE))
    return Fault(kind, rng.choice(PARENTS if kind == "kill child" else PROCESSES), "", seconds)
