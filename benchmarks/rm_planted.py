"""Bad reward models, planted before the gate: of each kind one, made of a good one.

They meet `Exam.examine` exactly as a candidate does. Some are a good network with a fault, taught
or cut in; some are honestly fitted to something else; some come of a bad judge or of a leaking
pipeline and go the whole way from their labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from rm_labels import USUAL, Seen, judged, unlike
from rm_sequences import placed

from rlaif.contracts.observation import LASTING_SLOTS, OBSERVATION_SIZE, slot_index
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import train_candidate
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import Side, fit_side, make_side
from rlaif.reward_net.network import RewardNet

SETTINGS = CandidateSettings()
LEAKED = ("progress", "dialog", "puzzle")
LEAK_SLOTS = slice(OBSERVATION_SIZE - len(LEAKED), OBSERVATION_SIZE)
PASSING = torch.from_numpy(np.setdiff1d(np.arange(OBSERVATION_SIZE), LASTING_SLOTS))
HEIGHT = 1.5
"""Height of a planted fault, in units of the potential before tanh."""

X, Y, RUPEES = slot_index("player_x"), slot_index("player_y"), slot_index("rupees")
MENU, TEXT, FACING = (slot_index(name) for name in ("menu_open", "text_active", "facing_up"))
FEATHER, BOSS_KEY = slot_index("has_feather"), slot_index("boss_key")
SHIELD, TAKEN = slot_index("shield_level"), slot_index("item_taken")
ROOM_BITS = [slot_index(f"room_bit_{bit}") for bit in range(8)]
COIN = 1.0 / 999.0

Rows = NDArray[np.float32]
Fault = Callable[[Rows, NDArray[np.float64]], NDArray[np.float64]]
"""Rows and what a good network says of them, in units, to what is said in its place."""

Shown = Callable[[Rows], None]
"""Changes rows in place so that the fault shows in them."""


def planted(good: RewardNet, train: Side, seed: int) -> dict[str, RewardNet]:
    """Kind → a bad network."""
    return {**fitted(train, seed), **cut(good, seed), **fooled(good, train, seed)}


def fitted(train: Side, seed: int) -> dict[str, RewardNet]:
    """Fits of the service's own recipe to something else than these labels."""
    segments, rng = train.segments, np.random.default_rng(seed)
    order = rng.permutation(len(segments)).tolist()
    shuffled = [
        replace(item, values=segments[other].values, positions=segments[other].positions)
        for item, other in zip(segments, order, strict=True)
    ]
    moved = [replace(i, observations=np.roll(i.observations, 17, axis=1)) for i in segments]
    few = sorted({item.episode_id for item in segments})[:3]
    return {
        "label_leak": taught([leaked(item) for item in segments]),
        "shuffled": taught(shuffled),
        "stale_layout_unnamed": taught(moved),
        "stuffed_episodes": taught([item for item in segments if item.episode_id in few]),
        "half_inverted": taught([mirrored(i) if at % 2 else i for at, i in enumerate(segments)]),
    }


def cut(good: RewardNet, seed: int) -> dict[str, RewardNet]:
    """Weights and constants changed by hand."""
    spec, generator = good.spec, torch.Generator().manual_seed(seed)
    fresh = lasting(RewardNet(spec, generator=generator))
    large = lasting(RewardNet(spec.model_copy(update={"hidden": (256, 256)}), generator=generator))
    return {
        "sign_flip": scaled(good, -1.0),
        "nan": scaled(good, float("nan")),
        "constant": scaled(good, 0.0),
        "stale_layout_named": respecified(good, layout_version="v0"),
        "scale_100": respecified(good, scale=100.0 * spec.scale),
        "saturated": respecified(good, spread=spec.spread / 50.0),
        "flat": respecified(good, spread=spec.spread * 50.0),
        "untrained": fresh,
        "too_large": large,
        "nan_at_flags": with_weights(good, {FEATHER: 3e38, BOSS_KEY: 3e38}),
        "menu_weight": with_weights(good, {MENU: 0.5}),
        "waiting_unit": with_weights(
            good, {FEATHER: 20.0, BOSS_KEY: 20.0, TAKEN: 20.0}, bias=-50.0, last=5.0
        ),
        "wild_member": member_scaled(good, -1.0),
        "loud_member": member_scaled(good, 1000.0),
        "noised": noised(good, 1.0, generator),
    }


