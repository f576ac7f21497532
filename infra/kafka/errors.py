"""Why a broker of our own does not run."""

from __future__ import annotations

from infra.errors import MissingError


class BrokerFailedError(MissingError):
    """The broker did not start or died, or another program has its port."""
