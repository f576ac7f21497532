"""Where a text that is not published would hang: the first two stages, run on it without effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from schemas.control import Passed
from schemas.header import EventKind, Header
from schemas.localized import Placement, Rule
from schemas.normalized import Normalized
from schemas.numbered import Numbered
from schemas.space import Space
from schemas.turn import Speaker, Turn
from stages.contract import Emit, Stage
from stages.ports import Embedder
from streams.state import StateHeader, StateStore, load

_TURN_ID = "(unpublished)"
"""Turn id of a text that nobody published; ``forest`` and records never show it."""

_KEPT = 128
"""States kept between questions, two a space; beyond them all are read again, which takes a millisecond each."""

FirstStage = Callable[[Embedder], Stage[Numbered, Normalized | Passed, Any]]


class Known(Protocol):
    """What the localizer asks of the second stage's state."""

    @property
    def last_at(self) -> datetime | None:
        """When the space's newest turn was said; ``None`` where there is no turn."""
        ...


class SecondStage(Protocol):
    """What the localizer asks of the second stage: ``place`` says where a text would hang, and changes nothing."""

    @property
    def name(self) -> str:
        """Name under which its state is kept."""
        ...

    def initial(self, space: Space) -> Any:  # noqa: ANN401 - a state, as in ``Stage``
        """Return the state of an empty space."""
        ...

    def restore(self, parts: Mapping[str, bytes]) -> Any:  # noqa: ANN401 - a state, as in ``Stage``
        """Return the state that was cut into ``parts``."""
        ...

    async def place(self, message: Normalized, state: Any) -> Placement:  # noqa: ANN401 - a state, as in ``Stage``
        """Return the placement."""
        ...


@dataclass(frozen=True, slots=True)
class _Given:
    """An embedder that has one answer: a question's vector is computed once, on the quick path."""

    embedder: Embedder
    vector: bytes

    @property
    def model(self) -> str:
        """The model that made the vector."""
        return self.embedder.model

    @property
    def dimension(self) -> int:
        """Bytes of the vector."""
        return len(self.vector)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vector for each text."""
        return [self.vector] * len(texts)

    async def embed_query(self, text: str) -> bytes:  # noqa: ARG002 - whatever the text
        """Return the vector."""
        return self.vector


@dataclass(slots=True)
class StateLocalizer:
    """Implements the ``Localizer`` port on the stored states of the first two stages."""

    normalize: FirstStage
    localize: SecondStage
    embedder: Embedder
    store: StateStore
    _states: dict[tuple[str, Space], tuple[StateHeader, Any]] = field(default_factory=dict)

    async def locate(self, space: Space, text: str, speaker: str | None, at: datetime | None) -> Placement:
        """Return the placement of ``text`` if ``speaker`` said it next (see ``stages.ports.Localizer``).

        Before the first turn of a space there is nothing to hang under.
        """
        normalize = self.normalize(_Given(self.embedder, await self.embedder.embed_query(text)))
        header, first = await self._state(normalize, space)
        _, second = await self._state(self.localize, space)
        at = at or _last_at(second)
        if at is None:
            return _alone(header.position + 1)
        event = self._event(space, header.position + 1, text, speaker, at)
        understood = await normalize.decide(event, first)
        if isinstance(understood, Emit) and isinstance(understood.message, Normalized):
            return await self.localize.place(understood.message, second)
        return _alone(event.header.position)  # nothing in it to place

    async def _state(self, stage: Stage[Any, Any, Any] | SecondStage, space: Space) -> tuple[StateHeader, Any]:
        known = self._states.get((stage.name, space))
        if known is not None and known[0].version == await self.store.version(stage.name, space):
            return known
        saved = load(await self.store.load(stage.name, space))
        state = stage.restore(saved.parts) if saved.header.version else stage.initial(space)
        if len(self._states) >= _KEPT:
            self._states.clear()
        known = self._states[stage.name, space] = (saved.header, state)
        return known

    def _event(self, space: Space, position: int, text: str, speaker: str | None, at: datetime) -> Numbered:
        header = Header(space=space, position=position, kind=EventKind.TURN, event_id=_TURN_ID, offset=0)
        turn = Turn(
            space=space,
            turn_id=_TURN_ID,
            speaker=Speaker(id=speaker or _TURN_ID),
            text=text,
            at=at,
        )
        return Numbered(header=header, event=turn)


def _last_at(state: Known) -> datetime | None:
    return state.last_at


def _alone(position: int) -> Placement:
    return Placement(rule=Rule.NEW_ROOT, branch=position, interaction=position)
