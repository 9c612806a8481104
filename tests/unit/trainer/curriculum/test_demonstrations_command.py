"""`rlaif demonstrations` with a wrong ROM."""

from rlaif.trainer.curriculum import __main__ as command


def test_a_missing_rom_is_reported_without_a_traceback(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("os.nice", lambda _: 0)
    options = [str(tmp_path), "--out", str(tmp_path / "out"), "--rom", str(tmp_path / "no.gbc")]
    assert command.main(options) == 2
    assert "no ROM at" in capsys.readouterr().err
