"""Where a text that is not published would hang, by the stored states of the first two stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from infra.models import HashEmbedder
from schemas.localized import Rule
from schemas.space import Space
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from streams.locate import _KEPT, StateLocalizer
from streams.state import Saved, StateHeader, StateRow, save
from tests.fakes.forest import SPACE, START, Grove

DAY = 24 * 60
YESTERDAY = "Back to what we said yesterday about the garden fence"


@dataclass
class Stored:
    """A store that holds what was saved last."""

    rows: dict[tuple[str, Space], list[StateRow]] = field(default_factory=dict)
    loads: int = 0

    async def load(self, stage: str, space: Space) -> list[StateRow]:
        self.loads += 1
        return self.rows.get((stage, space), [])

    async def version(self, stage: str, space: Space) -> int:
        return max((row.version for row in self.rows.get((stage, space), [])), default=0)

    def keep(self, stage: str, position: int, parts: Mapping[str, bytes], before: int = 0) -> None:
        """Save a state behind version ``before``."""
        header = StateHeader(position=position)
        self.rows[stage, SPACE] = save(Saved(StateHeader(version=before), {}), header, parts)[1]


def localizer(grove: Grove) -> StateLocalizer:
    store, embedder = Stored(), HashEmbedder()
    if grove.position:
        store.keep("normalize", grove.position - 1, {})
        store.keep("localize_state", grove.position - 1, grove.state.parts())
    return StateLocalizer(
        normalize=lambda given: Normalize(given, grove.history, 65_536),
        localize=LocalizeState(grove.history),
        embedder=embedder,
        store=store,
    )


async def two_days() -> Grove:
    """The last two days, and a talk five days before them that is more like what is asked."""
    grove = Grove()
    await grove.say("mia", "What we said about the garden fence: the garden fence comes first.")
    await grove.say("bot", "Noted.")
    await grove.say("mia", "Shall the garden fence be cedar or larch?", after=5 * DAY)
    await grove.say("bot", "Cedar lasts longer in a garden fence.")
    await grove.say("mia", "My printer is jammed again, the rollers squeak.", after=DAY)
    await grove.say("bot", "Clean the printer rollers with a damp cloth.")
    return grove


async def test_yesterday_is_before_the_last_turn_where_no_time_is_given() -> None:
    grove = await two_days()
    placed = await localizer(grove).locate(SPACE, YESTERDAY, "mia", None)
    assert placed.rule is Rule.TEMPORAL
    assert placed.parent_turn_id in {"t2", "t3"}
    now = START + timedelta(minutes=grove.minutes)
    assert placed == await localizer(grove).locate(SPACE, YESTERDAY, "mia", now)


async def test_a_time_that_is_given_counts() -> None:
    grove = await two_days()
    placed = await localizer(grove).locate(SPACE, YESTERDAY, "mia", START + timedelta(days=1))
    assert (placed.rule, placed.parent_turn_id in {"t0", "t1"}) == (Rule.TEMPORAL, True)


async def test_before_the_first_turn_there_is_nothing_to_hang_under() -> None:
    placed = await localizer(Grove()).locate(SPACE, YESTERDAY, "mia", None)
    assert (placed.rule, placed.branch, placed.parent_turn_id) == (Rule.NEW_ROOT, 0, None)


async def test_what_holds_nothing_is_alone() -> None:
    placed = await localizer(await two_days()).locate(SPACE, " ", "mia", None)
    assert (placed.rule, placed.branch) == (Rule.NEW_ROOT, 6)


def test_the_forest_knows_its_last_turns_time() -> None:
    assert Grove().state.last_at is None


async def test_states_are_read_again_only_when_they_change_or_there_are_many() -> None:
    grove = await two_days()
    found = localizer(grove)
    store = found.store
    assert isinstance(store, Stored)
    for _ in range(3):
        await found.locate(SPACE, YESTERDAY, "mia", None)
    assert store.loads == 2
    await grove.say("mia", "Good evening.")
    store.keep("localize_state", grove.position - 1, grove.state.parts(), before=1)
    await found.locate(SPACE, YESTERDAY, "mia", None)
    assert store.loads == 3
    for n in range(_KEPT // 2):
        await found.locate(Space(f"acme/other-{n}"), YESTERDAY, "mia", START)
    loads = store.loads
    await found.locate(SPACE, YESTERDAY, "mia", None)
    assert store.loads == loads + 2
