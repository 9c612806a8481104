"""Answers that ended because no token was left: what to say of one, and whether to ask for more.

A cut-off answer has one of two causes. The model wanted to write more, thoughts most of all: twice
the tokens may be enough. Or it runs away, in white space that a grammar allows or in one word again
and again: more tokens only make that dearer.
"""

from rlaif.judge.panel.schema import InvalidAnswerError
from rlaif.llm.ports import Answer
from rlaif.llm.reply import CUT_OFF

_TAIL = 64
"""Characters at the end that show whether an answer runs away."""
_LONGEST_REPEAT = 8

_WANTS_MORE = (
    "cut off by its length: raise JUDGE_MAX_TOKENS; for a model that thinks set "
    'JUDGE_THINKING_TOKENS, or JUDGE_CHAT_TEMPLATE_KWARGS={"enable_thinking": false}'
)
_RUNS_AWAY = (
    "cut off by its length, running away at its end: keep the server's grammar from free white "
    "space (vLLM: --structured-outputs-config.disable_any_whitespace=true), or change "
    "JUDGE_SCHEMA_MODE"
)


class CutOffAnswerError(InvalidAnswerError):
    """The answer does not fit the schema because it was ended for its length."""

    def __init__(self, text: str) -> None:
        self.runs_away = runs_away(text)
        super().__init__(_RUNS_AWAY if self.runs_away else _WANTS_MORE)


def told_apart(error: InvalidAnswerError, answer: Answer) -> InvalidAnswerError:
    """The same error, or that the answer was cut off: that explains whatever does not fit."""
    return CutOffAnswerError(answer.text) if answer.finish_reason == CUT_OFF else error


def runs_away(text: str) -> bool:
    """Whether a text ends in nothing but white space, or in a few characters again and again."""
    tail = text[-_TAIL:]
    if len(tail) < _TAIL:
        return False
    if not tail.strip():
        return True
    return any(
        tail == (tail[-period:] * _TAIL)[-_TAIL:] for period in range(1, _LONGEST_REPEAT + 1)
    )
