"""Exploration of runners without a common directory, through the archive server."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.contracts.game.captures import EmulatorIdentity, GameIdentity
from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.stories.milestones import Milestone, Story, treasure
from rlaif.trainer.play.exploration import archive_server as server_module
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.archive_server import (
    Answer,
    ArchiveServer,
    CountFiles,
    Report,
    SentState,
)
from rlaif.trainer.play.exploration.choice import CellCounts
from rlaif.trainer.play.exploration.coverage import load_directory
from rlaif.trainer.play.exploration.exploration_folder import ExplorationFolder
from rlaif.trainer.play.exploration.explorer import ExploreConfig, Explorer
from rlaif.trainer.play.exploration.states import ArchiveIdentity, ArchiveRecord, Cell
from rlaif.trainer.settings.game import ExploreSettings

STORY = Story([Milestone("sword", "Sword", treasure(5))])
IDENTITY = ArchiveIdentity(
    game=GameIdentity(title="SEEDLING", rom_sha256="ab" * 32),
    emulator=EmulatorIdentity(version="2.8.1", sound_emulated=False),
    frame_skip=4,
)
MOST = 16
"""States in an archive, the least that the settings allow."""


class Line:
    """The connection to the server; it can be cut, and records its traffic."""

    def __init__(self, archive_server: ArchiveServer) -> None:
        self.archive_server = archive_server
        self.is_cut = False
        self.bytes: list[int] = []

    def _through(self) -> ArchiveServer:
        if self.is_cut:
            raise ConnectionError("the line is cut")
        return self.archive_server

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles:
        return self._through().files_of(identity, runner)

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer:
        answer = self._through().exchange(identity, report)
        self._note(answer.given)
        return answer

    def take(self, identity: ArchiveIdentity, states: tuple[SentState, ...]) -> None:
        self._through().take(identity, states)
        self._note(states)

    def collect(self, identity: ArchiveIdentity, played_from: Collection[str]) -> None:
        self._through().collect(identity, played_from)

    def _note(self, states: tuple[SentState, ...]) -> None:
        if states:
            self.bytes.append(sum(len(sent.packed) for sent in states))


class Machines:
    """A run's directory with its server, and runners on other machines."""

    def __init__(self, directory: Path, **changes: Any) -> None:
        self.run = directory / "run"
        self.settings = ExploreSettings(**{"practice": 0.0, "states": MOST, **changes})
        self._directory = directory
        self._begun = 0
        self.start_server()

    def start_server(self) -> None:
        self.archive_server = ArchiveServer(self.run, self.settings)

    def begin(self, runner: int) -> tuple[Explorer, Line]:
        """A runner on a machine without data of the run."""
        self._begun += 1
        line = Line(self.archive_server)
        own = ExploreConfig(self._directory / f"machine-{self._begun}", self.settings)
        return Explorer(
            own, runner=runner, identity=IDENTITY, story=STORY, archive_server=line
        ), line

    def beside(self, runner: int) -> Explorer:
        """A runner on the driver's machine, which shares the run's directory."""
        config = ExploreConfig(self.run, self.settings)
        return Explorer(config, runner=runner, identity=IDENTITY, story=STORY)

    @property
    def folder(self) -> ExplorationFolder:
        return ExplorationFolder.of(self.run, IDENTITY)

    def kept(self) -> StateArchive:
        """The archive of which a checkpoint takes a copy."""
        return StateArchive(self.folder.archive, IDENTITY, CellCounts(), max_states=MOST)


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def made(
    number: int, *, steps: int = 9, parent: str | None = "ef" * 32, **changes: Any
) -> tuple[ArchiveRecord, bytes]:
    """A state of room `number`."""
    packed, sha256 = pack_keyframe(f"state {number} {steps} ".encode() * 50)
    fields = {
        "sha256": sha256, "ram_sha256": "cd" * 32, "identity": IDENTITY, "parent": parent,
        "actions": "0123", "steps": steps, "room": number, "block": 0, "milestones": (),
        "healthy": True, "environment": "1-0",
    }  # fmt: skip
    return ArchiveRecord.model_validate({**fields, **changes}), packed


def find(explorer: Explorer, number: int, **changes: Any) -> ArchiveRecord:
    assert explorer.archive is not None
    record, packed = made(number, **changes)
    assert explorer.archive.put(record, packed)
    return record


def states(explorer: Explorer) -> tuple[ArchiveRecord, ...]:
    assert explorer.archive is not None
    return explorer.archive.records


