"""``doctor`` on the index: a record written and read again on the home's disk, and the home's own index."""

from __future__ import annotations

import tempfile
from pathlib import Path

from infra.cli.checks import Check, Verdict
from infra.home import INDEX, LOG, read_only
from infra.reindex.pointer import current_folder
from infra.settings import Settings

_ADVICE = "nothing is lost from the log: free or mend the disk, or name another folder by ANABRANCH_HOME"


async def index(settings: Settings) -> Check:
    """Write a record to a scratch index beside the home, find it again, and see that the home's index is whole."""
    from infra.qdrant import lacking, reached, writes_and_reads  # noqa: PLC0415 - `--help` must not load the index

    folder = next(parent for parent in (settings.home, *settings.home.parents) if parent.is_dir())
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".anabranch-doctor-") as scratch:
            await writes_and_reads(Path(scratch) / INDEX)
        own = current_folder(settings.home)
        remembered, held = _remembered(own), reached(own / INDEX)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from working is what is asked for
        return Check("index", Verdict.WRONG, str(error), _ADVICE)
    short = lacking(held, remembered)
    if short:
        found = f"the index lacks what memory holds of {short[0]} ({len(short)} of {len(remembered)} spaces)"
        return Check("index", Verdict.WRONG, found, "restore the home from a backup, or ingest its turns into another")
    return Check("index", Verdict.FINE, f"a record was written and found again; {len(held)} spaces are whole")


def _remembered(folder: Path) -> dict[str, int]:
    """Return the last committed position of each space, read without taking the home."""
    from streams.topology import LAST  # noqa: PLC0415 - as above

    if not (folder / LOG).is_file():
        return {}
    with read_only(folder / LOG) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'lanes'").fetchone():
            return {}
        return dict(database.execute("SELECT space, position FROM lanes WHERE stage = ?", (LAST.name,)))
