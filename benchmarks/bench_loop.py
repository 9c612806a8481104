"""Time from a captured segment to a loaded model, and the throughput of the judges.

    python benchmarks/bench_loop.py            or: make bench-loop

`loop_latency.py` and `judge_throughput.py` say what is measured and how. Everything is real but the
language models: NATS, S3, emulators, PPO, judges, reward model. Prints what happens, then the
machine, then one line of JSON. Exit code 0 when every target was met, else 1:

    live_p50_s < 15, live_p95_s < 40          stand-in at 100 ms a call
    segments_per_min_per_core >= 100          mock LLM at 0 ms, nine calls per segment

The pipeline shares this machine with the measurement.
"""

import argparse
import json
import os
import sys
from typing import Any

import judge_throughput
import loop_latency
from outcome import finish

TARGET_P50, TARGET_P95, TARGET_PER_CORE = 15.0, 40.0, 100.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=6.0, help="how long the pipeline runs (6)")
    parser.add_argument("--segments", type=int, default=200, help="segments a throughput run (200)")
    options = parser.parse_args()
    busy = os.getloadavg()
    result: dict[str, Any] = {"benchmark": "loop"}
    result |= loop_latency.measure(options.minutes)
    print(f"latency: {json.dumps(result)}", flush=True)
    result |= judge_throughput.measure(options)
    result["load_before"] = round(busy[0], 2)
    met = {
        "live_p50_s": result["live_p50_s"] is not None and result["live_p50_s"] < TARGET_P50,
        "live_p95_s": result["live_p95_s"] is not None and result["live_p95_s"] < TARGET_P95,
        "per_core": result["segments_per_min_per_core"] >= TARGET_PER_CORE,
    }
    for name, fine in met.items():
        print(f"{name}: {'met' if fine else 'MISSED'}")
    return finish(result, met=all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
