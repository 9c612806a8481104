from datetime import UTC, datetime

from rlaif.hud.read_model.journal import Journal

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def written(lines: int, *, keep: int = 1000) -> Journal:
    journal = Journal("e", keep=keep)
    for number in range(lines):
        journal.add("kind", f"line {number + 1}", at=NOON)
    return journal


def test_lines_after_an_id_come_oldest_first() -> None:
    page = written(5).after(2, limit=2)
    assert [line.id for line in page.items] == [3, 4]
    assert page.last_id == 5
    assert not page.gap


def test_a_reader_that_missed_dropped_lines_is_told() -> None:
    journal = written(10, keep=3)
    assert journal.after(5, limit=10).gap
    assert not journal.after(7, limit=10).gap


def test_an_empty_log_has_no_gap() -> None:
    page = written(0).after(0, limit=10)
    assert (page.items, page.gap, page.last_id) == ((), False, 0)