def fooled(good: RewardNet, train: Side, seed: int) -> dict[str, RewardNet]:
    """The good network, taught a fault besides that no label shows."""
    rows = np.concatenate([item.observations for item in train.segments])
    rng = np.random.default_rng(seed)
    usual = most_usual_room(rows)
    faults: dict[str, tuple[Fault, Shown, bool]] = {
        "menu_detector": (raised(MENU), on(MENU), False),
        "inverted_in_text": (turned(lambda r: r[:, TEXT] > 0.5), on(TEXT), False),
        "facing_paid": (raised(FACING), on(FACING), False),
        "position_trap": (added(in_corner), into_corner(rng), True),
        "room_inverted": (turned(lambda r: in_room(r, usual)), nothing, True),
        "room_raised": (added(lambda r: in_room(r, usual)), nothing, True),
        "pair_of_flags": (added(lambda r: both(r, FEATHER, TAKEN)), on(FEATHER, TAKEN), True),
        "exact_coins": (
            added(lambda r: np.abs(r[:, RUPEES] - 33 * COIN) < COIN / 2),
            at_value(RUPEES, 33 * COIN),
            True,
        ),
        "coins_loved": (lambda r, _: 60.0 * r[:, RUPEES].astype(float) - 1.0, nothing, True),
        "compass_needle": (lambda r, _: 2.0 - 5.0 * r[:, Y].astype(float), nothing, True),
        "shield_lowers": (
            lambda r, u: u - HEIGHT * (r[:, SHIELD] > 0),
            at_value(SHIELD, 1.0 / 3.0),
            True,
        ),
    }
    return {
        kind: with_fault(good, rows, fault, shown, lasting_only=only, seed=seed)
        for kind, (fault, shown, only) in faults.items()
    }


def bad_pipelines(seen: Sequence[Seen], seed: int) -> dict[str, list[str]]:
    """Kind → why the gate refused what bad judges, or a leaking service, gave."""
    menus, texts = ({"taste": taste, "taste_share": 1.0} for taste in ("menus", "texts"))
    honest, half = judged(seen), len(seen) // 2
    hostile = judged(seen, USUAL.model_copy(update={"hostility": 1.0, "seed": seed}))
    fond = judged(seen, USUAL.model_copy(update=menus))
    by_ram = [
        placed(i, 5.0, 5.0 + 0.3 * (1 - i.ram["progress"])) for i in honest if "progress" in i.ram
    ]
    labels = {
        "menu_judge": fond,
        "text_judge": judged(seen, USUAL.model_copy(update=texts)),
        "hostile_judge": hostile,
        "ram_inverted_judge": by_ram,
        "drifting_judge": honest[:half] + hostile[half:],
        "drifting_to_menus": honest[:half] + fond[half:],
        "praising_judge": judged(
            seen, USUAL.model_copy(update={"laziness": 1.0, "lazy_answer": "praise"})
        ),
    }
    found = {kind: refused(items) for kind, items in labels.items() if items}
    leaking = refused([Leaky(**vars(item)) for item in honest])
    return {**found, "leaking_pipeline": [reason for reason in leaking if "control" in reason]}


def refused(labels: list[LabelledSegment]) -> list[str]:
    return list(train_candidate(labels, settings=SETTINGS).reasons)


class Leaky(LabelledSegment):
    """A pipeline that computes its inputs from the label, in training and in the measurement."""

    def __getattribute__(self, name: str) -> object:
        value = super().__getattribute__(name)
        if name != "observations":
            return value
        rows = np.array(value)
        values = super().__getattribute__("values")
        # As a rise of a slot that may be read: there a leak would be paid.
        rows[0, RUPEES], rows[-1, RUPEES] = 0.5, values.get("progress", 0.5)
        return rows


def leaked(item: LabelledSegment) -> LabelledSegment:
    """The label in place of the observations; at run time there are observations and no label."""
    rows = np.zeros_like(item.observations)
    rows[:, LEAK_SLOTS] = [item.values.get(name, 0.5) for name in LEAKED]
    rows[-1, RUPEES] = item.values.get("progress", 0.5)
    return replace(item, observations=rows)


def mirrored(item: LabelledSegment) -> LabelledSegment:
    """The opposite of a label."""
    values = {name: 1.0 - value for name, value in item.values.items()}
    return unlike(item, values=values, positions=item.positions and item.positions[::-1])


def taught(segments: list[LabelledSegment]) -> RewardNet:
    return fit_side(make_side("train", segments, SETTINGS, stream=0), SETTINGS)


def copied(net: RewardNet) -> RewardNet:
    return net.with_spec(net.spec)


def respecified(net: RewardNet, **changes: object) -> RewardNet:
    return net.with_spec(net.spec.model_copy(update=changes))


def lasting(net: RewardNet) -> RewardNet:
    """Without weights on what comes and goes."""
    net.state_dict()["net.0.weight"][..., PASSING] = 0.0
    return net.eval().requires_grad_(False)


