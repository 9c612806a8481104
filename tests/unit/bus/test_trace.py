import re

import pytest

from rlaif.bus.trace import next_traceparent

FORMAT = re.compile(r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")


def test_an_effect_keeps_the_trace_and_takes_a_new_span():
    cause = f"00-{'a' * 32}-{'b' * 16}-00"
    effect = next_traceparent(cause)
    assert FORMAT.match(effect)
    assert effect.startswith(f"00-{'a' * 32}-")
    assert effect.endswith("-00")
    assert effect != cause


@pytest.mark.parametrize("cause", [None, "", "nonsense", "00-short-b-01"])
def test_without_a_readable_cause_a_new_trace_starts(cause):
    first, second = next_traceparent(cause), next_traceparent(cause)
    assert FORMAT.match(first)
    assert first[3:35] != second[3:35]
