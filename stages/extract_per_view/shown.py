"""What a request shows of a chunk, numbered: speakers, known items, turns; and the request itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.localized import Localized
from schemas.turn import Speaker
from schemas.view import View
from stages.extract_per_view.answers import EXTRACT, Taken
from stages.extract_per_view.chunks import Chunk
from stages.ports import Found, Request
from stages.prompts import as_data
from stages.text.sentences import sentence_bounds

LONGEST: Final = 8000
"""Characters of a turn that are shown; what stands behind is read by rules."""

_KNOWN = 300
"""Characters of a known item."""


def part(text: str) -> str:
    """Return what of a turn's text a request shows, cut behind a sentence: rules read on from there."""
    return text if len(text) <= LONGEST else text[: _cut(text)]


@lru_cache(maxsize=32)
def _cut(text: str) -> int:
    return max((end for _, end in sentence_bounds(text) if end <= LONGEST), default=LONGEST)


@dataclass(frozen=True, slots=True)
class Shown:
    """Chunks before a model, each an interaction by itself. Everything has the number of its place, from 1 on.

    ``people`` are the names of the space's parties, who may be quoted without speaking here.
    """

    chunks: tuple[Chunk, ...]
    views: tuple[View, ...]
    known: tuple[Found, ...] = ()
    people: tuple[str, ...] = ()

    @property
    def speakers(self) -> tuple[Speaker, ...]:
        """Who speaks in the chunks, in order."""
        return tuple({turn.normalized.turn.speaker.id: turn.normalized.turn.speaker for turn in self.turns}.values())

    @property
    def turns(self) -> tuple[Localized, ...]:
        """The turns of the chunks."""
        return tuple(turn for chunk in self.chunks for turn in chunk.turns)

    def beside(self, turn: Localized) -> tuple[Localized, ...]:
        """Return the turns of the chunk that a turn is of: of others nothing may come into its items."""
        position = turn.header.position
        return next(chunk.turns for chunk in self.chunks if any(one.header.position == position for one in chunk.turns))

    def request(self, check: Callable[[Taken], str | None]) -> Request[Taken]:
        """Return the request: instructions and views first, which a space's requests have in common."""
        return Request(
            space=self.turns[0].header.space,
            prompt=EXTRACT,
            frame=as_data({"views": [_view(number, view) for number, view in enumerate(self.views, 1)]}),
            data=as_data(
                {
                    "interactions": [{"n": n, "branch": chunk.path} for n, chunk in enumerate(self.chunks, 1)],
                    "speakers": [_speaker(number, one) for number, one in enumerate(self.speakers, 1)],
                    "known": [{"n": n, "text": one.record.text[:_KNOWN]} for n, one in enumerate(self.known, 1)],
                    "turns": self._turns(),
                }
            ),
            check=check,
        )

    def _turns(self) -> list[dict[str, object]]:
        ids = [speaker.id for speaker in self.speakers]
        placed = [(number, turn) for number, chunk in enumerate(self.chunks, 1) for turn in chunk.turns]
        return [
            {
                "n": n,
                "interaction": number,
                "speaker": ids.index(turn.normalized.turn.speaker.id) + 1,
                "at": turn.normalized.turn.at.isoformat(),
                "text": part(turn.normalized.text),
            }
            for n, (number, turn) in enumerate(placed, 1)
        ]


def _view(number: int, view: View) -> dict[str, object]:
    return {
        "n": number,
        "name": view.name,
        "kind": view.kind.value,
        "slots": list(view.slots),
        "look_for": view.template,
    }


def _speaker(number: int, speaker: Speaker) -> dict[str, object]:
    return {"n": number, "name": speaker.label, "role": speaker.role.value}


def numbered(number: int, things: Sequence[object]) -> bool:
    """Tell whether there is a thing of that number."""
    return 1 <= number <= len(things)
