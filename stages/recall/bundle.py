"""The bundle E_t: the path of the branch first, then evidence from elsewhere, within a budget (ArborMem, stage 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.localized import Placement
from schemas.memory import RecordKind, RecordRow
from schemas.recall import Bundle, Hit, Line, Part
from stages.recall.hits import Around
from stages.recall.path import PathTurn, Stretch, turns_of
from stages.text.cost import estimate

PATH_SHARE = 60
"""Per cent of the budget that the path may take before the rest has had its turn (ArborMem)."""

ABOUT_SHARE = 15
"""Per cent of the budget for what consolidation made of the whole: a few lines, however many turns they rest on."""

_RAW = 3
"""Interactions nearest to the new turn that are shown word for word; older ones as summaries."""

_SUMMARY = 240
"""Characters of an interaction's summary: two sentences."""

_PARTS = {RecordKind.TURN: Part.TURN, RecordKind.WINDOW: Part.TURN, RecordKind.STRUCTURED: Part.STRUCTURED}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A thing to show, in the forms that it can be shown in, the fullest first."""

    forms: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """The path of a branch, and what rests on its turns: superseded items are said with them.

    ``about`` are persona and topic records that belong beside it, best first.
    """

    path: Sequence[Stretch]
    around: Around
    about: Sequence[RecordRow] = ()

    def known(self) -> list[_Entry]:
        """Return what is known in general, a line each, with all turns that it rests on."""
        return [_Entry((_line(Part.FACT, row.provenance, row.at, row.text),)) for row in self.about]

    def entries(self) -> list[_Entry]:
        """Return the near turns word for word, then the older interactions as summaries."""
        raw = [self._raw(turn) for stretch in self.path[:_RAW] for turn in reversed(stretch.turns)]
        return raw + [_Entry((self._summary(stretch),)) for stretch in self.path[_RAW:]]

    def _raw(self, turn: PathTurn) -> _Entry:
        """A turn word for word; where that is too long, its summary."""
        name = turn.detail.turn_id
        short = (turn.detail.z.summary or _labelled(turn)[:_SUMMARY]) + self.around.note(name, brief=True)
        whole = _labelled(turn) + self.around.note(name)
        return _Entry(tuple(_line(Part.LOCAL, (name,), turn.row.at, text) for text in (whole, short)))

    def _summary(self, stretch: Stretch) -> Line:
        ids = turns_of([stretch])
        text = " / ".join(turn.detail.z.summary for turn in stretch.turns)
        short = text if len(text) <= _SUMMARY else f"{text[:_SUMMARY]}…"
        notes = "".join(self.around.note(name, brief=True) for name in ids)
        return _line(Part.LOCAL, ids, stretch.turns[0].row.at, short + notes)


@dataclass(slots=True)
class _Page:
    """Lines taken so far, under a budget."""

    budget: int
    lines: list[Line] = field(default_factory=list)

    @property
    def used(self) -> int:
        return sum(line.tokens for line in self.lines)

    def take(self, entries: Iterable[_Entry], share: int) -> list[_Entry]:
        """Take what fits into ``share`` tokens, in order, each in its fullest form that does; return the others."""
        left = min(share, self.budget - self.used)
        others: list[_Entry] = []
        for entry in entries:
            line = next((form for form in entry.forms if form.tokens <= left), None)
            if line is None:
                others.append(entry)
            else:
                self.lines.append(line)
                left -= line.tokens
        return others


def assemble(bundle_id: str | None, placement: Placement, told: Told, hits: Iterable[Hit], budget: int) -> Bundle:
    """Return the bundle: path, what is known in general, evidence from elsewhere, then what is left of the path.

    The first two go up to their shares.

    What either does not use flows to the other. Evidence never repeats the near path, which comes word for word; it may
    be a turn of the older path, of which there is a summary only.
    """
    page = _Page(budget)
    waiting = page.take(told.entries(), budget * PATH_SHARE // 100)
    page.take(told.known(), budget * ABOUT_SHARE // 100)
    near, older = frozenset(turns_of(told.path[:_RAW])), frozenset(turns_of(told.path[_RAW:]))
    page.take([_Entry((_evidence(hit, older),)) for hit in hits if not near.issuperset(hit.turn_ids)], budget)
    page.take(waiting, budget)
    return Bundle(id=bundle_id, placement=placement, lines=tuple(page.lines), tokens=page.used)


def _labelled(turn: PathTurn) -> str:
    speaker = turn.row.speaker
    if speaker is None or turn.text.startswith(f"{speaker.label}:"):
        return turn.text
    return f"{speaker.label}: {turn.text}"


def _evidence(hit: Hit, path: frozenset[str]) -> Line:
    part = _PARTS.get(hit.kind, Part.FACT)
    local = part is Part.TURN and path.issuperset(hit.turn_ids)
    return _line(Part.LOCAL if local else part, hit.turn_ids, hit.at, _spoken(hit))


def _spoken(hit: Hit) -> str:
    """A turn's text with its speaker before it; other records name theirs."""
    named = hit.kind is not RecordKind.TURN or hit.speaker is None or hit.text.startswith(f"{hit.speaker}:")
    return hit.text if named else f"{hit.speaker}: {hit.text}"


def _line(part: Part, turn_ids: tuple[str, ...], at: datetime, text: str) -> Line:
    """Return a line; its tokens count the ids and the time that are shown with it."""
    tokens = estimate(f"{at:%Y-%m-%d %H:%M} {' '.join(turn_ids)} {text}")
    return Line(part=part, turn_ids=turn_ids, at=at, text=text, tokens=tokens)
