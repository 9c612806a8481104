"""Options of `rlaif evaluate` that contradict each other, or lack what they need."""

import pytest

from rlaif.trainer.evaluate import main


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--show", "--film"], "not allowed with"),
        (["--film", "--recorded", "1", "r1"], "not allowed with"),
        (["--recorded", "0", "r1"], "from 1"),
        (["--minutes", "1e308"], "above 0 to"),
        (["--film", "--speed", "1e9"], "from 0 to 1,000"),
    ],
)
def test_options_that_cannot_hold_end_with_a_usage_error(options, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_recorded_episodes_need_the_id_of_their_run(capsys):
    assert main(["--recorded", "2"]) == 2
    assert "--recorded needs the id of the run" in capsys.readouterr().err
