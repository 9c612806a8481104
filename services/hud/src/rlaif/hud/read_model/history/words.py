"""The page's first sentence, in parts: each number names the field that it is.

Words and numbers come from one place, so that they are the same on the page, by REST and for a
screen reader.
"""

from rlaif.hud.read_model.history.bootstrap import LEAST
from rlaif.hud.read_model.history.headline import Trend
from rlaif.hud.read_model.views import ChampionView, SentencePart

_MINUS = "\N{MINUS SIGN}"
_ARROW = "\N{RIGHTWARDS ARROW}"

Parts = list[SentencePart]


def sentence(trend: Trend | None, champion: ChampionView | None, *, known: bool) -> Parts:
    """The sentence; `known`: whether the event streams are followed, so that none is none."""
    clauses = [_of_trend(trend), _of_judges(trend), _of_champion(champion, known=known)]
    parts: Parts = []
    for clause in filter(None, clauses):
        parts += [_said("; "), *clause] if parts else clause
    return [*parts, _said(".")]


def _of_trend(trend: Trend | None) -> Parts:
    if trend is None:
        return [_said("No episodes have been reported yet")]
    found = trend.milestones
    since = _since(trend)
    if found.after is None:
        if found.before is None:
            return [_said("No episode has come to its end yet")]
        return [_said("No episode that began since "), *since, _said(" has come to its end")]
    now = _number("milestones.after", f"{found.after:.2f}")
    if found.change is None or found.before is None:
        fewer = "after" if found.n_after <= found.n_before else "before"
        few = _number(f"milestones.n_{fewer}", str(min(found.n_after, found.n_before)))
        return [
            _said("Milestones an episode "),
            now,
            _said(" (n = "),
            _number("milestones.n_after", str(found.n_after)),
            _said("); too few episodes to compare since "),
            *since,
            _said(" ("),
            few,
            _said(" of "),
            _number("least", str(LEAST)),
            _said(" before it)" if fewer == "before" else ")"),
        ]
    return [
        _said("Milestones an episode "),
        _number("milestones.before", f"{found.before:.2f}"),
        _said(f" {_ARROW} "),
        now,
        _said(" since "),
        *since,
        _said(", no clear change (n = " if found.direction == 0 else " (n = "),
        _number("milestones.n_before", str(found.n_before)),
        _said(" and "),
        _number("milestones.n_after", str(found.n_after)),
        _said("; "),
        _number("confidence", "95 %"),
        _said(" interval of the change "),
        _number("milestones.low", signed(found.low)),
        _said(" to "),
        _number("milestones.high", signed(found.high)),
        _said(")"),
    ]


def _since(trend: Trend) -> Parts:
    if trend.since == "start":
        return [_said("its first episodes")]
    return [_number("since_version", f"v{trend.since_version}")]


def _of_judges(trend: Trend | None) -> Parts:
    if trend is None or trend.milestones.change is None:
        return []
    return [
        _said(
            {
                "agree": "judges agree",
                "disagree": "judges see the opposite",
                "see no difference": "judges see no difference",
                "see better play": "judges see better play",
                "see worse play": "judges see worse play",
                "unknown": "too few scores to say what the judges see",
            }[trend.judges]
        )
    ]


def _of_champion(champion: ChampionView | None, *, known: bool) -> Parts:
    if champion is None:
        return [_said("no reward model is live")] if known else []
    live = _number("live_version", f"v{champion.version}")
    return [live, _said(" is live, pinned" if champion.pinned else " is live")]


def signed(value: float | None) -> str:
    """With its sign, as the page writes numbers."""
    if value is None:
        return "\N{EM DASH}"
    text = f"{abs(value):.2f}"
    return f"{_MINUS}{text}" if value < 0 and float(text) else f"+{text}"


def _said(text: str) -> SentencePart:
    return SentencePart(text=text, figure=None)


def _number(field: str, text: str) -> SentencePart:
    return SentencePart(text=text, figure=f"headline.{field}")
