import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.contracts.judging.evidence import (
    Changes,
    Control,
    Dialog,
    Evidence,
    Moment,
    Movement,
    Puzzle,
    Rooms,
    Span,
)
from rlaif.judge.evidence.described import MAX_SAID_CHARACTERS
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel import prompts
from rlaif.judge.panel.schema import answer_schema
from rlaif.judge.parts import EVIDENCE_TOKENS, build_parts, check_prompt_lengths, judges_of
from rlaif.judge.routes import judge_urls
from rlaif.judge.rubric.judges import JUDGES, PanelFileError, as_json, briefed, read_panel
from rlaif.judge.settings import JudgeSettings
from rlaif.service.cli import StartupError
from rlaif.service.metrics import ServiceMetrics


def _metrics(judges: Any) -> JudgeMetrics:
    return JudgeMetrics(ServiceMetrics("judge"), judges)


@pytest.fixture
def panel() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(as_json(JUDGES))
    return made


def _write(folder: Path, panel: Any) -> Path:
    path = folder / "panel.json"
    path.write_text(panel if isinstance(panel, str) else json.dumps(panel))
    return path


def test_the_built_in_judges_survive_a_round_through_a_file(
    tmp_path: Path, panel: dict[str, Any]
) -> None:
    assert read_panel(_write(tmp_path, panel)) == JUDGES


def test_who_is_asked_for_the_quest_is_data(tmp_path: Path, panel: dict[str, Any]) -> None:
    state = panel["judges"][0]
    assert state["asks_quest"] is True
    state["asks_quest"] = False
    plain = read_panel(_write(tmp_path, panel))
    assert "progress" in answer_schema(briefed(plain[0], "seedling-vale"))["properties"]
    state |= {"asks_quest": True, "guide": "1. Find the key.\n2. Leave.", "objectives": 2}
    own = read_panel(_write(tmp_path, panel))[0]
    assert answer_schema(briefed(own, None))["properties"]["objective_end"]["enum"][:-1] == [1, 2]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda panel: "not json",
        lambda panel: {"judges": []},
        lambda panel: {"judges": panel["judges"][:2]},
        lambda panel: {"judges": panel["judges"] * 2},
        lambda panel: {"judges": [{**panel["judges"][0], "mood": "good"}, *panel["judges"][1:]]},
        lambda panel: {"judges": [{**panel["judges"][0], "route": "x"}, *panel["judges"][1:]]},
        lambda panel: {
            "judges": [*panel["judges"][:2], {**panel["judges"][2], "asks_quest": True}]
        },
        lambda panel: {"judges": [{**panel["judges"][0], "objectives": -1}, *panel["judges"][1:]]},
        lambda panel: "x" * 300_000,
    ],
)
def test_a_file_that_is_no_panel_is_refused(
    tmp_path: Path, panel: dict[str, Any], spoil: Any
) -> None:
    path = _write(tmp_path, spoil(panel))
    with pytest.raises(PanelFileError):
        read_panel(path)
    with pytest.raises(StartupError, match="JUDGE_PANEL_FILE"):
        judges_of(JudgeSettings(panel_file=path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PanelFileError, match="nowhere"):
        read_panel(tmp_path / "nowhere.json")


def test_a_prompt_that_does_not_fit_its_model_is_refused_at_the_start() -> None:
    check_prompt_lengths(JUDGES, 256)
    with pytest.raises(StartupError, match="judge state needs about"):
        check_prompt_lengths(JUDGES, 40_000)
    # The guide of a game is part of what must fit.
    small = (replace(JUDGES[0], context_tokens=3000),)
    with pytest.raises(StartupError, match="judge state needs about"):
        check_prompt_lengths(small, 256)


def test_the_busiest_segment_has_room_in_every_prompt() -> None:
    items = tuple(sorted(NAMED_ITEMS))
    moment = Moment(
        game="oracle-of-seasons",
        place="Gnarled Root Dungeon",
        where="north-west part, beside the north exit",
        room="4/255",
        area="underground",
        dungeon=8,
        at=(239, 175),
        hearts=13.25,
        max_hearts=14.0,
        rupees=999,
        keys=9,
        boss_key=True,
        essences=8,
        season="summer",
        items=items[:40],
    )
    said = ("x" * MAX_SAID_CHARACTERS,) * 4
    busiest = Evidence(
        segment=Span(seconds=125.5, steps=75, inputs=dict.fromkeys(("A", "UP", "DOWN", "B"), 0.25)),
        start=moment,
        end=moment,
        rooms=Rooms(
            in_order=("4/255",) * 10,
            places=("Gnarled Root Dungeon",) * 10,
            changes=10,
            different=10,
            first_visits=10,
        ),
        movement=Movement(pixels=9999, idle_share=0.55, path=((239, 175),) * 8),
        changes=Changes(rupees=-999, items_gained=items[:6], items_lost=items[6:12]),
        dialog=Dialog(steps=75, opened=10, closed=10, texts=10, said=said),
        control=Control(steps_without=75, menu_steps=75),
        puzzle=Puzzle(parts=dict.fromkeys(("buttons_pressed", "torches_lit"), (10, 10, 10))),
    )
    _, user = prompts.messages(JUDGES[0], busiest, None, variant=0)
    assert prompts.tokens([user]) <= EVIDENCE_TOKENS


def test_gateway_direct_and_own_urls() -> None:
    gateway = judge_urls(JudgeSettings(llm_base_url="http://gw/"), JUDGES)
    assert gateway["vision"] == ("http://gw/vision", "http://gw/")
    direct = judge_urls(JudgeSettings(llm_use_direct=True, llm_namespace="ns"), JUDGES)
    assert direct["state"][0] == "https://qwen25-7b-kserve-workload-svc.ns.svc.cluster.local:8000"
    own = judge_urls(JudgeSettings(llm_use_direct=True, llm_state_url="http://gpu:8000/v1"), JUDGES)
    every = {f"llm_{judge.name}_url": "http://gateway/model" for judge in JUDGES}
    with pytest.raises(StartupError, match="LLM_USE_DIRECT has no effect"):
        judge_urls(JudgeSettings.model_validate({"llm_use_direct": True, **every}), JUDGES)
    assert own["state"] == ("http://gpu:8000/v1", None)
    assert own["puzzle"][0].startswith("https://qwen25-32b-kserve-workload-svc.zelda-rl.")


def test_what_cannot_be_computed_is_refused_and_empty_asks_everything() -> None:
    assert JudgeSettings(computed="").computed_kinds() == frozenset()
    assert JudgeSettings(computed="novelty, absence").computed_kinds() == {"novelty", "absence"}
    with pytest.raises(ValueError, match="fun"):
        JudgeSettings(computed="fun")


async def test_a_missing_ca_file_stops_the_start_with_the_name_of_its_setting() -> None:
    with pytest.raises(StartupError, match="LLM_CA_FILE"):
        build_parts(JudgeSettings(llm_ca_file=Path("/nowhere/ca.pem")), _metrics)


async def test_another_way_to_compute_or_to_vote_is_another_configuration() -> None:
    configs = set()
    for changes in ({}, {"computed": ""}, {"votes": 5}, {"audit_share": 0.5}):
        bench = build_parts(JudgeSettings.model_validate(changes), _metrics)
        configs.add(bench.rules.judge_config)
        await bench.close()
    # Audits do not enter a score.
    assert len(configs) == 3
