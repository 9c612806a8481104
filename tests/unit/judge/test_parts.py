from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.guides.guides import Guide, guide_of
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.prompts import judge_config_id
from rlaif.judge.parts import JudgeParts, build_parts
from rlaif.judge.rubric.judges import JUDGES, as_json, briefed, with_models
from rlaif.judge.settings import JudgeSettings, VoteSettings
from rlaif.llm.ports import Answer, CompletionRequest, RefusedError
from rlaif.llm.settings import DialectSettings
from rlaif.service.cli import StartupError
from rlaif.service.metrics import ServiceMetrics


def _parts(**fields: Any) -> JudgeParts:
    settings = JudgeSettings.model_validate(fields)
    return build_parts(settings, lambda judges: JudgeMetrics(ServiceMetrics("judge"), judges))


async def _reported(parts: JudgeParts, judge: str) -> str:
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
    reported = await _reported(_parts(), judge.name)
    assert f"JUDGE_{judge.name.upper()}_MODEL ({judge.model})" in reported
    assert f"LLM_{judge.name.upper()}_URL or LLM_BASE_URL" in reported
    assert all(criterion.name in reported for criterion in judge.criteria)


async def test_a_refused_route_of_a_panel_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "panel.json").write_text(as_json(JUDGES))
    reported = await _reported(_parts(panel_file=tmp_path / "panel.json"), "puzzle")
    assert "the model qwen25-32b of panel.json (JUDGE_PANEL_FILE)" in reported
    assert "LLM_PUZZLE_URL or LLM_BASE_URL" in reported


@pytest.mark.parametrize("setting", ["llm_base_url", "llm_state_url"])
def test_a_url_that_is_none_is_reported_at_the_start(setting: str) -> None:
    with pytest.raises(StartupError, match="LLM_BASE_URL"):
        _parts(**{setting: "http://[::1"})


@pytest.mark.parametrize("key", ["secret\n", "geheim-ü", "two\r\nlines"])
def test_a_key_that_no_header_holds_is_reported_at_the_start_and_not_repeated(key: str) -> None:
    with pytest.raises(StartupError, match="LLM_API_KEY") as raised:
        _parts(llm_api_key=key)
    assert key not in str(raised.value)


BASE: dict[str, Any] = {"weights": RUBRIC_WEIGHTS, "voting": VoteSettings()}


def test_the_judges_cover_the_rubric_once_each() -> None:
    names = [criterion.name for judge in JUDGES for criterion in judge.criteria]
    assert sorted(names) == sorted(RUBRIC_WEIGHTS)


@pytest.mark.parametrize(
    "change",
    [
        {"voting": VoteSettings(votes=5)},
        {"voting": VoteSettings(temperature=0.0)},
        {"voting": VoteSettings(seed=1)},
        {"weights": RUBRIC_WEIGHTS | {"dialog": 0.3}},
        {"voting": VoteSettings(thinking_tokens=1024)},
        {"dialect": DialectSettings(schema_mode="json_object")},
        {"dialect": DialectSettings(chat_template_kwargs={"enable_thinking": False})},
    ],
)
def test_any_change_of_the_voting_is_another_configuration(change: dict[str, Any]) -> None:
    assert judge_config_id(JUDGES, **BASE) != judge_config_id(JUDGES, **(BASE | change))


def test_another_model_or_anchor_is_another_configuration() -> None:
    base = judge_config_id(JUDGES, **BASE)
    assert judge_config_id(JUDGES, **BASE) == base
    assert judge_config_id(with_models(JUDGES, {"state": "qwen3-8b"}), **BASE) != base
    first = JUDGES[0].criteria[0]
    reworded = replace(first, anchors=("a", "b", "c"))
    changed = (replace(JUDGES[0], criteria=(reworded, *JUDGES[0].criteria[1:])), *JUDGES[1:])
    assert judge_config_id(changed, **BASE) != base


def test_another_guide_of_a_game_is_another_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    base = judge_config_id(JUDGES, **BASE)

    def reworded_guide(game: str | None) -> Guide:
        guide = guide_of(game)
        return replace(guide, text=f"{guide.text} Mind the bees.")

    briefed.cache_clear()
    monkeypatch.setattr("rlaif.judge.rubric.judges.guide_of", reworded_guide)
    changed = judge_config_id(JUDGES, **BASE)
    monkeypatch.undo()
    briefed.cache_clear()
    assert changed != base
    assert judge_config_id(JUDGES, **BASE) == base


async def test_all_processes_with_judges_read_the_guides_of_the_configured_worlds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlaif.guides.guides._worlds", tmp_path / "none")
    (tmp_path / "world-7-30").mkdir()
    page = "# A world\n\n## Objectives\n\n1. Leave the house.\n"
    (tmp_path / "world-7-30" / "guide.md").write_text(page)
    await _parts(worlds_dir=tmp_path).close()
    assert guide_of("world-7-30").objectives == ("Leave the house.",)
