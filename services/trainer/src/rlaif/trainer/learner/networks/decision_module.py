"""The decision network: maps observation and policy input to masked logits and V.

The 128 numbers of the observation are normalized, and codes of the policy input
(`rlaif.game.policy_input`) are embedded. The network reads the 7 x 7 tiles around the player and
the nearest thing of each kind in the room. Decisions to go to a tile are scored by the tile's
appearance and its position relative to the player, so that knowledge about a chest generalizes to
all positions (pointer network; Vinyals et al. 2015, arXiv 1506.03134).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI, ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.models.torch.torch_distributions import TorchCategorical
from torch import Tensor, nn

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.game.decisions.catalog import GO_TO
from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, ROOM_CODES
from rlaif.trainer.learner.networks import decision_layout as layout
from rlaif.trainer.learner.networks import kernels
from rlaif.trainer.learner.networks.fast_layers import (
    Common,
    SplitColumns,
    dense,
    distinct,
    split_dense,
    varying_columns,
)
from rlaif.trainer.learner.networks.running_scale import RunningScale, ValueHead

POLICY_INPUTS = "policy_inputs"
"""Column of a batch: `[B, SIZE] float32`, written by `write_policy_input`."""

CRITIC_INPUTS = "critic_inputs"
"""Column of a batch: `[B, 2] float32`, read only by the critic (`critic_inputs`)."""

ADDED = ("critic_told.weight",)
"""Weights that releases up to 0.1.0 lack; with 0 the critic's output is unchanged."""

_SMALL_HEAD = 0.01
"""Gain of the last layers. The initial policy is nearly uniform and the initial critic nearly 0;
without rewards, larger errors of the critic would be learned as advantages."""


class Seen(NamedTuple):
    """Inputs of a policy, without learned parameters.

    Attributes:
        numbers: `[B, N] float32`: normalized observation, numbers of the policy input, nearest
            things.
        codes: `[B, C, 1] uint16`, rows of the common table.
        rooms: `[B, 1, 1] uint16`
        near: `[B, 49, 3] uint16`, `looks` of the tiles around the player.
        looks: `[B, 192, 3] uint16`, rows of the table of tile features.
        here: `[B] uint16`, the player's tile.
    """

    numbers: Tensor
    codes: Tensor
    rooms: Tensor
    near: Tensor
    looks: Tensor
    here: Tensor

    @property
    def nearest(self) -> Tensor:
        """`[B, 4 K]`, see `kernels`."""
        return self.numbers[:, -layout.NEAREST :]


class Varying(NamedTuple):
    """The parts of a `Seen` that differ between the rows of a minibatch, and the common ones.

    Attributes:
        rows: `[B, V]`, numbers that vary.
        values: `[N - V]`, numbers that are the same in all rows.
        codes: `[B, M, 1]`, codes that vary.
        same: `[C - M]`, codes that are the same in all rows.
        columns: Columns of the first layer for `rows`, `values`, the embeddings of `same`, and the
            other embeddings.
        nearby: Groups of rows with the same tiles around the player.
    """

    rows: Tensor
    values: Tensor
    codes: Tensor
    same: Tensor
    columns: Tensor
    nearby: Common


class Reader(nn.Module):
    """Converts both inputs of a policy to a `Seen`."""

    codes: Tensor
    offsets: Tensor
    numbers: Tensor

    def __init__(self) -> None:
        super().__init__()
        codes, offsets, self.code_rows = layout.code_table()
        numbers = layout.number_columns()
        self.register_buffer("codes", torch.tensor(codes), persistent=False)
        self.register_buffer("offsets", torch.tensor(offsets), persistent=False)
        self.register_buffer("numbers", torch.tensor(numbers), persistent=False)
        self.begins = OBSERVATION_SIZE + len(numbers)
        self.ends = (
            self.begins
            + len(codes) * layout.CODE
            + layout.ROOM
            + layout.SIDE * layout.SIDE * layout.TILE
        )
        self.size = self.ends + layout.NEAREST
        """Inputs of the first layer: numbers, embeddings (from `begins` to `ends`) and nearest
        things."""

    @torch.no_grad()
    def forward(self, observations: Tensor, inputs: Tensor) -> Seen:
        """Convert normalized observations `[B, 128]` and policy inputs `[B, SIZE]`."""
        room = [torch.from_numpy(each) for each in layout.see_rooms(inputs.numpy())]
        looks, near, here, nearest = room
        numbers = torch.cat([observations, inputs.index_select(1, self.numbers), nearest], dim=1)
        codes = (inputs.index_select(1, self.codes) + self.offsets).to(torch.uint16)
        rooms = inputs[:, POLICY_INPUT["room"].span].to(torch.uint16)
        return Seen(numbers, codes[:, :, None], rooms[:, :, None], near, looks, here)

    @torch.no_grad()
    def varying(self, seen: Seen) -> Varying:
        split = SplitColumns.of(seen.numbers)
        moving, same = varying_columns(seen.codes[:, :, 0])
        learned = torch.arange(self.begins, self.ends)
        coded = seen.codes.shape[1] * layout.CODE
        of_codes, rest = learned[:coded], learned[coded:]
        of_code = of_codes.view(-1, layout.CODE)
        numbers = torch.where(
            split.columns < self.begins, split.columns, split.columns + len(learned)
        )
        return Varying(
            split.rows,
            split.values,
            seen.codes.index_select(1, moving),
            seen.codes[0, same, 0].long(),
            torch.cat([numbers, of_code[same].flatten(), of_code[moving].flatten(), rest]),
            Common.of(distinct(seen.near.numpy())),
        )


