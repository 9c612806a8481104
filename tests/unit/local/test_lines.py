"""What the terminal shows fits it."""

from hypothesis import given
from hypothesis import strategies as st

from rlaif.local.lines import Part, fit, wrap

LINE = (Part("training"), Part("12 steps", 1), Part("12 episodes", 7), Part("12 captured", 4))


def test_everything_is_shown_where_there_is_room():
    assert fit(LINE) == fit(LINE, 120) == "training · 12 steps · 12 episodes · 12 captured"


def test_the_least_telling_parts_are_left_out_first():
    assert fit(LINE, 40) == "training · 12 steps · 12 captured"
    assert fit(LINE, 20) == "training · 12 steps"
    assert fit(LINE, 10) == "training"


def test_the_last_part_is_cut_with_an_ellipsis():
    assert fit(LINE, 5) == "trai…"
    assert fit([], 5) == ""


@given(
    st.lists(
        st.builds(Part, st.text(st.characters(codec="ascii"), max_size=30), st.integers(0, 9))
    ),
    st.integers(1, 120),
)
def test_no_line_is_wider_than_the_terminal(parts, width):
    assert len(fit(parts, width)) <= width


def test_words_are_wrapped_and_what_follows_is_indented():
    assert wrap("one two three four five six", 23, 3) == "one two three four five\n   six"
    assert wrap("a\nb", 80, 3) == "a\nb"


def test_a_path_is_not_cut():
    path = "/a/very/long/path/that/is/longer/than/the/terminal/is/wide.log"
    assert path in wrap(f"nats ended; log {path}", 40, 3).splitlines()[-1]
