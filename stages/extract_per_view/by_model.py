"""An event with a language model: the chunks that it lets be read are, and at the end of a round the views grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from schemas.control import Passed
from schemas.extracted import Extracted, Item
from schemas.localized import Localized
from stages.contract import Emit
from stages.extract_per_view.chunks import Chunk
from stages.extract_per_view.discovery import due
from stages.extract_per_view.growing import Growing, Grown
from stages.extract_per_view.hand import Closing, closing, emptied
from stages.extract_per_view.items import told_of
from stages.extract_per_view.reading import ChunkReader, Heard, Reading
from stages.extract_per_view.sets import Choice, active
from stages.extract_per_view.state import MAX_STATEMENTS, ExtractState, Told
from stages.extract_per_view.structured_lister import Lists

MOST: Final = 12
"""Items of an event, however many chunks are read with it: what later stages keep of an event is bounded by it."""

LEAST: Final = 4
"""Items that a chunk has room for, whatever the one before it told."""

_PART: Final = 2
"""Of the bytes that the state has for statements, one in so many: with a model it holds views and their trace too."""


async def by_model(
    reader: ChunkReader, message: Localized, state: ExtractState, choice: Choice, lists: Lists
) -> Emit[Extracted | Passed, ExtractState]:
    """Return the event with the items of the chunks read with it; ``lists`` are what its own turn lists, by rules.

    Raises:
        Unavailable: if a model or the index does not answer.
    """
    return await _read_with(reader, message, closing(message, state.learning.hand), state, choice, lists=lists)


async def drained(
    reader: ChunkReader, message: Passed, participant: str | None, state: ExtractState, choice: Choice
) -> Emit[Extracted | Passed, ExtractState]:
    """Return a drain with what the turns said that waited, those of a participant or (``None``) all.

    Raises:
        Unavailable: if a model or the index does not answer.
    """
    closed = emptied(message.header.space, state.learning.hand, participant)
    if not closed.chunks:
        return Emit(message, state)
    last = closed.chunks[-1].turns[-1].model_copy(update={"header": message.header})
    read = await _read_with(reader, last, closed, state, choice, lists=Lists())
    return Emit(message.model_copy(update={"read": read.message}), read.state)


async def _read_with(
    reader: ChunkReader, message: Localized, closed: Closing, state: ExtractState, choice: Choice, *, lists: Lists
) -> Emit[Extracted | Passed, ExtractState]:
    views = active(state.learning, choice)
    heard = await reader.ask([chunk for chunk in closed.chunks if not chunk.suspect], views, state)
    readings, known = await _read(reader, closed.chunks, heard, state)
    learning = replace(known.learning, hand=closed.hand)
    for chunk in closed.chunks:
        learning = learning.read(chunk)
    grown = Grown(learning)
    if choice is not Choice.SINGLE and due(state.learning.chunks, learning.chunks):
        growing = Growing(reader.embedder, reader.history, reader.language, choice)
        grown = await growing.round(message, learning, views)
    extracted = Extracted(
        header=message.header,
        localized=message,
        items=tuple(item for reading in readings for item in reading.items),
        view_set=views.version,
        degraded=heard.partial or grown.degraded,
        views=grown.views,
        structured=lists.records,
        more_structured=lists.more,
        refused=heard.refused + grown.refused + sum(reading.refused for reading in readings),
    )
    return Emit(extracted, replace(known, learning=grown.learning))


async def _read(
    reader: ChunkReader, chunks: Sequence[Chunk], heard: Heard, state: ExtractState
) -> tuple[list[Reading], ExtractState]:
    """Read chunks one after the other: a correction may be about what the one before said."""
    found: list[Reading] = []
    room = MOST
    for number, chunk in enumerate(chunks, 1):
        reading = await reader.read(chunk, heard, state, room - LEAST * (len(chunks) - number))
        room -= len(reading.items)
        state = state.after(*_told(reader.position, chunk, reading.items))
        found.append(reading)
    return found, state


def _told(position: int, chunk: Chunk, items: Sequence[Item]) -> list[Told]:
    """Return what each turn of a chunk told, all of it known from this event on."""
    return [
        told_of(turn, [one for one in items if _said_in(one, turn, position)], MAX_STATEMENTS, position, _PART)
        for turn in chunk.turns
    ]


def _said_in(one: Item, turn: Localized, position: int) -> bool:
    said = one.quoted.position if one.quoted is not None else position
    return said == turn.header.position
