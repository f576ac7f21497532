"""Conversations of other formats as turns for the log."""

from __future__ import annotations

from infra.importers.read import Format, read
from infra.importers.turns import Imported

__all__ = ["Format", "Imported", "read"]