def test_discoveries_reach_the_run_and_other_machines_in_two_exchanges(
    machines: Machines,
):
    (one, _), (two, _) = machines.begin(1), machines.begin(2)
    record = find(one, 7)
    for _ in range(2):
        one.visited.enter(0, 300)
        one.visited.end_episode(0)
    one.counts.seen[record.cell] += 5
    one.sync()
    two.sync()
    assert states(two) == (record,)
    assert two.archive is not None
    assert two.archive.load(record.sha256) == machines.kept().load(record.sha256)
    assert two.visited.episodes(300) == 2
    assert two.counts.elsewhere == {record.cell: 5}
    assert load_directory(machines.folder.coverage(1).parent).maps == one.coverage.maps
    assert one.visited.episodes(300) == 2, "its own play counts once"


def test_growing_counts_are_reported_each_time(machines: Machines):
    (one, _), (two, _) = machines.begin(1), machines.begin(2)
    cell = Cell(7, 0, ())
    for times in (1, 2, 3):
        one.visited.enter(0, 300)
        one.visited.end_episode(0)
        one.counts.seen[cell] += 1
        for explorer in (one, two):
            explorer.sync()
        assert two.visited.episodes(300) == two.counts.elsewhere[cell] == times


def test_local_and_remote_runners_share_everything(machines: Machines):
    (away, _), beside = machines.begin(1), machines.beside(2)
    first, second = find(away, 1), find(beside, 2)
    beside.visited.enter(0, 300)
    beside.visited.end_episode(0)
    for explorer in (beside, away, beside):
        explorer.sync()
    assert set(states(away)) == set(states(beside)) == {first, second}
    assert away.visited.episodes(300) == 1


def test_states_are_sent_immediately_and_counts_periodically(machines: Machines):
    explorer, _ = machines.begin(1)
    explorer.visited.enter(0, 300)
    explorer.end_fragment()
    assert load_directory(machines.folder.coverage(1).parent).union().rooms == 0
    find(explorer, 7)
    explorer.end_fragment()
    assert len(machines.kept()) == 1
    assert load_directory(machines.folder.coverage(1).parent).union().rooms == 1


def test_a_replacement_runner_resumes_with_counts_and_states(
    machines: Machines,
):
    lost, _ = machines.begin(1)
    found = {find(lost, number) for number in range(5)}
    lost.visited.enter(0, 300)
    lost.counts.seen[Cell(1, 0, ())] = 4
    lost.counts.fruitless[Cell(1, 0, ())] = 2
    lost.sync()
    new, _ = machines.begin(1)
    assert set(states(new)) == found
    assert new.coverage == lost.coverage
    assert (new.counts.seen, new.counts.fruitless) == (lost.counts.seen, lost.counts.fruitless)
    assert not new.counts.elsewhere, "nobody else has played"


def test_milestones_of_remote_runners_are_not_new(machines: Machines):
    one, _ = machines.begin(1)
    two, _ = machines.begin(2)
    find(one, 7, milestones=("sword",))
    one.sync()
    two.sync()
    three, _ = machines.begin(3)
    for runner in (two, three):
        assert runner.saver is not None
        assert runner.saver.known == {"sword"}


def test_bounded_messages_still_transfer_everything(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
):
    one, line = machines.begin(1)
    for number in range(10):
        find(one, number, steps=10 + number)
    size = max(len(made(number, steps=10 + number)[1]) for number in range(10))
    monkeypatch.setattr(server_module, "MAX_BYTES", 3 * (size + len("0123")))
    one.sync()
    assert {record.room for record in machines.kept().records} == {0, 1, 2}, "parents come first"
    one.state_dict()
    assert len(machines.kept()) == 10
    _, begun = machines.begin(2)
    for each in (line, begun):
        assert len(each.bytes) == 4
        assert max(each.bytes) <= server_module.MAX_BYTES


def test_a_better_state_replaces_the_other_everywhere(machines: Machines):
    (one, _), (two, _) = machines.begin(1), machines.begin(2)
    slow = find(one, 7, steps=90)
    for explorer in (one, two):
        explorer.sync()
    quick = find(two, 7, steps=10)
    for explorer in (two, one):
        explorer.sync()
    assert states(one) == states(two) == machines.kept().records == (quick,)
    assert machines.kept().dropped() == {slow.sha256}


def test_a_lineage_is_complete_despite_early_drops(
    machines: Machines,
):
    one, _ = machines.begin(1)
    start = find(one, 1, parent=None, steps=0)
    middle = find(one, 2, parent=start.sha256, steps=20)
    end = find(one, 3, parent=middle.sha256, steps=25)
    find(one, 2, parent=start.sha256, steps=5)
    one.sync()
    assert machines.kept().get(middle.sha256) is None
    assert machines.kept().lineage(end.sha256) == (start, middle, end)


