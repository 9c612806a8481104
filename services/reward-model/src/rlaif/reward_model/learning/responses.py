"""How a network answers where there are no labels, held against other fits to the same labels.

No rule says what a potential should be in a corner that nobody saw. But networks of one recipe and
the same labels agree there about as much as chance lets them: how far one fit is from the mean of
the others is measured on themselves, and a candidate that is farther off by a multiple has learned
something that the labels do not say. This finds kinds of fault that nobody thought of: traps at a
place, regions turned round, triggers on rare combinations, one member out of line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.learning.counterfactuals import Probes
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

MOST_APART = 1.8
"""Multiple of the refits' own distance, root mean square over a family of probes, that is too far.
"""

MEMBER_APART = 2.5
"""Likewise, of one member, over all probes."""

MOST_APART_ONCE = 2.3
"""Likewise, at the one probe where it is farthest."""

MOST_WEIGHT = 4.0
"""Multiple of the refits' largest weight of a layer that is too large."""

LEAST_GAIN_OF_A_THING = -0.02
"""Mean rise of the potential, in units of its scale, when something of the quest is owned besides;
less is a step back."""

_SMALL_WEIGHT = 0.05
"""A weight that is never too large, by itself."""

_FLOOR = 0.06
"""Distance, in units of the scale, that is never too far: half an objective. Refits of one network
each, with fewer passes, may agree within less where a good ensemble is a little off."""

Answers = NDArray[np.float64]


@dataclass(frozen=True)
class Farthest:
    """Where a network is farthest from the refits.

    Attributes:
        where: Family of probes, room or layer.
        ratio: Its distance over the largest distance of a refit from the others.
    """

    where: str
    ratio: float


@dataclass(frozen=True)
class Responses:
    """What the probes show of one network.

    Attributes:
        apart: Root mean square over a family.
        apart_once: At one probe.
        member: Of one member, root mean square over all probes.
        weight: Largest weight of a layer over the refits' largest.
        least_thing: The owned thing that raises the potential least, and by how much on average.
        lowered: Owned things that lower it, worst first.
    """

    apart: Farthest
    apart_once: Farthest
    member: Farthest
    weight: Farthest
    least_thing: float | None = None
    lowered: tuple[str, ...] = field(default=())


def compare(net: RewardNet, refits: Sequence[RewardNet], probes: Probes) -> Responses:
    """Ask a network and at least two refits, of any number of members, the same probes."""
    families = {**probes.rows, **probes.rooms}
    own = {name: _answers(net, rows) for name, rows in families.items()}
    theirs = {
        name: np.stack([_answers(refit, rows) for refit in refits])
        for name, rows in families.items()
    }
    things = {name: _thing(net, pair) for name, pair in probes.quest.items()}
    lowered = sorted(
        (name for name, rise in things.items() if rise < LEAST_GAIN_OF_A_THING),
        key=things.__getitem__,
    )
    return Responses(
        apart=_farthest(own, theirs, _rms),
        apart_once=_farthest(own, theirs, _largest),
        member=_members(net, refits, families),
        weight=_weights(net, refits),
        least_thing=min(things.values(), default=None),
        lowered=tuple(lowered),
    )


def unlike_refits(found: Responses) -> list[str]:
    """Why a network is refused for what the probes show."""
    looked = (
        (found.apart, MOST_APART, "on probes of {}"),
        (found.apart_once, MOST_APART_ONCE, "at one probe of {}"),
        (found.member, MEMBER_APART, "with {}"),
    )
    reasons = [
        f"{where.format(item.where)} it is {item.ratio:.1f} times as far from other networks of "
        f"the same labels as these are from each other, more than {most}: no label says this"
        for item, most, where in looked
        if not item.ratio <= most
    ]
    if not found.weight.ratio <= MOST_WEIGHT:
        reasons.append(
            f"the largest weight of {found.weight.where} is {found.weight.ratio:.1f} times that of "
            f"other networks of the same labels, more than {MOST_WEIGHT}: it may hide a trigger"
        )
    if found.lowered:
        reasons.append(
            f"owning {', '.join(found.lowered)} lowers the potential on average, by up to "
            f"{-(found.least_thing or 0.0):.3f}: nothing of the quest is a step back"
        )
    return reasons


def _answers(net: RewardNet, rows: NDArray[np.float32]) -> Answers:
    """`[P]` potentials in units of the scale."""
    return PotentialFunction(net)(rows).astype(np.float64) / net.spec.scale


def _rms(values: Answers) -> float:
    return float(np.sqrt(np.square(values).mean()))


def _largest(values: Answers) -> float:
    return float(np.abs(values).max())


def _farthest(
    own: dict[str, Answers], theirs: dict[str, Answers], size: Callable[[Answers], float]
) -> Farthest:
    """The family in which a network is farthest from the refits' mean, compared with the refits.

    A refit's distance is that from the mean of the others. The level of a whole family counts, too.
    """
    found = []
    for name, answers in own.items():
        others = theirs[name]
        usual = max(
            size(one - np.delete(others, at, axis=0).mean(axis=0)) for at, one in enumerate(others)
        )
        found.append(Farthest(name, size(answers - others.mean(axis=0)) / max(usual, _FLOOR)))
    return max(found, key=lambda item: item.ratio if np.isfinite(item.ratio) else np.inf)


def _members(
    net: RewardNet, refits: Sequence[RewardNet], families: dict[str, NDArray[np.float32]]
) -> Farthest:
    """The member that is farthest from the refits' mean, beside the refits' own members."""
    rows = np.concatenate(list(families.values()))
    usual = np.mean([_answers(refit, rows) for refit in refits], axis=0)
    most = max(_apart(member, usual) for refit in refits for member in _by_member(refit, rows))
    own = [_apart(member, usual) for member in _by_member(net, rows)]
    worst = int(np.argmax(own))
    return Farthest(f"member {worst + 1}", own[worst] / max(most, _FLOOR))


def _by_member(net: RewardNet, rows: NDArray[np.float32]) -> Answers:
    """`[M, P]`."""
    return np.tanh(PotentialFunction(net).normalised(rows).astype(np.float64))


def _apart(answers: Answers, usual: Answers) -> float:
    return _rms(answers - usual)


def _weights(net: RewardNet, refits: Sequence[RewardNet]) -> Farthest:
    """Of the layer where it is farthest; the last one's bias is a constant, which `shift` takes."""
    constant = f"net.{2 * len(net.spec.hidden)}.bias"
    found = []
    for name, value in net.state_dict().items():
        if name == constant:
            continue
        usual = max(float(refit.state_dict()[name].abs().max()) for refit in refits)
        found.append(Farthest(name, float(value.abs().max()) / max(usual, _SMALL_WEIGHT)))
    return max(found, key=lambda item: item.ratio)


def _thing(net: RewardNet, pair: NDArray[np.float32]) -> float:
    """Mean rise of the potential when a thing is owned."""
    without, owned = (_answers(net, rows) for rows in pair)
    return float((owned - without).mean())
