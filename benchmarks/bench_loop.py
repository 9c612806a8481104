"""Time from a captured segment to a loaded model, and the throughput of the judges.

    python benchmarks/bench_loop.py            or: make bench-loop

`loop_latency.py` and `judge_throughput.py` describe the measurements. Everything is real but the
language models: NATS, S3, emulators, PPO, judges, reward model. Prints progress, then the machine,
then one line of JSON. Exit code 0 if every target was met, else 1:

    warm_p50_s < 15, warm_p95_s < 40          mock LLM at 100 ms a call; `all_…` includes segments
                                              captured before the first model (`cold_…`); each
                                              includes those that still wait at the end
    segments_per_min_per_core >= 100          mock LLM at 0 ms, nine calls per segment

The pipeline shares this machine with the measurement.
"""

import json
import sys
from typing import Any

import judge_throughput
import loop_latency
from outcome import begin, finish, parser_of, say

TARGET_P50, TARGET_P95, TARGET_PER_CORE = 15.0, 40.0, 100.0


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=4.0, help="how long the pipeline runs (4)")
    parser.add_argument("--segments", type=int, default=150, help="segments a throughput run (150)")
    options = parser.parse_args()
    begin()
    result: dict[str, Any] = {"benchmark": "loop"}
    result |= loop_latency.measure(options.minutes)
    say(f"latency: {json.dumps(result)}")
    result |= judge_throughput.measure(options)
    met = {
        "warm_p50_s": result["warm_p50_s"] is not None and result["warm_p50_s"] < TARGET_P50,
        "warm_p95_s": result["warm_p95_s"] is not None and result["warm_p95_s"] < TARGET_P95,
        "per_core": result["segments_per_min_per_core"] >= TARGET_PER_CORE,
    }
    for name, fine in met.items():
        say(f"{name}: {'met' if fine else 'missed'}")
    return finish(result, met=all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
