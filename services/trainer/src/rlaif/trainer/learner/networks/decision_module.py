"""The network that chooses among decisions: observation and policy input to masked logits and V.

The 128 numbers of the observation are normalized, codes of the policy input
(`rlaif.game.policy_input`) are embedded. The network sees the 7 x 7 tiles around the player, and
the nearest thing of each kind in the room. Decisions that name a tile are scored by the tile's
appearance and its position relative to the player, so that what was learned of a chest holds
everywhere (pointer network; Vinyals et al. 2015, arXiv 1506.03134).
"""

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
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS
from rlaif.game.motion.things import KINDS
from rlaif.game.policy_input.layout import (
    ALLOWED,
    POLICY_INPUT,
    ROOM_CODES,
    THINGS,
    TILE_CODES,
    TILE_INDEXES,
    TILE_TABLES,
    TILES,
    Field,
)
from rlaif.trainer.learner.networks.running_scale import RunningScale, ValueHead

POLICY_INPUTS = "policy_inputs"
"""Column of a batch: `[B, SIZE] float32`, what `write_policy_input` wrote."""

NEVER = -1e9
"""Logit of a decision that is not allowed: its probability is exactly 0, its logarithm finite."""

_RADIUS = 3
_SIDE = 2 * _RADIUS + 1
_CODE, _ROOM, _TILE, _KEY = 8, 16, 8, 24
"""Sizes of the embeddings of a code, a room, a nearby tile, and a tile as a target."""

_GRID = ("tiles", "things")
_ITEMS = ("item_b", "item_a", "inventory", "own_object_id")
_TILE_KINDS = TILE_TABLES * TILE_INDEXES
_COLLISIONS = TILE_CODES // _TILE_KINDS
_THINGS = len(KINDS) + 1
_LOOKS = _TILE_KINDS + _COLLISIONS + _THINGS
"""Rows of a table of tile features: table and index, collision, thing; the embedding of a tile is
the sum of three rows."""

_PLACES = (2 * TILE_ROWS - 1) * (2 * TILE_COLUMNS - 1)
_NOWHERE = TILES * TILES
_SMALL_HEAD = 0.01
"""Gain of the last layers of the policy: the initial policy is nearly uniform."""


class Sight(nn.Module):
    """Both inputs to features of the state, `[B, hidden]`."""

    columns: Tensor
    offsets: Tensor
    numbers: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        columns, offsets, rows = _code_table()
        numbers = _number_columns()
        self.register_buffer("columns", torch.tensor(columns), persistent=False)
        self.register_buffer("offsets", torch.tensor(offsets), persistent=False)
        self.register_buffer("numbers", torch.tensor(numbers), persistent=False)
        self.codes = _table(rows, _CODE)
        self.rooms = _table(ROOM_CODES, _ROOM)
        self.looks = _table(_LOOKS, _TILE)
        size = OBSERVATION_SIZE + len(numbers) + len(columns) * _CODE + _ROOM
        self.first = _linear(size + _SIDE * _SIDE * _TILE + 4 * (_THINGS - 1), hidden)
        self.second = _linear(hidden, hidden)

    def forward(self, observations: Tensor, inputs: Tensor, room: "RoomSeen") -> Tensor:
        """From normalized observations `[B, 128]` and policy inputs `[B, SIZE]`."""
        rows = len(inputs)
        seen = [
            observations,
            inputs[:, self.numbers],
            self.codes(inputs[:, self.columns].long() + self.offsets).view(rows, -1),
            self.rooms(inputs[:, _at("room")].long()),
            self._near(room).view(rows, -1),
            room.nearest,
        ]
        features = torch.relu(self.first(torch.cat(seen, dim=1)))
        return torch.relu(self.second(features))

    def _near(self, room: "RoomSeen") -> Tensor:
        ground, collision, thing = room.near
        near: Tensor = self.looks(ground) + self.looks(collision) + self.looks(thing)
        return near


