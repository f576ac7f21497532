"""Ends a worker whose supervisor is gone, however that ended."""

from __future__ import annotations

import os
import signal
import threading
from typing import Final

from infra.workers.ends import LEFT

_GRACE: Final = 20.0
"""Seconds to finish what is in hand; longer than a session of the group lasts, others have taken over by then."""


def hold(source: int, grace: float = _GRACE) -> None:
    """Watch a pipe, from a thread: when nobody holds its other end any more, the process ends as after SIGTERM.

    A pipe works on every system, and the kernel closes it after a ``kill -9`` too.
    """
    threading.Thread(target=_watch, args=(source, grace), name="anabranch-leash", daemon=True).start()


def _watch(source: int, grace: float) -> None:
    while os.read(source, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(grace)
    os._exit(LEFT)
