"""The command line. ``main`` is the entry point."""

from __future__ import annotations

from infra.cli.app import main

__all__ = ["main"]
