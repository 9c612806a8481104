import pytest

from rlaif.contracts.telemetry.readings import PaidStep, PaidSteps
from rlaif.hud.read_model.trainer import StepWindow
from rlaif.testing.data.events import NOON


def reported(
    window: StepWindow, *numbers: int, env: str = "env-0", paid: float | None = 0.25
) -> None:
    steps = tuple(
        PaidStep(number=n, env_step=8 * n, reward=1.0, parts={"room": 1.0}, paid=paid)
        for n in numbers
    )
    window.add(PaidSteps(at=NOON, env=env, steps=steps), NOON)


def numbers(window: StepWindow, after: int | None = None) -> list[int]:
    return [step.number for step in window.view(after).steps]


def test_the_newest_steps_are_kept_with_their_sums() -> None:
    window = StepWindow(keep=3)
    reported(window, 1, 2)
    reported(window, 3, 4)
    view = window.view(None)
    assert numbers(window) == [2, 3, 4]
    assert (view.kept, view.reward_sum) == (3, 3.0)
    assert view.paid_sum == pytest.approx(0.75)


def test_a_sum_with_something_unknown_in_it_is_not_known() -> None:
    window = StepWindow()
    reported(window, 1, 2)
    reported(window, 3, paid=None)
    assert window.view(None).paid_sum is None
    assert window.view(None).reward_sum == 3.0


@pytest.mark.parametrize("next_number", [9, 1], ids=["some were lost", "the trainer began again"])
def test_what_lies_before_a_gap_is_dropped(next_number: int) -> None:
    window = StepWindow()
    reported(window, 5, 6)
    reported(window, next_number)
    assert numbers(window) == [next_number]


def test_another_environment_starts_from_0() -> None:
    window = StepWindow()
    reported(window, 5, 6)
    reported(window, 7, env="env-3")
    assert numbers(window) == [7]
    assert window.view(None).env == "env-3"


def test_a_reader_gets_the_steps_that_it_lacks() -> None:
    window = StepWindow()
    reported(window, 5, 6, 7)
    assert numbers(window, after=6) == [7]
    assert numbers(window, after=7) == []
    assert numbers(window, after=2) == [5, 6, 7]
    assert numbers(window, after=99) == [5, 6, 7]
