"""Exploration of one runner: counts, archived states, starts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.game.captures import EmulatorIdentity, GameIdentity
from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.machine.actions import Action
from rlaif.game.stories.milestones import Milestone, Story, treasure
from rlaif.trainer.play.exploration.approach import ApproachState
from rlaif.trainer.play.exploration.explorer import ExploreConfig, Explorer
from rlaif.trainer.play.exploration.practice import MORE_STEPS, PATIENCE
from rlaif.trainer.play.exploration.states import ArchiveIdentity
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.start import Start, StartSet
from rlaif.trainer.settings.game import ExploreSettings

STORY = Story([Milestone("sword", "Sword", treasure(5)), Milestone("gate", "Gate", treasure(6))])
IDENTITY = ArchiveIdentity(
    game=GameIdentity(title="SEEDLING", rom_sha256="ab" * 32),
    emulator=EmulatorIdentity(version="2.8.1", sound_emulated=False),
    frame_skip=4,
)


class Machine:
    """The part of an emulator that exploration uses, over a scripted game's RAM."""

    has_banks = False

    def __init__(self, game: Any) -> None:
        self.game = game
        self.saves = 0

    def wram(self) -> bytes:
        return bytes(self.game.wram)

    def save_state(self) -> bytes:
        self.saves += 1
        return bytes(self.game.wram)

    def ram_digest(self) -> str:
        return pack_keyframe(bytes(self.game.wram)).sha256


class Watched:
    """The part of an environment that a follower uses."""

    frames = 0

    def __init__(self) -> None:
        self.cuts: list[int] = []

    def cut_after(self, frames: int, *, lost: bool = False) -> None:
        self.cuts.append(frames)


class Played:
    """One environment of an explorer, played by a test."""

    def __init__(self, explorer: Explorer, game: Any, n: int = 0) -> None:
        self.environment = Watched()
        self.watcher: EpisodeFollower = explorer.environment(n, self.environment)
        self.game = game
        self.machine: Any = Machine(game)
        self.begin(Start.of(self.machine.save_state(), "test"))
        self.machine.saves = 0

    def begin(self, start: Start, warm_up: Any = ()) -> None:
        self.watcher.begin_episode(self.machine, self.game.facts, start, warm_up)

    def walk(self, room: int, x: int = 80, y: int = 64, action: int = Action.UP) -> None:
        self.game.go(0, room, x, y)
        self.step(action)

    def step(self, action: int = Action.NOP, wait: int = 0) -> None:
        self.watcher.after_step(self.machine, self.game.facts, action, wait)


@pytest.fixture
def explore(tmp_path: Path) -> Callable[..., Explorer]:
    def make(runner: int = 1, **changes: Any) -> Explorer:
        options: dict[str, Any] = {"save_every": 3, "sync_every": 1}
        options |= {name: changes.pop(name) for name in options if name in changes}
        settings = ExploreSettings(**{"restarts": 1.0, "practice": 0.0, **changes})
        config = ExploreConfig(tmp_path, settings, **options)
        return Explorer(config, runner=runner, identity=IDENTITY, story=STORY)

    return make


@pytest.fixture
def new_game(scripted_game: Callable[..., Any]) -> Callable[[], Any]:
    return scripted_game


def given() -> StartSet:
    return StartSet([Start.of(b"the start", "given")])


def test_places_are_counted_once_the_player_has_arrived(explore: Any, new_game: Any):
    explorer = explore(restarts=0.0)
    played = Played(explorer, new_game())
    played.walk(0x66)
    played.walk(0x66)
    played.walk(0x65)
    played.game.poke("wScrollMode", 8)
    played.walk(0x77)
    found = explorer.coverage.of("1-0")
    assert sorted(found.visits.values()) == [1, 2], "standing is no entry, scrolling no place"
    assert found.rooms == 2
    assert explorer.archive is None
    assert played.machine.saves == 0, "a state is 36 ms: none without restarts"