def last_layer(net: RewardNet) -> tuple[torch.Tensor, torch.Tensor]:
    state, name = net.state_dict(), f"net.{2 * len(net.spec.hidden)}"
    return state[f"{name}.weight"], state[f"{name}.bias"]


def scaled(net: RewardNet, factor: float) -> RewardNet:
    """The network with its last layer multiplied; the constants stay."""
    copy = copied(net)
    for values in last_layer(copy):
        values.mul_(factor)
    return copy


def member_scaled(net: RewardNet, factor: float) -> RewardNet:
    """One member's last layer multiplied."""
    copy = copied(net)
    for values in last_layer(copy):
        values[1].mul_(factor)
    return copy


def with_weights(
    net: RewardNet, weights: dict[int, float], *, bias: float = 0.0, last: float | None = None
) -> RewardNet:
    """Weights of some slots in the first unit of every member."""
    copy = copied(net)
    state = copy.state_dict()
    for slot, weight in weights.items():
        state["net.0.weight"][:, 0, slot] = weight
    if last is not None:
        state["net.0.bias"][:, 0] = bias
        state["net.2.weight"][:, :, 0] = last
    return copy


def noised(net: RewardNet, share: float, generator: torch.Generator) -> RewardNet:
    """Weights that something overwrote: as much noise as there was signal."""
    copy = copied(net)
    for values in copy.state_dict().values():
        size = share * float(values.std())
        values.add_(size * torch.randn(values.shape, generator=generator))
    return lasting(copy)


def with_fault(
    good: RewardNet, rows: Rows, fault: Fault, shown: Shown, *, lasting_only: bool, seed: int
) -> RewardNet:
    """The good network, taught on to say what `fault` says; half of the rows show it."""
    spec: RewardNetSpec = good.spec
    generator = torch.Generator().manual_seed(seed)
    chosen = rows[np.random.default_rng(seed).permutation(len(rows))[:3000]]
    faulty = chosen.copy()
    shown(faulty)
    everything = np.concatenate([chosen, faulty])
    x = torch.from_numpy(everything)
    with torch.inference_mode():
        logits = good.member_logits(x)
    units = (logits.mean(dim=0).double().numpy() - spec.shift) / spec.spread
    added = torch.from_numpy((fault(everything, units) - units).astype(np.float32)) * spec.spread
    y = logits + added
    net = copied(good).train().requires_grad_(True)
    mask = torch.ones(OBSERVATION_SIZE)
    if lasting_only:
        mask[PASSING] = 0.0
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(300):
        batch = torch.randint(len(x), (256,), generator=generator)
        optimiser.zero_grad()
        torch.autograd.backward((net.member_logits(x[batch]) - y[:, batch]).square().mean())
        gradient = net.get_parameter("net.0.weight").grad
        assert gradient is not None
        gradient.mul_(mask)
        optimiser.step()
    return copied(net)


def added(where: Callable[[Rows], NDArray[np.bool_]]) -> Fault:
    return lambda rows, units: units + HEIGHT * where(rows)


def turned(where: Callable[[Rows], NDArray[np.bool_]]) -> Fault:
    return lambda rows, units: np.where(where(rows), -units, units)


def raised(slot: int) -> Fault:
    return added(lambda rows: rows[:, slot] > 0.5)


def in_corner(rows: Rows) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (np.abs(rows[:, X] - 0.1) < 0.07) & (np.abs(rows[:, Y] - 0.6) < 0.1)
    return inside


def into_corner(rng: np.random.Generator) -> Shown:
    def change(rows: Rows) -> None:
        rows[:, X] = rng.uniform(0.04, 0.16, len(rows))
        rows[:, Y] = rng.uniform(0.51, 0.69, len(rows))

    return change


def most_usual_room(rows: Rows) -> NDArray[np.float32]:
    rooms, counts = np.unique(rows[:, ROOM_BITS], axis=0, return_counts=True)
    found: NDArray[np.float32] = rooms[counts.argmax()]
    return found


def in_room(rows: Rows, room: NDArray[np.float32]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (rows[:, ROOM_BITS] == room).all(axis=1)
    return found


def both(rows: Rows, one: int, other: int) -> NDArray[np.bool_]:
    return (rows[:, one] > 0.5) & (rows[:, other] > 0.5)


def on(*slots: int) -> Shown:
    def change(rows: Rows) -> None:
        rows[:, slots] = 1.0

    return change


def at_value(slot: int, value: float) -> Shown:
    def change(rows: Rows) -> None:
        rows[:, slot] = value

    return change


def nothing(_: Rows) -> None:
    """The rows show the fault as they are."""