def test_a_state_dropped_by_one_machine_is_dropped_by_all(machines: Machines):
    (one, _), (two, _) = machines.begin(1), machines.begin(2)
    for number in range(MOST):
        find(one, number)
    for explorer in (one, two):
        explorer.sync()
    one.counts.seen[Cell(3, 0, ())] = 50
    find(one, MOST)
    for explorer in (one, two):
        explorer.sync()
    rooms = {record.room for record in states(one)}
    assert rooms == set(range(MOST + 1)) - {3}
    assert states(one) == states(two) == machines.kept().records


def test_a_rejected_state_is_not_sent_again(machines: Machines):
    (one, line), (two, _) = machines.begin(1), machines.begin(2)
    find(two, 1, parent=None, steps=0, room=2)
    find(two, 1)
    find(one, 1, parent=None, steps=0)  # the same start, left along another trajectory
    for explorer in (two, one):
        explorer.sync()
    assert len(line.bytes) == 1
    assert len(states(one)) == 1
    one.sync()
    assert len(line.bytes) == 1


def test_play_continues_while_the_server_is_down_and_nothing_is_lost(
    machines: Machines,
):
    (one, line), (two, _) = machines.begin(1), machines.begin(2)
    find(two, 1)
    two.visited.enter(0, 300)
    two.visited.end_episode(0)
    for explorer in (two, one):
        explorer.sync()
    line.is_cut = True
    find(one, 2)
    one.end_fragment()
    assert "the line is cut" in (one.trouble or "")
    assert one.visited.episodes(300) == 1, "what it was told stays"
    line.is_cut = False
    machines.start_server()  # its data is on disk
    line.archive_server = machines.archive_server
    one.end_fragment()
    assert one.trouble is None
    assert {record.room for record in machines.kept().records} == {1, 2}


def test_a_runner_does_not_start_without_its_counts(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(machines.archive_server, "files_of", _unreachable)
    with pytest.raises(ConnectionError):
        machines.begin(1)


def _unreachable(*_: Any) -> CountFiles:
    raise ConnectionError("no route")


def test_without_restarts_only_places_are_shared(tmp_path: Path):
    machines = Machines(tmp_path, restarts=0.0)
    (one, _), (two, _) = machines.begin(1), machines.begin(2)
    one.visited.enter(0, 300)
    one.visited.end_episode(0)
    for explorer in (one, two):
        explorer.sync()
    assert two.visited.episodes(300) == 1
    assert not machines.folder.archive.exists()


def test_records_without_descendants_are_deleted_on_the_server(machines: Machines):
    one, _ = machines.begin(1)
    find(one, 7, steps=90)
    played_from = find(one, 8, steps=90)
    find(one, 7, steps=10)
    find(one, 8, steps=10)
    saved = one.state_dict()
    assert len(machines.kept().dropped()) == 2
    again, _ = machines.begin(1)
    again.load_state_dict(saved, played_from=[played_from.sha256])
    assert machines.kept().dropped() == {played_from.sha256}


ACTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["find", "sync", "lose"]), st.integers(0, 30)),
    max_size=60,
)


@given(acts=ACTS, seed=st.integers(0, 1000))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_all_archives_converge(
    acts: list[tuple[int, str, int]], seed: int, tmp_path_factory: pytest.TempPathFactory
):
    machines = Machines(tmp_path_factory.mktemp("machines"))
    rng = np.random.default_rng(seed)
    explorers = [machines.begin(0)[0], machines.begin(1)[0], machines.beside(2)]
    begin: list[Callable[[], Explorer]] = [
        lambda: machines.begin(0)[0],
        lambda: machines.begin(1)[0],
        lambda: machines.beside(2),
    ]
    for who, act, room in acts:
        explorer = explorers[who]
        if act == "find":
            assert explorer.archive is not None
            record, packed = made(room, steps=int(rng.integers(1, 100)))
            explorer.archive.put(record, packed)
            explorer.counts.seen[record.cell] += int(rng.integers(5))
        elif act == "sync":
            explorer.sync()
        else:
            explorers[who] = begin[who]()
    for _ in range(4):
        for explorer in explorers:
            explorer.sync()
    assert states(explorers[0]) == states(explorers[1]) == states(explorers[2])
    assert states(explorers[0]) == machines.kept().records
    assert len(states(explorers[0])) <= MOST
