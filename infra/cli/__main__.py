"""``python -m infra.cli``: the command line where the script is not installed."""

from __future__ import annotations

from infra.cli.app import main

if __name__ == "__main__":
    main()
