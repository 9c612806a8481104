"""Labels whose models must never be published, in sequences that grow as in the service.

noise             random positions on the quest for each segment
episode_random    random positions for each episode, shared by its segments
slot_loving       a biased judge that scores one thing: menus, hearts, coins, or a single slot
random_judge      random levels and rises
"""

from collections.abc import Sequence

import numpy as np
from rm_labels import USUAL, Seen, judged, some, unlike

from rlaif.contracts.game.observation import LASTING_SLOTS
from rlaif.contracts.judging.quest import FARTHEST
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.worth import value_of_rise
from rlaif.reward_model.learning.fit.sides import split_sides
from rlaif.reward_model.learning.gate.checks import MAX_PERMUTATION_P
from rlaif.reward_model.learning.gate.folds import make_folds
from rlaif.reward_model.learning.gate.permutation import permutation_p
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.training import train_candidate

SETTINGS = CandidateSettings()
LOOKS = 12
STEP, LONG_STEP = 12, 40
"""New labels per training, as in the service, and in every tenth sequence."""

KINDS = ("noise", "episode_random", "slot_loving", "random_judge")
TASTES = ("menus", "texts", "end.hearts", "end.at.0", "changes.rupees", "rooms.first_visits")


def looks_live(seen: Sequence[Seen], kind: str, seed: int) -> list[int]:
    """Return the numbers of labels at which a candidate passed."""
    step = LONG_STEP if seed % 10 == 9 else STEP
    labels = bad_labels(some(seen, (LOOKS + 1) * step + 2, 3000 + seed), kind, seed)
    found = []
    for look in range(1, LOOKS + 1):
        known = labels[: (look + 1) * step]
        if _may_be_chance(known):
            continue  # rejected by the permutation test, whatever the network
        if train_candidate(known, settings=SETTINGS).passed:
            found.append(len(known))
    return found


def _may_be_chance(labels: list[LabelledSegment]) -> bool:
    train, heldout = split_sides(labels, SETTINGS)
    if not train.decided:
        return True
    p = permutation_p(make_folds(train, heldout, SETTINGS), seed=SETTINGS.seed)
    return p is not None and p > MAX_PERMUTATION_P


def bad_labels(seen: Sequence[Seen], kind: str, seed: int) -> list[LabelledSegment]:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    if kind == "random_judge":
        return judged(seen, random_seed=seed)
    if kind == "slot_loving" and seed % 2 == 0:
        taste = TASTES[seed // 2 % len(TASTES)]
        return judged(seen, USUAL.model_copy(update={"taste": taste, "taste_share": 1.0}))
    labels = judged(seen)
    if kind == "noise":
        return [placed(item, *rng.uniform(0.0, 5.0, 2)) for item in labels]
    if kind == "episode_random":
        lots = {item.episode_id: rng.normal(size=2) for item in labels}
        return [placed(i, *quest_positions(*lots[i.episode_id])) for i in labels]
    return loved_slot(labels, rng)


def quest_positions(level: float, rise: float) -> tuple[float, float]:
    """A start and an end position on the quest, from two normal numbers."""
    start = 5.0 + 2.0 * level
    return start, start + 0.3 * rise


def loved_slot(labels: list[LabelledSegment], rng: np.random.Generator) -> list[LabelledSegment]:
    """Use the values of one permanent counter at start and end as positions on the quest."""
    rows = np.stack([item.observations[[0, -1]] for item in labels])
    rises = (rows[:, 0] != rows[:, 1]).mean(axis=0)
    usable = [slot for slot in LASTING_SLOTS if rises[slot] > 0.15]
    slot, sign = int(rng.choice(usable)), float(rng.choice([-1.0, 1.0]))
    return [
        placed(item, *(5.0 + sign * 2.0 * item.observations[[0, -1], slot].astype(float)))
        for item in labels
    ]


def placed(item: LabelledSegment, start: float, end: float) -> LabelledSegment:
    """Return the label of a judge with these positions, to a precision of half a screen."""
    step = 0.9 / FARTHEST
    start, end = round(start / step) * step, round(end / step) * step
    values = {**item.values, "progress": value_of_rise(end - start)}
    return unlike(item, values=values, positions=(start, end))
