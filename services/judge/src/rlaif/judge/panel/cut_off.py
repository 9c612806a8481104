"""Answers that ended because no token was left: what to say of one, and whether to ask for more.

A cut-off answer has one of two causes. The model wanted to write more, thoughts most of all: twice
the tokens may be enough. Or it runs away, in white space that a grammar allows or in one word again
and again: more tokens only make that dearer.
"""

from collections.abc import Callable

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

    fault = CUT_OFF

    def __init__(self, text: str) -> None:
        self.runs_away = runs_away(text)
        super().__init__(_RUNS_AWAY if self.runs_away else _WANTS_MORE)


def checked_by(read: Callable[[str], object], answer: Answer) -> None:
    """See that `read` can read an answer.

    Raises:
        InvalidAnswerError: It cannot; that it was cut off explains whatever does not fit.
    """
    try:
        read(answer.text)
    except InvalidAnswerError as error:
        why = CutOffAnswerError(answer.text) if answer.finish_reason == CUT_OFF else error
        why.answer = answer
        raise why from None


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
