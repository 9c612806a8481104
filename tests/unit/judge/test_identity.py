from dataclasses import replace
from typing import Any

import pytest

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.guides.guides import Guide, guide_of
from rlaif.judge.panel.prompts import judge_config_id
from rlaif.judge.rubric.judges import JUDGES, briefed, with_models
from rlaif.judge.settings import VoteSettings
from rlaif.llm.settings import DialectSettings

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
        {"voting": VoteSettings(adaptive=True)},
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
