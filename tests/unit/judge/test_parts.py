from pathlib import Path
from typing import Any

import pytest

from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import JudgeParts, build_parts
from rlaif.judge.rubric.judges import JUDGES, as_json
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.ports import Answer, CompletionRequest, RefusedError
from rlaif.service.cli import StartupError
from rlaif.service.metrics import ServiceMetrics


def _parts(**fields: Any) -> JudgeParts:
    settings = JudgeSettings.model_validate(fields)
    return build_parts(settings, lambda judges: JudgeMetrics(ServiceMetrics("judge"), judges))


async def _told(parts: JudgeParts, judge: str) -> str:
    """The message on a judge's route whose server does not have the model."""
    prober = parts.probers()[judge]

    class Gateway:
        async def complete(self, request: CompletionRequest) -> Answer:
            raise RefusedError(f"no model {request.model}", 400)

    prober._model = Gateway()
    await prober.probe("text", since=0.0)
    await parts.close()
    return prober.check() or ""


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
async def test_a_refused_route_names_the_settings_of_its_own_judge(judge: Any) -> None:
    told = await _told(_parts(), judge.name)
    assert f"JUDGE_{judge.name.upper()}_MODEL ({judge.model})" in told
    assert f"LLM_{judge.name.upper()}_URL or LLM_BASE_URL" in told
    assert all(criterion.name in told for criterion in judge.criteria)


async def test_a_refused_route_of_a_panel_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "panel.json").write_text(as_json(JUDGES))
    told = await _told(_parts(panel_file=tmp_path / "panel.json"), "puzzle")
    assert "the model qwen25-32b of panel.json (JUDGE_PANEL_FILE)" in told
    assert "LLM_PUZZLE_URL or LLM_BASE_URL" in told


@pytest.mark.parametrize("setting", ["llm_base_url", "llm_state_url"])
def test_a_url_that_is_none_is_told_at_the_start(setting: str) -> None:
    with pytest.raises(StartupError, match="LLM_BASE_URL"):
        _parts(**{setting: "http://[::1"})


@pytest.mark.parametrize("key", ["secret\n", "geheim-ü", "two\r\nlines"])
def test_a_key_that_no_header_holds_is_told_at_the_start_and_not_repeated(key: str) -> None:
    with pytest.raises(StartupError, match="LLM_API_KEY") as raised:
        _parts(llm_api_key=key)
    assert key not in str(raised.value)