class Pointer(nn.Module):
    """Scores of the tiles by appearance and relative position: features to `[B, 192]`."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.question = _linear(hidden, _KEY, _SMALL_HEAD)
        self.looks = nn.Parameter(torch.randn(_LOOKS, _KEY) * _KEY**-0.5)
        self.places = nn.Parameter(torch.randn(_PLACES, _KEY) * _KEY**-0.5)

    def forward(self, features: Tensor, room: "RoomSeen") -> Tensor:
        """The product of question and tile, which is the sum of its three looks and its place.

        It is made for every look and every place there is, and looked up: no tile of a room has a
        row of numbers of its own.
        """
        question = self.question(features)
        looks = question @ self.looks.t()
        scores: Tensor = (question @ self.places.t()).gather(1, room.places)
        for look in room.looks:
            scores = scores + looks.gather(1, look)
        return scores


class RoomSeen(NamedTuple):
    """Indices and features of a room, without learned parameters.

    Attributes:
        looks: Three of `[B, 192]`: rows of the table of tile features.
        places: `[B, 192]`, index of each tile's position relative to the player.
        near: Three of `[B, 49]`: `looks` of the tiles around the player.
        nearest: `[B, 4 K]`, for each of K kinds of thing: whether there is one, whether the nearest
            may be gone to, and its offset to the right and down in sizes of the buffer.
    """

    looks: tuple[Tensor, Tensor, Tensor]
    places: Tensor
    near: tuple[Tensor, Tensor, Tensor]
    nearest: Tensor


class Map(nn.Module):
    """The input's tiles as rows of tables: `[B, SIZE]` to a `RoomSeen`."""

    around: Tensor
    places: Tensor
    far: Tensor
    apart: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("around", _tiles_around(), persistent=False)
        down, right = _tiles_apart()
        places = (down + TILE_ROWS - 1) * (2 * TILE_COLUMNS - 1) + right + TILE_COLUMNS - 1
        self.register_buffer("places", places, persistent=False)
        far = (down.abs() + right.abs()) * TILES + torch.arange(TILES)
        self.register_buffer("far", far, persistent=False)
        apart = torch.stack([right / TILE_COLUMNS, down / TILE_ROWS], dim=2)
        self.register_buffer("apart", apart, persistent=False)

    @torch.no_grad()
    def forward(self, inputs: Tensor) -> RoomSeen:
        rows = len(inputs)
        here = (inputs[:, _at("tile_row")] * TILE_COLUMNS + inputs[:, _at("tile_column")]).long()
        tiles = inputs[:, POLICY_INPUT["tiles"].span].long()
        things = inputs[:, THINGS].long()
        collisions = tiles.div(_TILE_KINDS, rounding_mode="floor")
        kinds, around = tiles - collisions * _TILE_KINDS, self.around[here]
        looks = kinds, collisions + _TILE_KINDS, things + (_TILE_KINDS + _COLLISIONS)
        near = looks[0].gather(1, around), looks[1].gather(1, around), looks[2].gather(1, around)
        # Minimum of distance and tile, combined in one number, for each kind.
        least = torch.full((rows, _THINGS), _NOWHERE, device=inputs.device)
        least.scatter_reduce_(1, things, self.far[here], "amin")
        least = least[:, 1:]
        there = least < _NOWHERE
        tile = torch.where(there, least % TILES, here[:, None])
        apart = self.apart[here[:, None], tile]
        can_go = inputs[:, ALLOWED][:, GO_TO.start :].gather(1, tile) * there
        nearest = torch.cat([there.float(), can_go, apart.flatten(1)], dim=1)
        return RoomSeen(looks, self.places[here], near, nearest)


