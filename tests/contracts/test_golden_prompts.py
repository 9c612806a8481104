"""What a language model reads of a segment and of a game, byte for byte.

Caches of servers, the judge's own answer cache, `evidence_sha256` and the ids of configurations
depend on these bytes. A change that is meant is a new `EVIDENCE_VERSION` or `PROMPT_VERSION`:
`python tests/contracts/test_golden_prompts.py` then writes the golden file again.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.guides.guides import guided_games
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.ram_verdicts import ram_levels, ram_verdicts
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.pairs.pair_judge import comparison_messages, comparison_schema
from rlaif.judge.panel.prompts import VARIANTS, Message, judge_config_id, messages, system_prompt
from rlaif.judge.panel.schema import answer_schema
from rlaif.judge.rubric.judges import JUDGES, briefed
from rlaif.judge.rubric.votes import COMPUTED
from rlaif.judge.settings import VoteSettings
from rlaif.judge.trust.canaries import canaries as known_segments
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.chat import ChatRequest
from rlaif.mock_llm.settings import Behaviour
from rlaif.testing.data.judging.segments import described_state, state_records

GOLDEN = Path(__file__).parent / "golden" / "evidence" / "prompts.json"


def _dialog(step: int, *, is_open: bool) -> dict[str, Any]:
    flags = {"dialog": is_open, "menu": step == 2, "control": not is_open}
    return described_state(0, text_id=7 if is_open else None, flags=flags)


def _solving(step: int) -> dict[str, Any]:
    room = {"group": 4, "room": 9, "dungeon": 1, "area": "underground", "event_done": step > 3}
    parts = {"buttons_pressed": min(step, 2), "torches_lit": 2 if step < 4 else 1}
    return described_state(step, room=room, puzzle=parts, keys=int(step > 4), rupees=10 + step)


def _busy(step: int) -> dict[str, Any]:
    return described_state(
        step,
        room={"group": step % 7, "room": 255 - step, "area": "a place of no vocabulary"},
        player={"x": (7 * step) % 160, "y": 3 * step % 128, "hearts": 13.25 - step / 8},
        items=["sword", "feather", "<|im_end|>"][: step % 4],
        season="winter",
        entities=[{"kind": "enemy"}] * (step % 3) + [{"kind": "item"}],
        enemies_defeated=step // 5,
        rooms_visited=4 + step,
        essences=[1, 2],
    )


SEGMENTS: dict[str, list[dict[str, Any]]] = {
    "a walk": [described_state(step) for step in range(75)],
    "standing still": [described_state(0)] * 20,
    "nothing known": [{}, {}],
    "odd values": [
        {"room": 3, "player": {"x": True, "y": "up", "hearts": float("nan")}, "items": "sword"},
        {"rupees": 2.5, "player": {"hearts": 2}, "flags": {"dialog": 1}, "puzzle": []},
    ],
    "a text read": [_dialog(step, is_open=3 <= step < 9) for step in range(30)],
    "stuck in a text": [_dialog(step, is_open=True) for step in range(30)],
    "a puzzle solved": [_solving(step) for step in range(8)],
    "a busy way": [_busy(step) for step in range(40)],
    "a death": [described_state(0), described_state(3, deaths=1, player={"x": 9, "y": 9})],
}


def _texts(prompt: tuple[Message, ...]) -> list[str]:
    return [message["content"] for message in prompt[1:]]


def _answers(prompt: tuple[Message, ...], schema: dict[str, Any]) -> list[str]:
    """Answers of the mock LLM, without and with noise."""
    asked = {"type": "json_schema", "json_schema": {"schema": schema}}
    return [
        answer(
            ChatRequest(
                model="any",
                messages=list(prompt),
                response_format=asked,
                seed=1,
                temperature=temperature,
                max_tokens=1000,
            ),
            Behaviour(),
        )
        for temperature in (0.0, 1.0)
    ]


def made() -> dict[str, Any]:
    """All that the golden file holds, as the code makes it now."""
    evidence = {
        name: summarise(described(state_records(states))) for name, states in SEGMENTS.items()
    }
    walk = evidence["a walk"]
    evidence["a walk in the vale"] = walk.model_copy(
        update={"end": walk.end.model_copy(update={"game": "seedling-vale"})}
    )
    segments = {
        name: {
            "evidence_sha256": read.sha256(),
            "ram": [ram_levels(read), ram_verdicts(read, COMPUTED)],
            "texts": [
                _texts(messages(JUDGES[0], read, None, variant=variant))
                for variant in range(VARIANTS)
            ],
            "answers": {
                judge.name: _answers(messages(judge, read, None, variant=1), answer_schema(judge))
                for judge in (briefed(judge, read.end.game) for judge in JUDGES)
            },
        }
        for name, read in evidence.items()
    }
    comparisons = [
        (_texts(pair), _answers(pair, comparison_schema()))
        for first, second in (("a walk", "a busy way"), ("nothing known", "a text read"))
        for pair in [comparison_messages(JUDGES[1], evidence[first], evidence[second])]
    ]
    canaries = {
        canary.name: _texts(messages(JUDGES[0], canary.evidence, None, variant=0))
        for canary in known_segments()
    }
    frozen = {
        str(game): {
            judge.name: sha256(system_prompt(briefed(judge, game)).encode()).hexdigest()
            for judge in JUDGES
        }
        for game in (None, *guided_games())
    }
    config = judge_config_id(JUDGES, weights=RUBRIC_WEIGHTS, voting=VoteSettings())
    found = {
        "judge_config": config,
        "frozen": frozen,
        "segments": segments,
        "canaries": canaries,
        "comparisons": comparisons,
    }
    return json.loads(json.dumps(found))  # tuples as lists


@pytest.mark.parametrize("part", ["judge_config", "frozen", "segments", "canaries", "comparisons"])
def test_prompts_and_answers_of_the_mock_llm_stay_the_same_byte_for_byte(part: str) -> None:
    assert made()[part] == json.loads(GOLDEN.read_text())[part]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(made(), indent=1) + "\n")
