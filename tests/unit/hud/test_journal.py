from rlaif.hud.read_model.journal import Journal
from rlaif.testing.data.events import NOON


def written(lines: int, *, keep: int = 1000) -> Journal:
    journal = Journal("e", keep=keep)
    for number in range(lines):
        journal.add("kind", f"line {number + 1}", at=NOON)
    return journal


def test_a_reader_that_missed_dropped_lines_is_notified() -> None:
    journal = written(10, keep=3)
    assert journal.after(6) is None
    assert [line.id for line in journal.after(7) or ()] == [8, 9, 10]
