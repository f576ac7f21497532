"""What a partition makes of a log as it really is: transactions, foreign keys, refusals, states that lie wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from infra.bench.kafka.idle import Count, IdleCommit, IdleExtract, IdleLocalize, IdleNormalize, IdleRoute
from infra.kafka import Broker, Cluster, wanted
from infra.workers.run import Running
from schemas.control import Passed
from schemas.localized import Localized
from schemas.normalized import Normalized
from schemas.space import Space
from stages.contract import Emit
from streams.kafka import upkeep
from streams.kafka.states import States
from streams.kafka.upkeep import fold
from streams.kafka.wire import HEARTBEAT, NEXT, Record, as_record, partition_of, read_next
from streams.state import Counts, load
from streams.topology import TURNS, Topology, build
from tests.kafka.stage_on_kafka import PARTITIONS, Stage, stage_of, turn
from tests.kafka.waiting import until


@pytest.fixture(scope="module")
def bootstrap(libs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Broker.at(tmp_path_factory.mktemp("partitions"), libs, quick=True) as one:
        with Cluster.at(one.bootstrap) as cluster:
            cluster.apply(wanted(replication=1))
        yield one.bootstrap


@pytest.fixture
def first(bootstrap: str, tmp_path: Path) -> Stage:
    return stage_of(bootstrap, tmp_path, "normalize")


@pytest.fixture
def later(bootstrap: str, tmp_path: Path) -> Stage:
    return stage_of(bootstrap, tmp_path, "localize_state")


def numbered(*turn_ids: str) -> list[tuple[int, str]]:
    return list(enumerate(turn_ids))


async def reached(stage: Stage, space: str, count: int) -> None:
    async def there() -> bool:
        return len(await stage.outputs(space)) >= count

    await until(there)


async def counted(stage: Stage, space: str, count: int) -> None:
    """Wait until the state that tells of the outputs is written too."""

    async def there() -> bool:
        return await stage.counts(space) == Counts(emitted=count)

    await until(there)


async def test_turns_of_a_transaction_that_was_given_up_are_none(first: Stage) -> None:
    """Both ways in: what Faust fetches, and what is read again at a start."""
    space = "acme/transactions"
    at = {"key": space.encode(), "partition": partition_of(space, 24)}
    async with first.works():
        async with first.producer(transactional_id="bot-1") as bot:
            for number, kept in enumerate((True, False, True)):
                await bot.begin_transaction()
                for turn_id in (f"{number}a", f"{number}b"):
                    await bot.send_and_wait(TURNS.name, turn(space, turn_id), **at)
                await (bot.commit_transaction() if kept else bot.abort_transaction())
        await reached(first, space, 4)
        await counted(first, space, 4)  # a worker that leaves before does the rest of its cut again when it is back
    assert await first.outputs(space) == numbered("0a", "0b", "2a", "2b")
    async with first.producer(transactional_id="bot-1") as bot:
        await bot.begin_transaction()
        await bot.send_and_wait(TURNS.name, turn(space, "3a"), **at)
        await bot.abort_transaction()
    await first.publish(space, [turn(space, "4")])
    async with first.works():
        await reached(first, space, 5)
    assert await first.outputs(space) == numbered("0a", "0b", "2a", "2b", "4")


async def test_events_that_lie_or_speak_wrongly_are_letters_and_the_space_goes_on(first: Stage) -> None:
    space, other = "acme/odd", "acme/elsewhere"
    wrong = (partition_of(space, 24) + 1) % 24
    await first.publish(space, [turn(space, "misplaced")], partition=wrong)
    await first.publish(space, [turn(other, "foreign"), b"{", turn(space, "newer", schema_version=99)])
    await first.publish(space, [turn(space, "right")])
    async with first.producer() as bot:
        await bot.send_and_wait(TURNS.name, turn(space, "keyless"), partition=0)
    async with first.works():
        await reached(first, space, 2)

        async def lettered() -> bool:
            return len(await first.letters("without/key")) == 1 and len(await first.letters(space)) == 4

        await until(lettered)
    assert await first.outputs(space) == numbered("newer", "right")
    reasons = {letter.turn_id: letter.reason for letter in await first.letters(space)}
    assert "murmur2" in reasons["misplaced"]
    assert "names the space" in reasons["foreign"]
    assert "schema_version" in reasons["newer"]
    (keyless,) = await first.letters("without/key")
    assert (keyless.turn_id, "no key" in keyless.reason) == ("keyless", True)


async def test_a_record_of_an_unknown_version_stops_its_partition_alone(later: Stage) -> None:
    spaces = {partition_of(f"acme/s{n}", PARTITIONS): f"acme/s{n}" for n in range(40)}
    odd, fine = spaces[0], spaces[1]
    await later.feed(odd, [0])
    await later.feed(odd, [1], spoil=lambda body: body.replace(b'"schema_version":1', b'"schema_version":99', 1))
    await later.feed(fine, range(5))
    async with later.works() as run:
        await reached(later, fine, 5)

        async def stopped() -> bool:
            return run.worker.partitions[0].stopped is not None

        await until(stopped)
        assert "another version" in str(run.worker.partitions[0].stopped)
        assert run.worker.partitions[1].stopped is None
    assert await later.outputs(odd) == numbered("t0")
    assert next_of(await later.rows(), 0) <= 1


def next_of(rows: Sequence[Record], partition: int) -> int:
    found = [read_next(row.value or b"") for row in rows if row.key == NEXT and row.partition == partition]
    return max(found, default=0)


def limit(bootstrap: str, topic: str, size: int) -> None:
    client = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {"max.message.bytes": str(size)})])
    finally:
        client.close()


async def test_a_state_row_that_the_broker_refuses_stops_its_partition_and_nothing_passes(
    later: Stage, bootstrap: str
) -> None:
    space = "acme/refused"
    limit(bootstrap, later.state, 150)
    await later.feed(space, range(3))
    mine = partition_of(space, PARTITIONS)
    async with later.works() as run:

        async def stopped() -> bool:
            return "refused" in str(run.worker.partitions[mine].stopped)

        await until(stopped)
        assert next_of(await later.rows(), mine) == 0
        limit(bootstrap, later.state, 1_000_000)

        async def goes_on() -> bool:
            return next_of(await later.rows(), mine) == 3

        await until(goes_on)
    assert sorted(set(await later.outputs(space))) == numbered("t0", "t1", "t2")


async def test_states_that_were_deleted_are_a_clear_stop(later: Stage, bootstrap: str) -> None:
    space = "acme/deleted"
    await later.feed(space, range(3))
    mine = partition_of(space, PARTITIONS)
    async with later.works():
        await reached(later, space, 3)

        async def committed() -> bool:
            group = f"anabranch.localize_state.g{later.generation}"
            return (await later.log.committed(group, later.source, mine)) == 3

        await until(committed)
    client = KafkaAdminClient(bootstrap_servers=bootstrap)
    client.delete_topics([later.state])
    client.close()

    def applied() -> None:
        with Cluster.at(bootstrap) as cluster:
            cluster.apply(wanted(replication=1, partitions=PARTITIONS, generation=later.generation))

    async def there_again() -> bool:
        try:
            applied()
            return await later.rows() == []
        except Exception:  # noqa: BLE001 - it is still being deleted
            return False

    await until(there_again)
    async with later.works() as run:

        async def stopped() -> bool:
            return mine in run.worker.partitions and run.worker.partitions[mine].stopped is not None

        await until(stopped)
        assert "anabranch rewind localize_state" in str(run.worker.partitions[mine].stopped)


async def test_of_old_state_rows_that_come_last_none_counts(later: Stage) -> None:
    """As a frozen worker leaves them, and as compaction then keeps them."""
    space = "acme/old"
    mine = partition_of(space, PARTITIONS)
    await later.feed(space, [0])
    async with later.works():
        await reached(later, space, 1)
        await settled(later, mine, 1)
    old = [row for row in await later.rows() if (row.key or b"").startswith(space.encode())]
    await later.feed(space, range(1, 5))
    async with later.works():
        await reached(later, space, 5)
        await settled(later, mine, 5)
    async with later.producer() as frozen:
        for row in old:
            await frozen.send_and_wait(later.state, row.value, key=row.key, partition=mine)
    await later.feed(space, range(5, 7))
    async with later.works() as run:
        await reached(later, space, 7)
        await settled(later, mine, 7)
        assert run.worker.shared.metrics.folded > 0
        saved = load(await run.worker.partitions[mine].states.load("localize_state", Space(space)))
        assert (saved.header.position, saved.parts) == (6, {"count": b'{"events":7}'})
    assert await later.outputs(space) == [(n, f"t{n}") for n in range(7)]


async def test_old_rows_that_come_while_a_worker_runs_are_put_right_before_compaction(
    later: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where nobody wrote for a while a heartbeat lies in the topic, which nobody takes for a state."""
    monkeypatch.setattr(upkeep, "BEAT_S", 0.5)
    space = "acme/while"
    mine = partition_of(space, PARTITIONS)
    await later.feed(space, [0])
    async with later.works():
        await settled(later, mine, 1)
    old = [row for row in await later.rows() if (row.key or b"").startswith(space.encode())]
    await later.feed(space, range(1, 4))
    async with later.works() as run:
        await settled(later, mine, 4)
        async with later.producer() as frozen:
            for row in old:
                await frozen.send_and_wait(later.state, row.value, key=row.key, partition=mine)
        partition = run.worker.partitions[mine]
        assert await fold(partition) > 0
        assert await fold(partition) == 0

        async def beaten() -> bool:
            return any(row.key == HEARTBEAT and row.partition == mine for row in await later.rows())

        await until(beaten)
    last = {row.key: row.value for row in await later.rows() if row.partition == mine}
    compacted = [as_record(mine, n, key, value, ()) for n, (key, value) in enumerate(last.items())]
    states = States(later.folder / "compacted.sqlite")
    await states.fill(each(compacted))
    saved = load(await states.load("localize_state", Space(space)))
    assert (saved.header.position, saved.parts) == (3, {"count": b'{"events":4}'})