def test_a_visit_counts_for_novelty_after_its_episode(explore: Any, new_game: Any):
    explorer = explore(restarts=0.0)
    played = Played(explorer, new_game())
    square = played.game.facts.square_index
    assert explorer.visited.episodes(square) == 0
    for episodes in (1, 2):
        played.begin(Start.of(b"again", "test"))
        assert explorer.visited.episodes(square) == episodes


def test_coverage_is_persistent_and_shared_with_other_runners(explore: Any, new_game: Any):
    first = explore(runner=1)
    played = Played(first, new_game())
    square = played.game.facts.square_index
    played.begin(Start.of(b"again", "test"))
    first.end_fragment()
    assert explore(runner=1).coverage == first.coverage
    other = explore(runner=2)
    assert other.visited.episodes(square) == 0
    other.sync()
    assert other.visited.episodes(square) == 1


def test_a_state_of_a_new_cell_is_archived_with_its_actions(explore: Any, new_game: Any):
    explorer = explore()
    played = Played(explorer, new_game())
    start = explorer.archive.records[0]
    assert start.parent is None
    played.walk(0x66, action=Action.RIGHT)
    (record,) = [r for r in explorer.archive.records if r.parent is not None]
    assert (record.room, record.parent, record.actions) == (0x66, start.sha256, "3")
    assert record.steps == 1
    played.walk(0x66, x=82, action=Action.UP)
    played.step(Action.A, wait=9)
    played.walk(0x67, action=Action.RIGHT)
    last = explorer.archive.at(explorer.archive.cells[-1])
    assert (last.parent, last.actions, last.waits) == (record.sha256, "043", ((1, 9),))
    assert last.steps == 4
    assert [r.sha256 for r in explorer.archive.lineage(last.sha256)] == [
        start.sha256, record.sha256, last.sha256,
    ]  # fmt: skip


def test_the_warm_up_is_part_of_the_trajectory(explore: Any, new_game: Any):
    explorer = explore()
    played = Played(explorer, new_game())
    played.begin(Start.of(bytes(played.game.wram), "test"), [(7, 0), (7, 5)])
    played.walk(0x66, action=Action.DOWN)
    record = explorer.archive.at(explorer.archive.cells[0])
    assert (record.actions, record.waits) == ("771", ((1, 5),))


def test_states_are_archived_periodically_but_milestones_immediately(explore: Any, new_game: Any):
    explorer = explore(save_every=1000)
    played = Played(explorer, new_game())
    played.walk(0x66)
    assert played.machine.saves == 1, "the first one"
    for room in range(0x70, 0x80):
        played.walk(room)
    assert played.machine.saves == 1
    played.game.flag("wObtainedTreasureFlags", 5)
    played.step(Action.A)
    assert played.machine.saves == 2
    assert explorer.archive.first_with("sword").room == 0x7F


def test_no_state_is_archived_during_texts_and_deaths(explore: Any, new_game: Any):
    explorer = explore()
    played = Played(explorer, new_game())
    played.game.poke("wTextIsActive", 1)
    played.walk(0x66)
    assert played.machine.saves == 0
    played.game.poke("wTextIsActive", 0)
    played.step()
    assert played.machine.saves == 1
    played.game.poke("wLinkHealth", 0)
    for _ in range(5):
        played.step()
    played.walk(0x67)
    assert played.machine.saves == 1


def test_an_unhealthy_state_is_replaced_by_a_healthy_one(explore: Any, new_game: Any):
    explorer = explore()
    played = Played(explorer, new_game())
    played.game.poke("wLinkHealth", 2)
    played.walk(0x66)
    assert not explorer.archive.at(explorer.archive.cells[0]).healthy
    for _ in range(4):
        played.walk(0x65)
    played.game.poke("wLinkHealth", 12)
    played.walk(0x66)
    assert explorer.archive.at(explorer.archive.cells[0]).healthy


