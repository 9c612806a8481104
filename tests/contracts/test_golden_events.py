"""One file for each released event version. They parse for ever: add files, never edit one."""

import json
from pathlib import Path

import pytest

from rlaif.contracts.catalog import CATALOG, parse_event, spec_of

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))


def test_every_event_of_the_catalog_has_a_golden_file():
    assert {f"{spec.type}.json" for spec in CATALOG} <= {path.name for path in GOLDEN}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_event_parses_and_serialises_equal(path):
    event = parse_event(path.read_bytes())
    assert event.type == path.stem
    assert json.loads(event.model_dump_json()) == json.loads(path.read_text())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_event_has_the_id_that_its_data_gives(path):
    event = parse_event(path.read_bytes())
    spec = spec_of(type(event.data))
    assert event.id == spec.dedupe_key(event.data)
    assert event.subject == spec.about(event.data)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_fields_that_a_newer_writer_adds_are_ignored(path):
    newer = json.loads(path.read_text())
    newer["dataschema"] = "https://example.org/v1.1"
    newer["data"]["added_later"] = {"x": 1}
    assert parse_event(json.dumps(newer).encode()) == parse_event(path.read_bytes())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_optional_fields_may_be_missing(path):
    """An older writer did not know them; only required fields may be relied on."""
    event = json.loads(path.read_text())
    fields = spec_of(type(parse_event(path.read_bytes()).data)).data.model_fields
    event["data"] = {
        name: value for name, value in event["data"].items() if fields[name].is_required()
    }
    del event["traceparent"]
    parse_event(json.dumps(event).encode())
