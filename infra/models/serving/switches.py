"""What Ray is told by the environment, before it is imported."""

from __future__ import annotations

import os
import secrets  # noqa: TID251 - a token is a secret
from typing import Final

_SWITCHES: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # it tells nobody that it runs
    "RAY_AUTH_MODE": "token",  # its own ports are open to the network: they obey only who knows this run's token
    "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1",  # signals are ours: SIGTERM is no crash
    "RAY_SERVE_LOG_TO_STDERR": "0",  # its logs lie in its own folder
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a replica that counts no GPU may still see one
}


def set_switches() -> None:
    """Set them in this process's environment, which those that Ray starts inherit; what is set there already stays."""
    for name, value in {**_SWITCHES, "RAY_AUTH_TOKEN": secrets.token_hex(32)}.items():
        os.environ.setdefault(name, value)  # noqa: TID251 - Ray reads its switches nowhere else