def test_the_configured_share_of_episodes_starts_at_archived_states(explore: Any, new_game: Any):
    explorer = explore(restarts=0.25)
    starts = explorer.starts(given())
    rng = np.random.default_rng(4)
    assert {starts.choose(rng).provenance for _ in range(20)} == {"given"}, "nothing kept yet"
    played = Played(explorer, new_game())
    played.walk(0x66)
    (cell,) = explorer.archive.cells
    drawn = [starts.choose(rng) for _ in range(1000)]
    archived = [start for start in drawn if start.provenance.startswith("archive:")]
    assert len(archived) == pytest.approx(250, abs=50)
    assert archived[0].state == bytes(played.game.wram)
    assert explorer.counts.fruitless[cell] == len(archived)


def test_equal_generators_choose_equal_starts(explore: Any, new_game: Any):
    explorer = explore(restarts=0.5)
    played = Played(explorer, new_game())
    for room in range(0x70, 0x78):
        for _ in range(4):
            played.walk(room)
    drawn = []
    for _ in range(2):
        explorer.counts.fruitless.clear()
        starts, rng = explorer.starts(given()), np.random.default_rng(9)
        drawn.append([starts.choose(rng).provenance for _ in range(60)])
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 4


def test_a_new_cell_restores_the_weight_of_the_start_cell(explore: Any, new_game: Any):
    explorer = explore()
    played = Played(explorer, new_game())
    played.walk(0x66)
    (cell,) = explorer.archive.cells
    start = explorer.starts(given()).choose(np.random.default_rng(0))
    explorer.counts.fruitless[cell] = 7
    played.begin(start)
    for _ in range(4):
        played.walk(0x66)
    assert explorer.counts.fruitless[cell] == 7
    played.walk(0x67)
    assert explorer.counts.fruitless[cell] == 0


def test_cell_counts_are_persistent_and_shared(explore: Any, new_game: Any):
    explorer = explore(runner=1)
    played = Played(explorer, new_game())
    for room in (0x66, 0x65, 0x66):
        played.walk(room)
    cell = explorer.archive.cells[0]
    explorer.counts.fruitless[cell] = 3
    weight = explorer.counts.weight(cell)
    explorer.sync()
    assert explore(runner=1).counts.weight(cell) == weight < 1
    other = explore(runner=2)
    assert other.counts.weight(cell) == 1
    other.sync()
    assert other.counts.elsewhere[cell] == explorer.counts.seen[cell] == 2
    assert other.counts.weight(cell) < 1


def test_another_game_emulator_or_frame_skip_has_its_own_folder(
    explore: Any, new_game: Any, tmp_path: Path
):
    explorer = explore()
    Played(explorer, new_game()).walk(0x66)
    explorer.sync()
    faster = IDENTITY.model_copy(update={"frame_skip": 8})
    config = ExploreConfig(tmp_path, ExploreSettings(restarts=1.0))
    anew = Explorer(config, runner=1, identity=faster, story=STORY)
    assert anew.archive is not None
    assert len(anew.archive) == 0
    assert anew.coverage.maps == {}
    assert len(explore().archive) > 0


def test_a_damaged_state_is_skipped(explore: Any, new_game: Any, tmp_path: Path):
    explorer = explore()
    Played(explorer, new_game()).walk(0x66)
    for path in tmp_path.glob("exploration/*/archive/states/*.zst"):
        path.write_bytes(b"")
    start = explorer.starts(given()).choose(np.random.default_rng(0))
    assert start.provenance == "given"


def test_milestones_of_the_start_or_an_earlier_process_are_not_new(explore: Any, new_game: Any):
    game = new_game()
    game.flag("wObtainedTreasureFlags", 5)
    explorer = explore()
    played = Played(explorer, game)
    assert explorer.saver.known == {"sword"}
    game.flag("wObtainedTreasureFlags", 6)
    played.step()
    assert explorer.saver.known == {"sword", "gate"}
    assert explore(save_every=1000).saver.known == {"sword", "gate"}


def test_milestones_of_another_runner_are_not_new(explore: Any, new_game: Any):
    one, two = explore(runner=1), explore(runner=2)
    played = Played(one, new_game())
    Played(two, new_game())
    played.game.flag("wObtainedTreasureFlags", 5)
    played.step(Action.A)
    two.sync()
    assert two.saver.known == {"sword"}


