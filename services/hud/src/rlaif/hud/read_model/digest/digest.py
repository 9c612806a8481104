"""At most five sentences about what happened, the most important one first. Nothing is made up.

Each function below tells one kind of happening, or None; `_TELLERS` has them in the order of their
importance. What a person or a program wrote is quoted, shortened at a word.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from rlaif.hud.read_model.digest.happenings import Happenings, Many, Played, Silence
from rlaif.hud.read_model.digest.views import DigestSentence, DigestView, Kind, LinkView
from rlaif.hud.read_model.history.words import signed

MOST = 5

_QUOTED = 160
"""Characters of somebody's words."""

_NAMED = 3
"""Milestones that are named."""

_ARROW = "\N{RIGHTWARDS ARROW}"

_MODELS = LinkView(href="/models", label="reward models")
_LLM = LinkView(href="/llm", label="language models")
_LETTERS = LinkView(href="/system", label="dead letters")
_LOG = LinkView(href="/system", label="event log")


@dataclass(frozen=True)
class Told:
    """A sentence before its age is known."""

    kind: Kind
    text: str
    at: datetime | None
    link: LinkView
    is_warning: bool = False


def digest(
    happened: Happenings,
    *,
    since: datetime,
    now: datetime,
    run_id: str | None = None,
    heard_since: datetime | None = None,
    known: bool = True,
) -> DigestView:
    """Tell it as of `now`; `known`: the event streams are followed, so that nothing is nothing."""
    told = chosen(happened) if known else [_UNKNOWN]
    sentences = tuple(
        DigestSentence(
            kind=each.kind,
            tone="warning" if each.is_warning else "info",
            text=each.text,
            at=each.at,
            age_seconds=None if each.at is None else max(0.0, (now - each.at).total_seconds()),
            link=each.link,
        )
        for each in told or [_NOTHING]
    )
    return DigestView(
        at=now,
        since=since,
        run_id=run_id,
        heard_since=heard_since if heard_since is not None and heard_since > since else None,
        text=" ".join(_with_age(each) for each in sentences),
        sentences=sentences,
    )


def chosen(happened: Happenings) -> list[Told]:
    """The sentences that count most; none when nothing happened."""
    return [told for told in (tell(happened) for tell in _TELLERS) if told is not None][:MOST]


_NOTHING = Told("nothing", "Nothing that the HUD keeps happened in the last hour.", None, _LOG)

_UNKNOWN = Told(
    "unknown", "The event streams are not followed yet: what happened is not known.", None, _LOG
)


def _taken_back(happened: Happenings) -> Told | None:
    back = happened.taken_back
    if back is None:
        return None
    left = "the live reward model" if back.left is None else f"reward model v{back.left}"
    what = {
        "watchdog": f"The watchdog took {left} out of use",
        "demotion": f"{left[0].upper()}{left[1:]} was taken out of use for what newer labels say",
    }[back.by]
    place = "none" if back.taken is None else f"v{back.taken}"
    version = back.left or back.taken
    return Told(
        "model taken back",
        f"{what}, with {place} in its place{_because(back.words)}.",
        back.at,
        _MODELS if version is None else _model(version),
        is_warning=True,
    )


def _silent(happened: Happenings) -> Told | None:
    silent = [each for each in happened.silences if each.until is None]
    if not silent:
        return None
    calls = _listed(f"{each.calls:,}" for each in silent)
    text = f"{_judges(silent)} fell silent: {calls} calls in a row went without an answer."
    return Told("judges silent", text, min(each.at for each in silent), _LLM, is_warning=True)


def _answer_again(happened: Happenings) -> Told | None:
    silent = {each.judge for each in happened.silences if each.until is None}
    over = [each for each in happened.silences if each.until and each.judge not in silent]
    if not over:
        return None
    calls = _listed(f"{each.calls:,}" for each in over)
    answers = "answers" if len({each.judge for each in over}) == 1 else "answer"
    text = f"{_judges(over)} {answers} again, after {calls} calls in a row without an answer."
    until = max(each.until for each in over if each.until is not None)
    return Told("judges answer again", text, until, _LLM)


