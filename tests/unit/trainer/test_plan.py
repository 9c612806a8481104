"""When a run saves, evaluates and ends."""

from rlaif.trainer.run_folder.plan import Plan
from rlaif.trainer.settings.run import Mode, RunSettings


def plan(mode: Mode = "continuous", *, first_step: int = 0, eval_interval: int = 1) -> Plan:
    run = RunSettings(mode=mode, epoch_steps=1000, run_hours=1.0, checkpoint_minutes=10.0)
    return Plan(run, eval_interval, first_step)


def test_an_epoch_ends_at_the_next_multiple_wherever_it_began():
    assert plan("epoch").end(999, 0.0) is None
    assert plan("epoch").end(1000, 0.0) == "epoch"
    assert plan("epoch", first_step=400).end(1001, 0.0) == "epoch", "resumed after a kill"
    assert plan("epoch", first_step=1001).end(1100, 0.0) is None, "the next epoch"


def test_it_saves_at_the_end_of_an_epoch_and_after_a_while():
    assert plan().saves(900, 1020, 3001.0, 3000.0)
    assert not plan().saves(100, 200, 3599.0, 3000.0)
    assert plan().saves(100, 200, 3600.0, 3000.0)


def test_a_kill_costs_a_young_run_half_of_its_training_at_most():
    assert not plan().saves(100, 200, 30.0, 1.0)
    assert plan().saves(100, 200, 31.0, 1.0)
    assert not plan().saves(100, 200, 199.0, 100.0)
    assert plan().saves(100, 200, 200.0, 100.0)


def test_a_pipeline_evaluates_every_so_many_epochs_once():
    each, second = plan("pipeline"), plan("pipeline", eval_interval=2)
    assert each.evaluates(999, set()) is None
    assert each.evaluates(1010, set()) == 0
    assert each.evaluates(1010, {0}) is None
    assert [second.evaluates(steps, set()) for steps in (1000, 2000, 3000)] == [None, 1, None]
    assert plan("pipeline", eval_interval=0).evaluates(5000, set()) is None
    assert plan("continuous").evaluates(5000, set()) is None
