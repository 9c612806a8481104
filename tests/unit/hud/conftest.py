import pytest

from rlaif.hud.read_model.projections import HudState
from rlaif.testing.data.events import NOON


@pytest.fixture
def state() -> HudState:
    return HudState(epoch="e", started_at=NOON)