class Sight(nn.Module):
    """Maps a `Seen` to features of the state, `[B, hidden]`."""

    def __init__(self, hidden: int, reader: Reader) -> None:
        super().__init__()
        self.codes = _table(reader.code_rows, layout.CODE)
        self.rooms = _table(ROOM_CODES, layout.ROOM)
        self.looks = _table(layout.LOOKS, layout.TILE)
        self.first = _linear(reader.size, hidden)
        self.second = _linear(hidden, hidden)

    def forward(self, seen: Seen) -> Tensor:
        before, after = seen.numbers[:, : -layout.NEAREST], seen.nearest
        looked_up = look_up((seen.codes, seen.rooms, seen.near), *self._tables())
        rows = torch.cat([before, looked_up, after], dim=1)
        return torch.relu(self.second(torch.relu(self.first(rows))))

    def learn(
        self, seen: Seen, varying: Varying, more: tuple[Tensor, Tensor] | None = None
    ) -> Tensor:
        """Compute `forward` up to rounding, faster for a minibatch of an update.

        `more` are further inputs of the second layer, `[B, M]`, and their weights `[hidden, M]`.
        """
        codes, rooms, looks = self._tables()
        out = split_dense(
            self.first.weight,
            self.first.bias,
            (varying.rows, varying.columns),
            torch.cat([varying.values, self.codes(varying.same).flatten()]),
            "relu",
            look_up((varying.codes, seen.rooms), codes, rooms),
            look_up((seen.near.index_select(0, varying.nearby.first),), looks),
            varying.nearby,
        )
        weight = self.second.weight
        if more is not None:
            out, weight = torch.cat([out, more[0]], dim=1), torch.cat([weight, more[1]], dim=1)
        return dense(out, weight, self.second.bias, "relu")

    def _tables(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.codes.weight, self.rooms.weight, self.looks.weight


class LookUp(torch.autograd.Function):
    """Concatenates sums of table rows; `rows` has `[B, S, M] uint16` for each table."""

    @staticmethod
    def forward(ctx: Any, rows: Sequence[Tensor], *tables: Tensor) -> Tensor:
        widths = [part.shape[1] * table.shape[1] for part, table in zip(rows, tables, strict=True)]
        out = torch.empty(len(rows[0]), sum(widths))
        begin, filled = 0, out.numpy()
        for part, table, width in zip(rows, tables, widths, strict=True):
            kernels.look_up(table.detach().numpy(), part.numpy(), begin, filled)
            begin += width
        ctx.rows, ctx.widths, ctx.shapes = rows, widths, [table.shape for table in tables]
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        begin, given = 0, gradient.contiguous().numpy()
        found = [gradient.new_zeros(shape) for shape in ctx.shapes]
        for part, table, width in zip(ctx.rows, found, ctx.widths, strict=True):
            kernels.add_up(table.numpy(), part.numpy(), begin, given)
            begin += width
        return (None, *found)


look_up: Callable[..., Tensor] = LookUp.apply


class Pointer(nn.Module):
    """Scores of the tiles by appearance and relative position: features to `[B, 192]`."""

    places_of: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.question = _linear(hidden, layout.KEY, _SMALL_HEAD)
        self.looks = nn.Parameter(torch.randn(layout.LOOKS, layout.KEY) * layout.KEY**-0.5)
        self.places = nn.Parameter(torch.randn(layout.PLACES, layout.KEY) * layout.KEY**-0.5)
        self.register_buffer("places_of", torch.from_numpy(layout.places()), persistent=False)

    def forward(self, features: Tensor, seen: Seen) -> Tensor:
        """Return the product of question and tile, where a tile is the sum of its looks and place.

        The products are computed for every possible look and place and then looked up, so that no
        vector per tile of a room is needed.
        """
        question = self.question(features)
        by_place, by_look = question @ self.places.t(), question @ self.looks.t()
        return score_tiles(by_place, by_look, seen.looks, seen.here, self.places_of)


class ScoreTiles(torch.autograd.Function):
    """Maps scores of places `[B, P]` and of looks `[B, L]` to scores of tiles `[B, 192]`."""

    @staticmethod
    def forward(
        ctx: Any, by_place: Tensor, by_look: Tensor, looks: Tensor, here: Tensor, places: Tensor
    ) -> Tensor:
        out = torch.empty(looks.shape[:2])
        scored = by_place.detach().numpy(), by_look.detach().numpy()
        ctx.seen = seen = looks.numpy(), here.numpy(), places.numpy()
        kernels.score_tiles(*scored, *seen, out.numpy())
        ctx.shapes = by_place.shape, by_look.shape
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        by_place, by_look = (gradient.new_zeros(shape) for shape in ctx.shapes)
        given = gradient.contiguous().numpy()
        looks, here, places = ctx.seen
        kernels.spread_scores(by_place.numpy(), by_look.numpy(), looks, here, places, given)
        return by_place, by_look, None, None, None


score_tiles: Callable[..., Tensor] = ScoreTiles.apply


class DecisionModule(TorchRLModule, InferenceOnlyAPI, ValueFunctionAPI):  # type: ignore[misc]  # ray has no types
    """Policy and critic.

    `model_config` has `hidden` (units per layer), `share_layers` (the critic uses the policy's
    features and not `CRITIC_INPUTS`), `seed` (of the initial weights) and `normalize_inputs` (for
    the 128 numbers).
    """

    def setup(self) -> None:
        hidden: int = self.model_config["hidden"]
        self.shares: bool = self.model_config.get("share_layers", False)
        self.follows: bool = self.model_config.get("normalize_inputs", True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.model_config.get("seed", 0))
            self.scale = RunningScale(OBSERVATION_SIZE)
            self.reader = Reader()
            self.sight = Sight(hidden, self.reader)
            self.named = _linear(hidden, GO_TO.start, _SMALL_HEAD)
            self.pointer = Pointer(hidden)
            self.critic = None if self.shares else Sight(hidden, self.reader)
            self.vf = ValueHead(hidden)
            nn.init.orthogonal_(self.vf.linear.weight, _SMALL_HEAD)
            nn.init.zeros_(self.vf.linear.bias)
            # The last parameter, which keeps the order of older optimizer states.
            self.critic_told = None if self.shares else nn.Linear(2, hidden, bias=False)
            if self.critic_told is not None:
                nn.init.zeros_(self.critic_told.weight)
        self.action_dist_cls = TorchCategorical

    def get_non_inference_attributes(self) -> list[str]:
        return ["vf"] if self.shares else ["critic", "vf", "critic_told"]

    def _read(self, batch: dict[str, Any]) -> Seen:
        seen: Seen = self.reader(self.scale(batch[Columns.OBS]), batch[POLICY_INPUTS])
        return seen

    def _logits(self, features: Tensor, seen: Seen, batch: dict[str, Any]) -> Tensor:
        """Return `[B, COUNT]` logits; `NEVER` where a decision is not allowed."""
        logits = torch.cat([self.named(features), self.pointer(features, seen)], dim=1)
        allowed = batch[POLICY_INPUTS][:, ALLOWED] > 0.5
        # Logits must also be finite in rows that are not from play and allow no decision.
        allowed = allowed | ~allowed.any(dim=1, keepdim=True)
        return torch.where(allowed, logits, layout.NEVER)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = self._read(batch)
        return {Columns.ACTION_DIST_INPUTS: self._logits(self.sight(seen), seen, batch)}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = self._read(batch)
        varying = self.reader.varying(seen)
        features = self.sight.learn(seen, varying)
        critics = features
        if self.critic is not None:
            critics = self.critic.learn(seen, varying, self._told(batch))
        return {
            Columns.ACTION_DIST_INPUTS: self._logits(features, seen, batch),
            Columns.EMBEDDINGS: critics,
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        if embeddings is None:
            seen = self._read(batch)
            sight = self.sight if self.critic is None else self.critic
            embeddings = sight.learn(seen, self.reader.varying(seen), self._told(batch))
        values: Tensor = self.vf(embeddings).squeeze(-1)
        return values

    def _told(self, batch: dict[str, Any]) -> tuple[Tensor, Tensor] | None:
        if self.critic_told is None or CRITIC_INPUTS not in batch:
            return None
        return batch[CRITIC_INPUTS], self.critic_told.weight

    def observe(self, batch: dict[str, Any]) -> None:
        """Add the observations of an update to the statistics, without changing the outputs.

        Called after the gradient steps, which must start from the policy that played.
        """
        if self.follows:
            reads = [self.sight] if self.critic is None else [self.sight, self.critic]
            self.scale.observe_for([each.first for each in reads], batch[Columns.OBS])


def decision_spec(
    hidden: int, *, share_layers: bool = False, seed: int = 0, normalize_inputs: bool = True
) -> RLModuleSpec:
    """Return the specification of a `DecisionModule`."""
    config = {"share_layers": share_layers, "seed": seed, "normalize_inputs": normalize_inputs}
    return RLModuleSpec(module_class=DecisionModule, model_config={"hidden": hidden, **config})


def _linear(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def _table(rows: int, size: int) -> nn.Embedding:
    table = nn.Embedding(rows, size)
    nn.init.normal_(table.weight, std=size**-0.5)
    return table
