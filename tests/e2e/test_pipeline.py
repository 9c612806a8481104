"""The whole pipeline on the built-in cartridge, from power-on to a loaded reward model."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.hud.read_model.health import REQUIRED
from rlaif.testing.page.figures import impossible
from rlaif.testing.pipeline import CLOSED, Pipeline
from rlaif.testing.promql import expressions
from rlaif.testing.waiting import eventually

FIRST_LOOP_SECONDS = 900
"""Some three hundred labels, while the gate refuses what fewer gave."""
CAPTURES_PER_MINUTE = 240
"""Instead of 75: the pipeline is the same."""
READY = re.compile("✓ reward-model")
MONITORING = Path(__file__).parents[2] / "deploy/monitoring"
OF_OTHERS = ("up", "nats_", "ray_", "kube", "certmanager_")
"""Prefixes of metrics of NATS, Ray and the cluster."""


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipeline]:
    monkeypatch.setenv("TRAINER_CAPTURES_PER_MINUTE", str(CAPTURES_PER_MINUTE))
    started = Pipeline(tmp_path)
    yield started
    started.end()


def traces(pipeline: Pipeline, service: str, message: str) -> dict[str, str]:
    """Segment → trace of the lines of a service's log that say `message`."""
    lines = (pipeline.data_dir / "logs" / f"{service}.log").read_text().splitlines()
    told = [json.loads(line) for line in lines if f'"message": "{message}"' in line]
    return {line["segment_id"]: line["trace_id"] for line in told}


def not_measured(pipeline: Pipeline) -> list[str]:
    """What rules and dashboards ask for and the services do not expose."""
    names, series = pipeline.metrics(*REQUIRED, "hud")
    asked = [each for expression in expressions(MONITORING) for each in expression.asked()]
    ours = [each for each in asked if not each.pattern.startswith(OF_OTHERS)]
    assert len(ours) > 100
    return [
        f"{each.where}: {each.pattern} {dict(each.wanted)}"
        for each in ours
        if not any(each.is_named(name) for name in names)
        # Labelled by what happened, a series may have no value yet; a check always has one.
        or ("check" in each.wanted and not each.is_in(series))
    ]


def shows_a_load(pipeline: Pipeline) -> bool:
    """Whether the page says at which step a reward model was loaded."""
    return bool(steps_of_loads(pipeline.get("hud", "state").json()))


def steps_of_loads(state: Any) -> list[int]:
    """Every step at which the run loaded a model, the first one first."""
    rows = state["reward_models"]["published"]
    return sorted(step for row in rows for step in row["loaded_at_steps"])


def past_of(pipeline: Pipeline) -> Any:
    """What is kept of the run, piece by piece."""
    return pipeline.get("hud", "history?points=1000").json()


def shows_history(pipeline: Pipeline, before: Any, past: Any) -> bool:
    """Whether a HUD that was started again shows what it showed before, and all that is kept."""
    try:
        state, kept = pipeline.get("hud", "state").json(), past_of(pipeline)
    except httpx.HTTPError:
        return False
    if any(past[name] != kept[name][: len(past[name])] for name in ("points", "loads", "starts")):
        return False
    then = steps_of_loads(before)
    return state["epoch"] != before["epoch"] and then == steps_of_loads(state)[: len(then)]


@pytest.mark.timeout(1500)
def test_the_loop_closes_is_watched_loses_nothing_and_stops(pipeline: Pipeline):
    pipeline.wait_for(READY, seconds=240)
    closed = pipeline.wait_for(CLOSED, seconds=FIRST_LOOP_SECONDS)
    assert float(closed["accuracy"]) > 0.5
    version = closed["version"]
    family = pipeline.family()  # with the training process and Ray's
    assert len(family) > 10

    manifest = pipeline.get("reward-model", f"reward-models/{version}").json()
    assert manifest["metrics"]["heldout_episodes"] >= 2
    run = pipeline.get("trainer", "runs/current").json()
    assert run["reward_model_loaded_at_step"] <= run["env_steps"]
    assert pipeline.get("hud", "state").json()["run"]["run_id"] == run["run_id"]
    assert pipeline.get("hud", "state").json()["screen"] is not None
    # The run's history is reported every three seconds.
    asyncio.run(eventually(lambda: shows_a_load(pipeline), "the first load"))
    page = pipeline.get("hud", "state").json()
    assert impossible(page) == []
    assert page["issues"] == []
    assert {each["name"]: each["state"] for each in page["services"]} == dict.fromkeys(
        REQUIRED, "ready"
    )
    assert steps_of_loads(page)[0] == int(closed["step"].replace(",", ""))

    assert not_measured(pipeline) == []

    past = past_of(pipeline)
    assert past["points"][0]["since_step"] == 0
    assert [load["version"] for load in past["loads"]][:1] == [int(version)]
    assert sum(point["episodes"] for point in past["points"]) > 0
    pipeline.kill("hud")
    asyncio.run(eventually(lambda: shows_history(pipeline, page, past), "the page's history"))

    findings = pipeline.settle_and_check()
    assert findings.wrong == []
    assert findings.captured == findings.exported == findings.scored > 20
    loop = pipeline.get("hud", "state").json()["loop"]
    shown = [loop[name] for name in ("captured", "exported", "scored")]
    assert shown == [findings.captured, findings.exported, findings.scored]
    exported, scored = traces(pipeline, "exporter", "exported"), traces(pipeline, "judge", "scored")
    assert len(set(exported.values())) == findings.exported
    assert scored == exported

    assert pipeline.interrupt() == 0
    assert pipeline.leftovers(family) == []
