"""What must hold before something else is read."""

from __future__ import annotations

from collections.abc import Mapping

from infra.embedded_memory import EmbeddedMemory
from infra.qdrant.holding import Counted, Holding
from infra.reindex.api import NotReady
from infra.reindex.pointer import Entry
from schemas.memory import RecordKind
from schemas.space import Space
from stages.contract import WINDOW
from streams.journal import Journal
from streams.topology import FIRST, LAST


async def must_hold_all(index: Counted, journal: Journal) -> None:
    """Compare an index with memory: as far in every space, as many records there, as many of them with a vector.

    Raises:
        NotReady: naming the first space that differs.
    """
    rows, reached = journal.by_position(), {Space(name): at for name, at in journal.remembered().items()}
    for (space, at), found in zip(reached.items(), await index.watermarks(list(reached)), strict=True):
        wanted = Holding(rows.records(space, frozenset(RecordKind), at), rows.vectors(space, at))
        held = await index.held(space, at)
        if found < at or held != wanted:
            raise NotReady(_differs(space, at, held, wanted))


async def must_hold_the_same(written: Counted, new: Counted, goals: Mapping[Space, int]) -> None:
    """Compare two indexes up to a position of each space: as many records, as many of them with a vector.

    Raises:
        NotReady: naming the first space that differs.
    """
    for space, at in goals.items():
        wanted, held = await written.held(space, at), await new.held(space, at)
        if held != wanted:
            raise NotReady(_differs(space, at, held, wanted))


def _differs(space: Space, at: int, held: Holding, wanted: Holding) -> str:
    return (
        f"{space}: the new index holds {held.records} records up to position {at} ({held.vectors} with a vector), and "
        f"should hold {wanted.records} ({wanted.vectors}); if it stays so, `abandon` it and build it again"
    )


def must_be_near(entry: Entry, derived: EmbeddedMemory) -> None:
    """See that a generation has finished what was in the log when it began, and is less than a window behind now.

    Raises:
        NotReady: naming the first space that is not so far.
    """
    journal = derived.journal
    for space in journal.spaces():
        begun = journal.committed_offset(space)
        lag = journal.lag(FIRST, space) + journal.position(FIRST.name, space) - journal.position(LAST.name, space)
        before = [event.offset for event in journal.read_records(FIRST.source.name, space, begun, 1)]
        if lag >= WINDOW or (before and before[0] <= entry.end):
            msg = f"{space}: the new generation is {lag} events behind; run `anabranch reindex --derive` again"
            raise NotReady(msg)
