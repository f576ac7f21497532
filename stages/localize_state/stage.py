"""``localize_state``: which earlier interaction state a turn resumes (ArborMem, state localization)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from schemas.control import Passed
from schemas.localized import Localized, Placement
from schemas.normalized import Normalized
from stages.contract import Emit, Stage
from stages.localize_state.cascade import place
from stages.localize_state.forest import Forest
from stages.localize_state.growth import grow
from stages.localize_state.incoming import incoming
from stages.ports import History


@dataclass(frozen=True, slots=True)
class LocalizeState(Stage[Normalized | Passed, Localized | Passed, Forest]):
    """Puts each turn under the one that it goes on with, or at the root of a new branch."""

    history: History
    name: ClassVar[str] = "localize_state"

    def restore(self, parts: Mapping[str, bytes]) -> Forest:
        """Return the forest that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        return Forest.from_parts(parts)

    async def prepare(self, messages: Sequence[Normalized | Passed]) -> None:
        """Do nothing: the turns bring their vectors, and reads belong to a position."""

    async def decide(self, message: Normalized | Passed, state: Forest) -> Emit[Localized | Passed, Forest]:
        """Place a turn; a control event passes and leaves the forest as it is.

        Raises:
            Unavailable: if the index does not answer.
        """
        if isinstance(message, Passed):
            return Emit(message, state)
        turn = incoming(message, state)
        placement = await place(self.history, message, turn, state)
        localized = Localized(header=message.header, normalized=message, placement=placement)
        return Emit(localized, grow(state, message, turn, placement))

    async def place(self, message: Normalized, state: Forest) -> Placement:
        """Say where a turn would hang, as if it came next; the forest stays. Serves texts that are not published, too.

        Raises:
            Unavailable: if the index does not answer.
        """
        return await place(self.history, message, incoming(message, state), state)
