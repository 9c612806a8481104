"""Good answers by situation, so that equal questions are asked once; bounded in number and age."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from rlaif.contracts.plans import Mode, Plan, Suggestion
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion

Key = tuple[Mode, Kind, str]
Good = Plan | Suggestion


def key_of(question: PlannerQuestion) -> Key:
    """What questions with exchangeable answers have in common."""
    return question.mode, question.kind, question.situation


@dataclass
class AnswerCache:
    """The newest good answers; time is passed in, in seconds of any steady clock.

    Attributes:
        most: Answers that are kept; 0 keeps none.
        seconds: How long each is.
    """

    most: int
    seconds: float

    def __post_init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[float, Good]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keys(self) -> Iterable[Key]:
        """Of what is kept, too old or not."""
        return self._kept

    def get(self, key: Key, now: float) -> Good | None:
        """The answer to an equal question, unless it is too old; using it keeps it no longer."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        until, answer = kept
        if now >= until:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return answer

    def keep(self, key: Key, answer: Good, now: float) -> None:
        """Remember a good answer; the one that was used least lately makes room."""
        self._kept[key] = (now + self.seconds, answer)
        self._kept.move_to_end(key)
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)
