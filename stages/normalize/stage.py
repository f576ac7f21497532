"""The stage ``normalize``: from an event of the log to a cleaned turn with z_t (AdaMem 3.2, E.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from schemas.control import Control, Passed
from schemas.header import Header
from schemas.normalized import Normalized, Piece, Understanding
from schemas.numbered import Numbered
from schemas.turn import Role, Speaker, Turn
from stages.contract import Decision, Emit, Reject, Stage
from stages.normalize.answered import Answered, Said, answered, unanswered
from stages.normalize.asking import request, scope
from stages.normalize.clean import cleaned_turn, full_text, is_blank, label
from stages.normalize.heard import Heard
from stages.normalize.identity import Former, digest, former_of, judge, text_digest
from stages.normalize.mentions import Nearby, mentions, points
from stages.normalize.names import names, without_code
from stages.normalize.pieces import cut
from stages.normalize.reading import read
from stages.normalize.state import NormalizeState, Seen
from stages.normalize.suspect import is_suspect
from stages.normalize.things import Thing, things
from stages.normalize.understanding import understand
from stages.ports import Embedder, History, LanguageModel
from stages.text.spoken import spoken
from stages.text.times import resolve_times

_SCOPE = 20_000
"""Characters in which things and mentions are looked for: what a person says. A document names too many things for a
"that book" to be certain, and looking among all of them would take quadratic time."""


@dataclass(frozen=True, slots=True)
class Normalize(Stage[Numbered, Normalized | Passed, NormalizeState]):
    """Cleans a turn, knows repeats and revisions, and parses what it says.

    ``max_text`` bounds the cleaned text with its captions, in characters. With ``language`` a model is asked for z_t,
    once a turn of a person or a bot; without, or where its answer is no use, z_t is by rules.
    """

    embedder: Embedder
    history: History
    max_text: int = 1_000_000
    language: LanguageModel | None = None

    name: ClassVar[str] = "normalize"

    def restore(self, parts: Mapping[str, bytes]) -> NormalizeState:
        """Return the state that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        return NormalizeState.from_parts(parts)

    async def prepare(self, messages: Sequence[Numbered]) -> None:
        """Embed the pieces of these turns in one call; those that will be refused are left out.

        Raises:
            Unavailable: if the model does not answer.
        """
        turns = [cleaned_turn(message.event) for message in messages if isinstance(message.event, Turn)]
        texts = [(turn.speaker, full_text(turn)) for turn in turns if self._fault(turn) is None]
        await self.embedder.embed([spoken(who, span.of(text)) for who, text in texts for span in cut(text)])

    async def decide(self, message: Numbered, state: NormalizeState) -> Decision[Normalized | Passed, NormalizeState]:
        """Return the normalized turn; a repeat is a duplicate, a blank, over-long or conflicting turn is refused.

        Raises:
            Unavailable: if the model or the index does not answer.
        """
        event = message.event
        if isinstance(event, Control):
            return Emit(Passed(header=message.header, control=event), state)
        turn = cleaned_turn(event)
        fault = self._fault(turn)
        if fault is not None:
            return Reject(fault)
        text = full_text(turn)
        former = await former_of(turn, message.header.position, state, self.history, message.lettered)
        known = judge(turn, text, former)
        return known if known is not None else await self._normalized(message.header, turn, text, former, state)

    def _fault(self, turn: Turn) -> str | None:
        """Say why a cleaned turn can't be taken, and what to do."""
        who = f"turn {turn.turn_id!r} of space {turn.space}"
        if is_blank(turn):
            return f"blank: {who} has nothing to read in its text or captions; publish it with a text, or leave it out"
        length = len(full_text(turn))
        if length > self.max_text:
            return (
                f"too long: {who} has {length} characters, the limit is {self.max_text}; publish it as several turns, "
                "or raise the limit (max_text)"
            )
        return None

    async def _normalized(
        self, header: Header, turn: Turn, text: str, former: Former | None, state: NormalizeState
    ) -> Emit[Normalized, NormalizeState]:
        shown = without_code(text)
        sentences = read(text)
        found = names(shown, sentences)
        near = shown[:_SCOPE]
        own = things(near, [name for name in found if name.end <= _SCOPE])
        session = digest(turn.session or "")
        nearby = state.nearby(header.position, turn.turn_id, session) if points(near) else ()
        revises = None if former is None else former.position
        rules = understand(text, label(turn.speaker), sentences, found)
        said = Said(text, scope(text, sentences), sentences, is_suspect(text))
        told = await self._told(turn, said, rules, state.before(revises))
        message = Normalized(
            header=header,
            turn=turn,
            text=text,
            pieces=await self._pieces(turn.speaker, text),
            z=told.z,
            times=resolve_times(text, turn.at),
            mentions=mentions(near, Nearby(turn.turn_id, tuple(own)), nearby, len(turn.text)),
            revises=revises,
            suspect=said.suspect,
            degraded=told.degraded,
            unquoted=told.unquoted,
        )
        after = state.after(_seen(header, turn, text), turn.turn_id, session, tuple(_distinct(own)))
        return Emit(message, self._heard(message, after))

    async def _told(self, turn: Turn, said: Said, rules: Understanding, before: Sequence[Heard]) -> Answered:
        """Return z_t: by a model, if there is one to ask, and else by rules."""
        language = self._asked(turn)
        if language is None:
            return Answered(rules)
        answer = await language.ask(request(turn, said.text[: said.shown], before))
        return unanswered(said, rules) if answer is None else answered(answer, label(turn.speaker), said, rules)

    def _asked(self, turn: Turn) -> LanguageModel | None:
        """Return the model to ask: none for the lines of a channel itself ("Mia joined"), which mean what they say."""
        return None if turn.speaker.role is Role.SYSTEM else self.language

    def _heard(self, message: Normalized, state: NormalizeState) -> NormalizeState:
        """Return the state with what the next turns are read with: nothing that would instruct their reader."""
        unread = self._asked(message.turn) is None or message.suspect
        return state.unhearing(message.revises) if unread else state.hearing(message)

    async def _pieces(self, speaker: Speaker, text: str) -> tuple[Piece, ...]:
        spans = cut(text)
        vectors = await self.embedder.embed([spoken(speaker, span.of(text)) for span in spans])
        return tuple(
            Piece(span=span, text=span.of(text), vector=vector) for span, vector in zip(spans, vectors, strict=True)
        )


def _seen(header: Header, turn: Turn, text: str) -> Seen:
    return Seen(position=header.position, turn=digest(turn.turn_id), revision=turn.revision, text=text_digest(text))


def _distinct(own: Sequence[Thing]) -> list[Thing]:
    """Return the last naming of each thing, in order."""
    last = {(thing.name.casefold(), thing.kind): thing for thing in own}
    return sorted(last.values(), key=lambda thing: thing.start)
