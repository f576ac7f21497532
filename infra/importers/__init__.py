"""Conversations of other formats as turns for the log. ``read`` gives them, ``publish`` puts them there."""

from __future__ import annotations

from infra.importers.publish import publish
from infra.importers.read import Format, read
from infra.importers.turns import Imported

__all__ = ["Format", "Imported", "publish", "read"]