def test_a_checkpoint_of_0_1_0_resumes_with_its_known_milestones(explore: Any):
    explorer = explore()
    state = explorer.state_dict()
    del state["known"]
    explorer.load_state_dict(state | {"swarm": {"calls": [("gate", 2)], "known": {"sword"}}})
    assert explorer.saver.known == {"sword"}


def test_a_full_disk_costs_states_but_play_continues(
    explore: Any, new_game: Any, monkeypatch: pytest.MonkeyPatch
):
    explorer = explore()
    played = Played(explorer, new_game())
    folder = explorer.archive._states
    folder.rename(folder.with_name("elsewhere"))
    folder.write_bytes(b"in the way")
    for room in range(0x70, 0x78):
        played.walk(room)
    assert "Not a directory" in (explorer.trouble or "")
    explorer.end_fragment()
    folder.unlink()
    folder.with_name("elsewhere").rename(folder)
    for room in range(0x80, 0x88):
        played.walk(room)
    explorer.end_fragment()
    assert explorer.trouble is None
    assert explorer.archive.cells, "states are kept again"


def test_play_continues_without_an_archive_if_none_can_be_created(tmp_path: Path, explore: Any):
    (tmp_path / "exploration").write_bytes(b"in the way")
    explorer = explore()
    assert explorer.archive is None
    assert explorer.starts(given()).choose(np.random.default_rng(0)).provenance == "given"
    assert explorer.trouble is not None


def test_a_practice_attempt_ends_on_timeout_or_success(explore: Any, new_game: Any):
    explorer = explore(practice=1.0, restarts=0.0)
    played = Played(explorer, new_game())
    moment = ApproachState(pack_keyframe(b"before the gate"), "ab" * 32, 40, "000", (), distance=16)
    explorer.practice.learn("gate", [moment])
    start = explorer.starts(given()).choose(np.random.default_rng(0))
    assert start.provenance.startswith("practice:")
    played.begin(start)
    assert played.environment.cuts == [4 * (PATIENCE * 16 + MORE_STEPS)]
    assert explorer.saver.played_from == ["ab" * 32], "told since the state before it"
    played.environment.frames = 60
    played.game.flag("wObtainedTreasureFlags", 5)
    played.step()
    assert len(played.environment.cuts) == 1, "another milestone"
    played.game.flag("wObtainedTreasureFlags", 6)
    played.step()
    assert played.environment.cuts[1:] == [60]
    played.begin(Start.of(b"elsewhere", "test"))
    assert len(played.environment.cuts) == 2, "an ordinary episode has its own length"


def test_a_failed_replay_is_reported_and_play_continues(explore: Any, new_game: Any):
    explorer = explore(practice=0.25)
    played = Played(explorer, new_game())
    for state in explorer.archive._states.iterdir():
        state.write_bytes(b"damaged")
    played.game.flag("wObtainedTreasureFlags", 5)
    played.walk(0x66)
    assert "cannot practise sword" in (explorer.trouble or "")
    assert explorer.archive.first_with("sword"), "the state itself is kept"
    played.walk(0x70)
    for room in range(0x71, 0x75):
        played.walk(room)
    assert explorer.trouble is None


def test_practice_continues_in_a_resumed_run(explore: Any, new_game: Any):
    explorer, resumed = explore(practice=1.0), explore(practice=1.0)
    moment = ApproachState(pack_keyframe(b"before the gate"), "ab" * 32, 40, "000", (), distance=16)
    Played(explorer, new_game())
    explorer.practice.learn("gate", [moment])
    resumed.load_state_dict(explorer.state_dict(), played_from=explorer.saver.played_from)
    start = resumed.starts(given()).choose(np.random.default_rng(0))
    assert start.keyframe.sha256 == moment.keyframe.sha256
    older = {name: value for name, value in explorer.state_dict().items() if name != "practice"}
    explore(practice=1.0).load_state_dict(older)