def _judges(silences: Iterable[Silence]) -> str:
    names = list(dict.fromkeys(each.judge for each in silences))
    return f"The {_listed(names)} {'judge' if len(names) == 1 else 'judges'}"


def _reached(happened: Happenings) -> Told | None:
    if not happened.reached:
        return None
    newest = happened.reached[0]
    names = [each.milestone.replace("_", " ") for each in happened.reached]
    said = _listed(names if len(names) <= _NAMED else [*names[:_NAMED], "others"])
    one = len(names) == 1
    text = (
        f"{'A captured segment' if one else 'Captured segments'} reached {said} for the first time "
        f"that is known, {'' if one else 'the last '}at step {newest.env_step:,}."
    )
    address = f"/segments?milestone={quote(newest.milestone, safe='')}"
    link = LinkView(href=address, label="its segments")
    if newest.can_be_opened:
        link = _segment(newest.episode_id, newest.segment_id)
    return Told("milestone reached", text, newest.at, link)


def _play_changed(happened: Happenings) -> Told | None:
    played = happened.played
    return _play(played) if played is not None and played.milestones.direction else None


def _play_unchanged(happened: Happenings) -> Told | None:
    played = happened.played
    return None if played is None or played.milestones.direction else _play(played)


def _play(played: Played) -> Told:
    found, since = played.milestones, f"since step {played.from_step:,}"
    link = LinkView(href=f"/?from={played.from_step}&to={played.to_step}", label="curves")
    if found.change is not None and found.before is not None and found.after is not None:
        clear = "" if found.direction else ", no clear change"
        text = (
            f"Milestones an episode {found.before:.2f} {_ARROW} {found.after:.2f} {since}{clear} "
            f"(n = {found.n_before} and {found.n_after}; {_percent(played.confidence)} interval of "
            f"the change {signed(found.low)} to {signed(found.high)})."
        )
        return Told("play changed" if found.direction else "play", text, played.at, link)
    few = min(found.n_before, found.n_after)
    which = "from before" if found.n_before < found.n_after else "that began since then"
    text = (
        f"The run came to step {played.to_step:,}, and {_count(Many(played.episodes), 'episode')} "
        f"ended {since}; too few {which} are known to say whether play changed ({few} of "
        f"{played.least})."
    )
    return Told("play", text, played.at, link)


def _passed(happened: Happenings) -> Told | None:
    if happened.passed is None:
        return None
    model, many, load = happened.passed.newest, happened.passed.many, happened.paying
    since = ""
    if load is not None and load.version == model.version:
        since = f"has paid since step {load.env_step:,}"
    share = _percent(model.heldout_accuracy)
    name = f"v{model.version} (held-out accuracy {share} of {model.heldout_pairs:,} pairs)"
    if many.count == 1:
        text = f"Reward model {name} passed the gate{f' and {since}' if since else ''}."
    else:
        said = f"{_count(many, 'reward model')} passed the gate, the last {name}"
        text = f"{said}{f', which {since}' if since else ''}."
    return Told("model passed", text, model.at, _model(model.version))


def _paying(happened: Happenings) -> Told | None:
    load = happened.paying
    if load is None:
        return None
    if load.version is None:
        return Told(
            "model pays", f"From step {load.env_step:,} on no reward model paid.", load.at, _MODELS
        )
    if happened.passed is not None and load.version == happened.passed.newest.version:
        return None
    text = f"Reward model v{load.version} began to pay at step {load.env_step:,}."
    return Told("model pays", text, load.at, _model(load.version))


def _by_hand(happened: Happenings) -> Told | None:
    change = happened.by_hand
    if change is None:
        return None
    text = f"A person {change.did} reward model v{change.version}{_because(change.words)}."
    return Told("model chosen", text, change.at, _model(change.version))