async def each(records: Sequence[Record]) -> AsyncIterator[Record]:
    for record in records:
        yield record


async def settled(stage: Stage, partition: int, count: int) -> None:
    async def there() -> bool:
        return next_of(await stage.rows(), partition) == count

    await until(there)


class Losing:
    """Passes on what Faust fetched but for some records, as Faust itself does after a burst of rebalances."""

    def __init__(self, run: Running, lost: set[int]) -> None:
        self.lost, self.offer = lost, run.worker.offer
        run.worker.offer = self  # type: ignore[method-assign]  # between Faust and the worker

    async def __call__(self, records: Sequence[Record]) -> None:
        await self.offer([record for record in records if record.offset not in self.lost])


@pytest.mark.parametrize("lost", [{0}, {1, 2, 5}, {8, 9}, set(range(10))], ids=str)
async def test_what_faust_passes_over_is_read_again(later: Stage, lost: set[int]) -> None:
    space = "acme/passed-over"
    async with later.works() as run:
        Losing(run, lost)
        await later.feed(space, range(10))
        await reached(later, space, 10)
    assert await later.outputs(space) == [(n, f"t{n}") for n in range(10)]


async def test_a_partition_that_leaves_and_comes_back_repeats_nothing_but_the_same(later: Stage) -> None:
    space = "acme/back"
    mine = partition_of(space, PARTITIONS)
    async with later.works() as run:
        await later.feed(space, range(20))
        for _ in range(3):
            await run.worker.revoked([mine])
            run.worker.assigned([mine])
        await later.feed(space, range(20, 30))
        await reached(later, space, 30)
        await settled(later, mine, 30)
    outputs = await later.outputs(space)
    assert sorted(set(outputs)) == [(n, f"t{n}") for n in range(30)]
    first_seen = list(dict.fromkeys(outputs))
    assert first_seen == sorted(first_seen)
    assert await later.counts(space) == Counts(emitted=30)