class DecisionModule(TorchRLModule, InferenceOnlyAPI, ValueFunctionAPI):  # type: ignore[misc]  # ray has no types
    """Policy and critic.

    `model_config` has `hidden` (units per layer), `share_layers` (the critic uses the policy's
    features), `seed` (of the initial weights) and `normalize_inputs` (for the 128 numbers).
    """

    def setup(self) -> None:
        hidden: int = self.model_config["hidden"]
        self.shares: bool = self.model_config.get("share_layers", False)
        self.follows: bool = self.model_config.get("normalize_inputs", True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.model_config.get("seed", 0))
            self.scale = RunningScale(OBSERVATION_SIZE)
            self.map = Map()
            self.sight = Sight(hidden)
            self.named = _linear(hidden, GO_TO.start, _SMALL_HEAD)
            self.pointer = Pointer(hidden)
            self.critic = None if self.shares else Sight(hidden)
            self.vf = ValueHead(hidden)
            nn.init.orthogonal_(self.vf.linear.weight, 1.0)
            nn.init.zeros_(self.vf.linear.bias)
        self.action_dist_cls = TorchCategorical

    def get_non_inference_attributes(self) -> list[str]:
        return ["vf"] if self.shares else ["critic", "vf"]

    def logits(self, observations: Tensor, inputs: Tensor) -> Tensor:
        """`[B, COUNT]`; `NEVER` where a decision is not allowed."""
        room = self.map(inputs)
        return self._logits(self.sight(self.scale(observations), inputs, room), inputs, room)

    def _logits(self, features: Tensor, inputs: Tensor, room: RoomSeen) -> Tensor:
        logits = torch.cat([self.named(features), self.pointer(features, room)], dim=1)
        allowed = inputs[:, ALLOWED] > 0.5
        # Logits must be finite also for rows that are not from play and allow nothing.
        allowed = allowed | ~allowed.any(dim=1, keepdim=True)
        return torch.where(allowed, logits, NEVER)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.logits(batch[Columns.OBS], batch[POLICY_INPUTS])}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        inputs = batch[POLICY_INPUTS]
        room, observations = self.map(inputs), self.scale(batch[Columns.OBS])
        features = self.sight(observations, inputs, room)
        critics = features if self.critic is None else self.critic(observations, inputs, room)
        return {
            Columns.ACTION_DIST_INPUTS: self._logits(features, inputs, room),
            Columns.EMBEDDINGS: critics,
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        if embeddings is None:
            look = self.sight if self.critic is None else self.critic
            inputs = batch[POLICY_INPUTS]
            embeddings = look(self.scale(batch[Columns.OBS]), inputs, self.map(inputs))
        values: Tensor = self.vf(embeddings).squeeze(-1)
        return values

    def observe(self, batch: dict[str, Any]) -> None:
        """Add the observations of an update to the statistics; the outputs do not change.

        Called after the gradient steps, which must improve the policy that played.
        """
        if self.follows:
            reads = [self.sight] if self.critic is None else [self.sight, self.critic]
            self.scale.observe_for([each.first for each in reads], batch[Columns.OBS])


def decision_spec(
    hidden: int, *, share_layers: bool = False, seed: int = 0, normalize_inputs: bool = True
) -> RLModuleSpec:
    """Specification of a `DecisionModule`."""
    config = {"share_layers": share_layers, "seed": seed, "normalize_inputs": normalize_inputs}
    return RLModuleSpec(module_class=DecisionModule, model_config={"hidden": hidden, **config})


def _at(field: str) -> int:
    return POLICY_INPUT[field].start


def _code_table() -> tuple[list[int], list[int], int]:
    """Columns of codes, the offset of each in the common table, and the table's size.

    All items share their rows. Rooms and tiles have tables of their own.
    """
    columns: list[int] = []
    offsets: list[int] = []
    begins: dict[str, int] = {}
    rows = 0
    for field in POLICY_INPUT.fields:
        if field.codes is None or field.name in (*_GRID, "room"):
            continue
        whose = "items" if field.name in _ITEMS else field.name
        if whose not in begins:
            begins[whose] = rows
            rows += field.codes
        span = field.span
        columns += range(span.start, span.stop)
        offsets += [begins[whose]] * len(field.slots)
    return columns, offsets, rows


def _number_columns() -> list[int]:
    fields: list[Field] = [field for field in POLICY_INPUT.fields if field.codes is None]
    columns = [at for field in fields for at in range(field.span.start, field.span.stop)]
    to_tiles = range(ALLOWED.start + GO_TO.start, ALLOWED.start + GO_TO.stop)
    return [at for at in columns if at not in to_tiles]


def _tiles_around() -> Tensor:
    """`[192, 49]`, the tiles around each; beyond the buffer its last tile, which no room uses."""
    around = torch.full((TILES, _SIDE * _SIDE), TILES - 1)
    for tile in range(TILES):
        row, column = divmod(tile, TILE_COLUMNS)
        for place in range(_SIDE * _SIDE):
            dy, dx = divmod(place, _SIDE)
            y, x = row + dy - _RADIUS, column + dx - _RADIUS
            if 0 <= y < TILE_ROWS and 0 <= x < TILE_COLUMNS:
                around[tile, place] = y * TILE_COLUMNS + x
    return around


def _tiles_apart() -> tuple[Tensor, Tensor]:
    """Offset down and to the right from each tile to each, in tiles, `[192, 192]` both."""
    tiles = torch.arange(TILES)
    row, column = tiles // TILE_COLUMNS, tiles % TILE_COLUMNS
    return row[None, :] - row[:, None], column[None, :] - column[:, None]


def _linear(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def _table(rows: int, size: int) -> nn.Embedding:
    table = nn.Embedding(rows, size)
    nn.init.normal_(table.weight, std=size**-0.5)
    return table
