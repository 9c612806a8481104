"""The pipeline with a permanently broken judge route: the loop closes, captures continue."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from rlaif.testing.pipeline import CLOSED, Pipeline
from rlaif.testing.waiting import eventually

LOOP_SECONDS = 600


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("fault", "route", "words"),
    [
        ("blind:1", "vision", "fails on every picture"),
        ("qwen25-32b/400:1", "puzzle", "Invalid model name"),
    ],
    ids=["a model that fails on pictures", "a gateway that refuses one model name"],
)
def test_the_loop_closes_with_a_broken_route_and_the_route_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, route: str, words: str
):
    monkeypatch.setenv("MOCK_LLM_FAULT", fault)
    pipeline = Pipeline(tmp_path)
    try:
        pipeline.wait_for(_up("judge"), seconds=90)
        asyncio.run(
            eventually(lambda: words in _reported(pipeline, route), f"readyz says {words!r}")
        )
        pipeline.wait_for(CLOSED, seconds=LOOP_SECONDS)
        before = _captured(pipeline)
        pipeline.wait_for(CLOSED, seconds=LOOP_SECONDS)
        assert _captured(pipeline) > before
        findings = pipeline.settle_and_check()
        assert findings.wrong == []
        assert findings.dead == 0
    finally:
        pipeline.end()


def _up(service: str) -> re.Pattern[str]:
    return re.compile(f"✓ {service} ")


def _reported(pipeline: Pipeline, route: str) -> str:
    """What readyz says of a judge's route."""
    answer = httpx.get(f"{pipeline.where('judge')}/readyz", timeout=10).json()
    return str(answer["checks"][f"route:{route}"]["detail"])


def _captured(pipeline: Pipeline) -> float:
    """Segments captured since the trainer started."""
    text = httpx.get(f"{pipeline.where('trainer')}/metrics", timeout=10).text
    lines = text.splitlines()
    name = "rlaif_trainer_segments_captured"
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))
