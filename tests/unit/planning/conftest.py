from collections.abc import Callable

import pytest

from rlaif.contracts.planning.briefing import Briefing
from rlaif.trainer.play.planner_port import PlannerQuestion

Ask = Callable[..., PlannerQuestion]


@pytest.fixture
def question() -> Ask:
    """Makes questions; each situation is its own unless it is given."""
    made = 0

    def make(**changes: object) -> PlannerQuestion:
        nonlocal made
        made += 1
        fields: dict[str, object] = {
            "env": 0,
            "mode": "dialog",
            "kind": "plan",
            "situation": f"situation {made}",
            "evidence": Briefing(game="seedling-vale", room="0/119", at=(4, 5)),
        }
        return PlannerQuestion(**(fields | changes))  # type: ignore[arg-type]  # by name

    return make