def _given_up(happened: Happenings) -> Told | None:
    if happened.given_up is None:
        return None
    letter, many = happened.given_up.newest, happened.given_up.many
    were, last = ("was", "by") if many.count == 1 else ("were", "the last by")
    text = f"{_count(many, 'event')} {were} given up, {last} {letter.consumer}: {letter.reason}."
    return Told("events given up", text, letter.at, _LETTERS, is_warning=True)


def _begun(happened: Happenings) -> Told | None:
    if happened.begun is None:
        return None
    start, many = happened.begun.newest, happened.begun.many
    if start.attempt == 0:
        text = f"Run {start.run_id} began at step {start.env_step:,}."
        return Told("run begun", text, start.at, _LOG)
    often = "" if many.count == 1 else f", the last of {many.count:,} starts"
    text = f"Run {start.run_id} was started again and went on from step {start.env_step:,}{often}."
    return Told("run begun", text, start.at, _LOG)


def _refused(happened: Happenings) -> Told | None:
    if happened.refused is None:
        return None
    candidate, many = happened.refused.newest, happened.refused.many
    last = "" if many.count == 1 else ", the last"
    why = _because("; ".join(candidate.reasons))
    text = f"The gate refused {_count(many, 'candidate')}{last}{why}."
    return Told("candidate refused", text, candidate.at, _MODELS)


def _scored(happened: Happenings) -> Told | None:
    scored = happened.scored
    if scored is None:
        return None
    link = _segment(scored.episode_id, scored.segment_id)
    many = f"Judges gave {_count(scored.segments, 'segment')} a score"
    text = f"{many}, {scored.mean:.2f} on average; the best got {scored.best:.2f}."
    if scored.segments.count == 1:
        text = f"{many}: {scored.best:.2f}."
    return Told("segments scored", text, scored.at, link)


def _agreed(happened: Happenings) -> Told | None:
    agreed = happened.agreed
    if agreed is None:
        return None
    share, many = _percent(agreed.mean), _count(agreed.segments, "segment")
    text = f"The votes of the language models agreed by {share}, over {many}."
    link = LinkView(href="/segments?order=disagreement", label="where they did least")
    return Told("judges agreed", text, agreed.at, link)


def _took_over(happened: Happenings) -> Told | None:
    if happened.took_over is None:
        return None
    newest, many = happened.took_over.newest, happened.took_over.many
    often = "" if many.count == 1 else f", the last of {_count(many, 'takeover')}"
    text = f"Environment {newest.taken} took over the screen from {newest.left}, which was silent"
    link = LinkView(href="/map", label="map")
    return Told("screen taken over", f"{text}{often}.", newest.at, link)


_TELLERS: tuple[Callable[[Happenings], Told | None], ...] = (
    _taken_back, _silent, _reached, _play_changed, _passed, _by_hand, _given_up, _begun,
    _answer_again, _paying, _refused, _scored, _play_unchanged, _agreed, _took_over,
)  # fmt: skip


def age_in_words(seconds: float) -> str:
    """Whole seconds, minutes, or hours and minutes, as the page writes ages."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _with_age(sentence: DigestSentence) -> str:
    if sentence.age_seconds is None:
        return sentence.text
    return f"{sentence.text.removesuffix('.')} ({age_in_words(sentence.age_seconds)} ago)."


def _model(version: int) -> LinkView:
    return LinkView(href=f"/models/{version}", label=f"v{version}")


def _segment(episode_id: str, segment_id: str) -> LinkView:
    return LinkView(href=f"/segments/{episode_id}/{segment_id}", label="that segment")


def _count(many: Many, what: str) -> str:
    about = "at least " if many.at_least else ""
    return f"{about}{many.count:,} {what}{'' if many.count == 1 else 's'}"


def _listed(names: Iterable[str]) -> str:
    """With commas, and `and` before the last one."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _because(words: str | None) -> str:
    return "" if not words else f": {_short(words)}"


def _short(words: str) -> str:
    """Without its full stop, and cut at a word."""
    whole = " ".join(words.split()).rstrip(".")
    if len(whole) <= _QUOTED:
        return whole
    return f"{whole[:_QUOTED].rpartition(' ')[0] or whole[:_QUOTED]} …"
