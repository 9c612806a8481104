"""Runs of a folder and of a page, and the errors without one."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rlaif.client import ClientError, Run, status
from rlaif.client.export import main as export
from rlaif.client.status import report

POINT = {"env_step": 100, "entropy": None, "paid": {"shaping": 0.5, "game": 1.0}}
STATE = {
    "run": {
        "run_id": "r1", "status": "training", "iteration": 3, "env_steps": 4096, "episodes": None,
    },
    "loop": {"captured": 5, "exported": 5, "scored": None},
    "reward_models": {"champion": {"version": 2}},
    "headline": {"text": "It improves."},
    "services": [{"name": "judge", "state": "silent"}, {"name": "hud", "state": "ready"}],
    "issues": [],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run, whose last row was torn by a kill."""
    (tmp_path / "run.json").write_text(json.dumps({"provenance": {"settings": {"GAMMA": "0.9"}}}))
    rows = [{"step": 1, "a": 0.5}, {"step": 2, "b": 1}]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "metrics.jsonl").write_text(lines + '{"step": 3, "a"')
    return tmp_path


@pytest.fixture
def page():
    """A server that answers as the HUD does; its `issues` are those of the state."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if "/foreign/" in self.path:
                self._answer(200, [{}])
            elif "run=none" in self.path:
                self._answer(404, {"title": "No such run", "detail": "There is no run 'none'."})
            elif "run=starting" in self.path:
                self._answer(200, {"run_id": "starting", "points": []})
            elif "/history" in self.path:
                self._answer(200, {"run_id": "r1", "points": [POINT]})
            elif "/runs/" in self.path:
                self._answer(200, {"provenance": {"settings": {"GAMMA": "0.99"}}})
            else:
                self._answer(200, STATE | {"issues": issues})

        def _answer(self, code: int, body: object) -> None:
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None: ...

    asked: list[str] = []
    issues: list[dict[str, str]] = []
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked, issues
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_run_without_an_iteration_is_distinguished_from_another_folder(folder, tmp_path):
    (folder / "metrics.jsonl").unlink()
    with pytest.raises(ClientError, match="first iteration has not ended"):
        Run(folder).rows()
    (folder / "metrics.jsonl").touch()  # resumed from its first step
    with pytest.raises(ClientError, match="first iteration has not ended"):
        Run(folder).rows()
    with pytest.raises(ClientError, match="is it the folder of a run"):
        Run(tmp_path.parent).rows()


def test_a_run_of_the_page_without_an_iteration_is_an_error_too(page):
    with pytest.raises(ClientError, match="run starting: its first iteration has not ended"):
        Run("starting", page[0]).rows()


def test_without_a_page_the_folder_of_the_run_is_named(page):
    with pytest.raises(ClientError, match=r"by its folder: var/trainer/runs/none$"):
        Run("none", page[0]).rows()


def test_the_history_of_a_folder_is_a_data_frame(folder):
    history = Run(folder).history()
    assert list(history.columns) == ["step", "a", "b"]
    assert history["step"].tolist() == [1, 2], "the torn line is left out"
    assert history["b"].isna().tolist() == [True, False], "unknown is not 0"


def test_settings_are_those_of_the_folder_or_of_the_page(folder, page):
    assert Run(folder).settings() == {"GAMMA": "0.9"}
    url, asked, _ = page
    assert Run("r1", url).settings() == {"GAMMA": "0.99"}
    assert Run(url=url).settings() == {"GAMMA": "0.99"}
    assert asked[-2:] == ["/api/v1/history?points=2", "/api/v1/runs/r1"]
    (folder / "run.json").write_text("{}")
    with pytest.raises(ClientError, match="did not record"):
        Run(folder).settings()
    (folder / "run.json").write_bytes(b"\xff")
    with pytest.raises(ClientError, match=r"run.json is damaged"):
        Run(folder).settings()


def test_the_history_of_a_page_has_flat_columns(page):
    url, asked, _ = page
    assert Run(url=url).rows() == [
        {"env_step": 100, "entropy": None, "paid.shaping": 0.5, "paid.game": 1.0}
    ]
    assert asked == ["/api/v1/history?points=1000"]


def test_a_run_that_the_page_does_not_know_is_an_error_with_its_detail(page):
    with pytest.raises(ClientError, match="There is no run"):
        Run("none", page[0]).rows()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://x", "http://127.0.0.1:99999"])
def test_no_page_at_the_address_is_an_error(url):
    with pytest.raises(ClientError):
        Run(url=url).rows()


@pytest.mark.parametrize("command", [status.main, export])
def test_a_server_that_is_no_page_is_reported_as_such(page, monkeypatch, capsys, command):
    monkeypatch.setattr("sys.argv", ["rlaif", "--url", f"{page[0]}/foreign"])
    assert command() == 2
    assert "answers as the page" in capsys.readouterr().err


def test_a_page_of_another_release_is_reported_as_such(page, monkeypatch, capsys):
    page[2].append({"service": "judge"})
    monkeypatch.setattr("sys.argv", ["rlaif", "--url", page[0]])
    assert status.main() == 2
    assert "is of another release: KeyError('description')" in capsys.readouterr().err


def test_a_server_that_speaks_no_http_is_reported_as_such():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                connection.recv(4096)

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(ClientError, match="answers as the page"):
            Run(url=f"http://127.0.0.1:{listener.getsockname()[1]}").rows()
        thread.join()


@pytest.mark.parametrize("address", ["http://me:secret@127.0.0.1:9", "http://[::1", "http://h:x"])
def test_an_address_that_cannot_be_used_is_shown_without_its_password(address):
    with pytest.raises(ClientError, match="not an address") as raised:
        Run(url=address).rows()
    assert "secret" not in str(raised.value)


def test_a_folder_that_is_missing_or_holds_no_run_is_an_error(tmp_path):
    with pytest.raises(ClientError):
        Run(tmp_path / "missing")
    with pytest.raises(ClientError):
        Run(tmp_path).rows()


def test_without_pandas_the_error_names_it_and_rows_work(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ClientError, match="pip install pandas"):
        Run(folder).history()
    assert len(Run(folder).rows()) == 2


def test_export_writes_all_columns(folder, tmp_path, monkeypatch, capsys):
    out = tmp_path / "new" / "run.csv"
    monkeypatch.setattr("sys.argv", ["rlaif export", str(folder), "--out", str(out)])
    assert export() == 0
    assert out.read_text() == "step,a,b\n1,0.5,\n2,,1\n"
    monkeypatch.setattr("sys.argv", ["rlaif export", str(tmp_path / "missing")])
    assert export() == 2
    assert "Traceback" not in capsys.readouterr().err


def test_status_shows_unknown_numbers_as_unknown():
    lines = list(report(STATE))
    assert "trained   iteration 3, ? episodes, 4,096 steps" in lines
    assert "service   judge is silent" in lines
    assert next(report(STATE | {"run": None})) == "run       none yet"


def test_the_exit_code_of_status_says_whether_there_is_an_issue(page, monkeypatch, capsys):
    url, _, issues = page
    monkeypatch.setattr("sys.argv", ["rlaif status", "--url", url])
    assert status.main() == 0
    issues.append({"service": "judge", "description": "It is down."})
    assert status.main() == 1
    assert "issue     judge: It is down." in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["rlaif status", "--url", "http://127.0.0.1:1"])
    assert status.main() == 2


def test_any_text_is_looked_up_as_the_id_of_a_run(page):
    url, asked, _ = page
    Run("my rün?", url).settings()
    assert asked == ["/api/v1/runs/my%20r%C3%BCn%3F"]
