"""How a command ends on an error of the operating system, and in odd locales."""

import errno
import io
import os
import resource
import subprocess
import sys
from contextlib import nullcontext

import pytest

from rlaif.files.failures import (
    WRONG_INPUT,
    CommandError,
    check_address_space,
    command,
    why,
)


def failing_with(error: Exception):
    @command("rlaif-x", KeyError)
    def main() -> int:
        raise error

    return main


def test_the_error_names_what_is_wrong_and_where():
    assert why(FileNotFoundError(2, "No such file", "a")) == "No such file: a"
    assert why(OSError(18, "Cross-device link", "a", None, "b")) == "Cross-device link: b"
    assert why(OSError("words")) == "words"
    assert why(ConnectionError()) == "ConnectionError"


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/var/x"),
        NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), "/var/x"),
        OSError(errno.EROFS, os.strerror(errno.EROFS), "/var/x"),
    ],
)
def test_a_command_ends_with_one_sentence_that_names_the_path(error, capsys):
    assert failing_with(error)() == WRONG_INPUT
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"rlaif-x: error: {error.strerror}: /var/x\n")


@pytest.mark.parametrize(
    ("error", "code"), [(KeyError("no run"), WRONG_INPUT), (CommandError("no display", 7), 7)]
)
def test_an_error_that_a_command_expects_ends_it_with_one_sentence(error, code, capsys):
    assert failing_with(error)() == code
    assert capsys.readouterr().err == f"rlaif-x: error: {error}\n"


def test_any_other_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        failing_with(ZeroDivisionError())()


def test_arguments_and_the_exit_code_are_passed_on():
    @command("rlaif-x")
    def main(arguments: list[str], *, code: int) -> int:
        """What it does."""
        return len(arguments) + code

    assert main(["a", "b"], code=1) == 3
    assert main.__doc__ == "What it does."


def test_characters_that_the_terminal_lacks_are_replaced(monkeypatch):
    written = io.BytesIO()
    latin = io.TextIOWrapper(written, encoding="iso-8859-1")
    monkeypatch.setattr(sys, "stdout", latin)

    @command("rlaif-x")
    def main() -> int:
        sys.stdout.write("✓ é\n")
        return 0

    assert main() == 0
    assert written.getvalue() == b"? \xe9\n"


def test_a_reader_that_has_seen_enough_ends_it_quietly():
    program = (
        "import sys\nfrom rlaif.files.failures import command\n"
        "@command('rlaif-x')\ndef main():\n"
        "    while True: sys.stdout.write('x' * 4096)\n"
        "sys.exit(main())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_with_closed_streams_runs_and_gives_their_numbers_to_no_file(tmp_path, closed):
    program = (
        "import os, sys\nfrom rlaif.files.failures import command\n"
        "@command('rlaif-x')\ndef main():\n"
        "    sys.stdout.write('x')\n    sys.stderr.write('x')\n"
        f"    return 7 if os.open({str(tmp_path / 'file')!r}, os.O_CREAT) > 2 else 8\n"
        "sys.exit(main())"
    )
    shell = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, program]
    assert subprocess.run(shell, check=False).returncode == 7


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_a_lack_of_memory_is_one_sentence_that_names_the_limit(capsys, error):
    @command("rlaif-x")
    def main() -> int:
        raise error

    assert main() == WRONG_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rlaif-x: error: ")
    assert "ulimit -v" in line


def test_another_error_keeps_its_traceback():
    @command("rlaif-x")
    def main() -> int:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        main()


@pytest.mark.parametrize(("limit", "enough"), [(1 << 30, False), (2 << 30, True), (-1, True)])
def test_too_small_an_address_space_is_refused(monkeypatch, limit, enough):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, -1))
    with nullcontext() if enough else pytest.raises(CommandError, match="ulimit -v"):
        check_address_space(2 << 30)
