"""Commands as processes of their own, forked from one that has imported what they need.

Importing the encoder's libraries takes several times what a short run takes. A command that is killed at a random
moment would nearly always die of that; here it dies at its work.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read where its library is imported, which is in the server
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["infra.cli.app", "infra.embedded_plane", "sentence_transformers"])


def started(arguments: Sequence[str], environment: Mapping[str, str], out: Path) -> BaseProcess:
    """Start ``anabranch ARGUMENTS`` with these variables too; its standard output goes to a file."""
    process = _SERVER.Process(target=_run, args=(list(arguments), dict(environment), out), daemon=True)
    process.start()
    return process


def _run(arguments: Sequence[str], environment: Mapping[str, str], out: Path) -> None:
    assert {"infra.embedded_plane", "sentence_transformers"} <= sys.modules.keys(), "the server imported nothing"
    from infra.cli.app import main  # noqa: PLC0415 - whoever starts a process need not load it

    os.environ.update(environment)
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.argv = ["anabranch", *arguments]
    main()