@dataclass(frozen=True)
class Held(IdleLocalize):
    """Decides nothing until it is let go."""

    entered: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def decide(self, message: Normalized | Passed, state: Count) -> Emit[Localized | Passed, Count]:
        self.entered.set()
        await self.released.wait()
        return await super().decide(message, state)

    @property
    def flow(self) -> Topology:
        return build(IdleNormalize(), self, IdleExtract(), IdleRoute(), IdleCommit())


async def test_two_rebalances_during_one_slow_batch_leave_the_sums_as_they_are(later: Stage) -> None:
    """Another worker comes and takes partitions whose batches are in hand, and goes again with them in its own."""
    spaces = {partition_of(f"acme/s{n}", PARTITIONS): f"acme/s{n}" for n in range(40)}
    mine, other = Held(), Held()
    async with later.works(0, mine.flow) as run:
        for space in spaces.values():
            await later.feed(space, range(20))
        await mine.entered.wait()
        async with later.works(1, other.flow) as second:
            await other.entered.wait()
            assert second.worker.partitions.keys().isdisjoint(run.worker.partitions)

        async def has_all_again() -> bool:
            return len(run.worker.partitions) == PARTITIONS

        await until(has_all_again)
        assert run.worker.shared.metrics.rebalances >= 2
        mine.released.set()

        async def done() -> bool:
            return [(await later.counts(space)).total for space in spaces.values()] == [20] * PARTITIONS

        await until(done)
        assert run.fault is None
    for space in spaces.values():
        outputs = await later.outputs(space)
        assert list(dict.fromkeys(outputs)) == [(n, f"t{n}") for n in range(20)]
        assert await later.counts(space) == Counts(emitted=20)
