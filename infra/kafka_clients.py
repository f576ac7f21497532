"""The libraries that speak to Kafka."""

from __future__ import annotations

import logging


def quiet() -> None:
    """Let the clients complain to nobody: what goes wrong ends in an answer or an error of ours, or is meant to."""
    for client in ("aiokafka", "kafka"):
        logging.getLogger(client).setLevel(logging.CRITICAL)
