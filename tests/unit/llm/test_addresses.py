from pathlib import Path

import pytest

from rlaif.llm.addresses import endpoint, routed
from rlaif.llm.openai import connections_to
from rlaif.llm.settings import CallSettings


def test_the_endpoint_is_found_with_and_without_its_version() -> None:
    assert endpoint("http://gpu:8000") == endpoint("http://gpu:8000/v1/")
    assert endpoint("http://m/dialog") == "http://m/dialog/v1/chat/completions"


@pytest.mark.parametrize("path", ["/inference", "", "/v1", "/deployments/d"])
def test_a_chat_endpoint_is_used_as_it_is_and_has_no_routes(path: str) -> None:
    url = f"https://models.github.ai{path}/chat/completions"
    assert endpoint(url) == url
    assert endpoint(url, "models") == f"https://models.github.ai{path}/models"
    assert routed(url, "/dialog") == (url, None)


def test_a_file_without_certificates_is_named_before_any_call(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("not a certificate")
    with pytest.raises(OSError, match=r"(?i)certificate|PEM"):
        connections_to(CallSettings(), api_key=None, ca_file=tmp_path / "no.pem")
