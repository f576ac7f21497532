"""What the pipeline of echo stages makes of one space, in lists and counts: written from the contract alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.fakes.odd_stages import CRASHES, REFUSED
from tests.fakes.sent import Kind, Sent

STAGES = ("normalize", "localize_state", "extract_per_view", "route", "commit")
FAULTS = {
    Kind.FAULTY: "at: ",
    Kind.FORGED: "control events come from the system itself",
    Kind.STRAY: "names the space 'evil/u-9'",
    Kind.JUNK: "no turn of ",
}
"""What a letter has to say."""

Told = tuple[str, ...]
"""A memory row: what it is, and what it says."""


@dataclass
class PlainEngine:
    """Events go in one at a time. ``letters`` are (position, id, stage, what it says); ``topics`` what each stage
    emitted, (position, id, text or the stage that refused); ``memory`` the rows."""

    topics: dict[str, list[tuple[int, str, str]]] = field(default_factory=lambda: {stage: [] for stage in STAGES[:-1]})
    letters: list[tuple[int | None, str | None, str, str]] = field(default_factory=list)
    memory: list[Told] = field(default_factory=list)
    committed: int = 0
    duplicates: int = 0
    events: int = 0
    position: int = -1
    _known: set[str] = field(default_factory=set)
    _turns: list[Sent] = field(default_factory=list)

    def take(self, sent: Sent) -> None:
        self.events += 1
        if sent.is_alone:
            self.letters.append((None, sent.id or None, "normalize", FAULTS[sent.kind]))
        elif sent.is_believed and sent.id in self._known:
            self.duplicates += 1
        else:
            self.position += 1
            self._number(sent, *_fate(sent))

    def _number(self, sent: Sent, refuser: str, why: str) -> None:
        """Take the event, whose position is the last, through the stages up to the one that refuses it."""
        if refuser != "normalize":
            self._known.add(sent.id)
        for n, stage in enumerate(STAGES[:-1]):
            is_refused = refuser in STAGES[: n + 1]
            self.topics[stage].append((self.position, sent.id, f"({refuser})" if is_refused else sent.text))
        if refuser:
            self.letters.append((self.position, sent.id, refuser, why))
            self.memory.append(("outcome", str(self.position), sent.id, "lettered", refuser))
            return
        self.committed += 1
        self.memory += [*self._records(sent), ("outcome", str(self.position), sent.id, "committed", "")]

    def _records(self, sent: Sent) -> Iterable[Told]:
        """A turn brings its own record, and the window of the one before it."""
        if sent.kind is Kind.DRAIN:
            return
        yield ("turn", str(self.position), f"{sent.text}", sent.id)
        self._turns.append(sent)
        if len(self._turns) > 1:
            shown = self._turns[-3:]
            lines = "\n".join(f"{turn.speaker.title()}: {turn.text}" for turn in shown)
            around = [turn.id for turn in shown if turn is not shown[-2]]
            yield ("window", str(self.position), lines, shown[-2].id, *around)


def _fate(sent: Sent) -> tuple[str, str]:
    """Return which stage refuses an event that has an id, and what its letter says."""
    if sent.kind is Kind.DRAIN:
        return "", ""
    if not sent.is_believed:
        return "normalize", FAULTS[sent.kind]
    if not sent.text.strip():
        return "normalize", "blank"
    for stage in STAGES:
        if f"{REFUSED}{stage}" in sent.text:
            return stage, sent.text
        if f"{CRASHES}{stage}" in sent.text:
            return stage, f"crashed: {stage} failed 3 times"
    return "", ""
