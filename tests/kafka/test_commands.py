"""Every command on Kafka: five workers as processes, a real broker and a real Qdrant server, and the embedded mode as
the measure of what is printed.

Workers take seconds to start, so the module has one installation. Each test stands alone on what ``both`` has filled:
what changes something has a space of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from infra.bench.kafka import starting
from infra.cli.app import app
from infra.cli.session import Session
from infra.errors import UsageError
from infra.gateway.remote import open_served
from infra.kafka import Broker, Cluster, cluster, wanted
from infra.memory_api import Sums
from infra.qdrant.process import QdrantProcess
from infra.remote import KafkaMemory, open_remote
from infra.remote.groups import members
from infra.remote.waiting import Waiting
from infra.settings import Settings
from infra.workers.child import Child
from schemas.recall import Question
from schemas.space import Space
from streams.kafka.wire import partition_of
from streams.topology import FLOW
from tests.fakes.agents import notes, reply
from tests.fakes.chat_server import Asked as Called
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.chat_server import said as said_by_model
from tests.fakes.gateway import client_of, gateway, keyed, spoken
from tests.fakes.qdrant_server import MISSING, own_server
from tests.fakes.real_home import said

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "infra" / "demo"
SPACE = "demo/harbour"
ODD = "odd/one"
STAGES = [step.name for step in FLOW]
LIMIT = 2000
"""Characters of a turn that the first worker takes; a later one takes more."""

LONG = "We talked about the garden, the gate and the spring. " * 50


@dataclass
class Installation:
    """Workers by stage, each a process that logs to a file of its stage. Supervisors would double their number."""

    folder: Path
    environment: dict[str, str]
    processes: dict[str, starting.Process] = field(default_factory=dict)

    def start(self, stage: str, **more: str) -> None:
        module = ["infra.cli", "worker", stage, "--child", Child().told()]
        environment = os.environ | self.environment | more
        self.processes[stage] = starting.start(module, environment, self.folder / f"{stage}.log")

    def must_live(self) -> bool:
        for stage, process in self.processes.items():
            assert process.poll() is None, (self.folder / f"{stage}.log").read_text()[-2000:]
        return True

    def stop(self, stage: str) -> None:
        process = self.processes.pop(stage)
        process.terminate()
        process.wait(30)

    @contextmanager
    def frozen(self, stage: str) -> Iterator[None]:
        """Let a stage do nothing inside the block, without its group noticing: a session is 10 s."""
        self.processes[stage].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.processes[stage].send_signal(signal.SIGCONT)

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait(30)


@dataclass
class Command:
    """A command line, in this process, on one of the two modes."""

    settings: Settings

    def __call__(self, *arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, list(arguments), obj=Session(settings=lambda: self.settings))
        assert result.exit_code == code, result.output
        return result

    def json(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self(*arguments, "--json").stdout.splitlines()]


@pytest.fixture(scope="module")
def index_server() -> Iterator[QdrantProcess]:
    with own_server() as server:
        if server is None:
            pytest.skip(MISSING)
        yield server


@pytest.fixture(scope="module")
def kafka_settings(
    libs: Path, index_server: QdrantProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    with (
        Broker.at(tmp_path_factory.mktemp("commands"), libs, quick=True) as broker,
        Cluster.at(broker.bootstrap) as there,
    ):
        there.apply(wanted(replication=1, partitions=3))
        yield Settings.model_construct(
            home=tmp_path_factory.mktemp("workers"),
            embedder="hash",
            kafka=broker.bootstrap,
            qdrant_url=index_server.address.url,
            qdrant_grpc_port=index_server.address.grpc_port,
        )


@pytest.fixture(scope="module")
def installed(kafka_settings: Settings) -> Iterator[Installation]:
    environment = {
        "ANABRANCH_HOME": str(kafka_settings.home),
        "ANABRANCH_EMBEDDER": "hash",
        "ANABRANCH_KAFKA": str(kafka_settings.kafka),
        "ANABRANCH_QDRANT_URL": str(kafka_settings.qdrant_url),
        "ANABRANCH_QDRANT_GRPC_PORT": str(kafka_settings.qdrant_grpc_port),
    }
    it = Installation(kafka_settings.home, environment)
    try:
        for stage in STAGES:
            it.start(stage, ANABRANCH_MAX_TEXT=str(LIMIT))
        yield it
    finally:
        it.close()


@pytest.fixture(scope="module")
def kafka(installed: Installation, kafka_settings: Settings) -> Command:
    """Give the commands as soon as every stage has its worker; one that ended is told, and not waited for."""
    wait_until(lambda: installed.must_live() and all((members(str(kafka_settings.kafka)) or {"none": 0}).values()))
    return Command(kafka_settings)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Command:
    home = tmp_path_factory.mktemp("embedded") / "home"
    return Command(Settings.model_construct(home=home, embedder="hash", kafka=None, max_text=LIMIT))


@pytest.fixture(scope="module")
def both(kafka: Command, embedded: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Command, Command]:
    """Both modes, filled with the bundled conversation and with what cannot be taken."""
    odd = tmp_path_factory.mktemp("odd") / "odd.jsonl"
    odd.write_bytes(b"".join(line + b"\n" for line in refused(ODD)))
    for command in (embedded, kafka):
        whole = command("ingest", str(DEMO / "conversation.jsonl"), "--format", "jsonl")
        assert whole.stdout == "published=120 committed=120 lettered=0 duplicates=0 forgotten=0 pending=0\n"
        lettered = command("ingest", str(odd), "--format", "jsonl", "--space", ODD, code=4)
        assert lettered.stdout == "published=4 committed=0 lettered=4 duplicates=0 forgotten=0 pending=0\n"
    return kafka, embedded


def refused(space: str) -> list[bytes]:
    """Return what the first workers do not take of a space."""
    return [
        said("blank", " ", space),
        said("long", LONG, space),
        b'{"no": "turn"}',
        said("away", "Hello.", "else/where"),
    ]


@pytest.mark.parametrize("report", ["turns", "placements", "times", "mentions", "records"])
def test_a_report_prints_what_the_embedded_mode_prints(report: str, both: tuple[Command, Command]) -> None:
    kafka, embedded = (command(report, "--space", SPACE, "--json").stdout_bytes for command in both)
    assert kafka == embedded
    assert len(kafka.splitlines()) > 2


def test_the_forest_is_the_same(both: tuple[Command, Command]) -> None:
    kafka, embedded = (command("forest", "--space", SPACE).stdout for command in both)
    assert kafka == embedded
    assert len(kafka.splitlines()) > 100


def test_questions_find_the_same_evidence(both: tuple[Command, Command], tmp_path: Path) -> None:
    questions = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text().splitlines()]
    for question in questions:
        del question["evidence"]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in questions))
    kafka, embedded = (timeless(command.json("recall", "--space", SPACE, "--questions", str(path))) for command in both)
    assert kafka == embedded
    assert all(answer["hits"] and not answer["stale"] for answer in kafka)


def timeless(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in answer.items() if name != "took_ms"} for answer in answers]


@pytest.mark.parametrize(
    "way", [("--as-of", "turn:c3:1"), ("--after", "c1:1"), ("--after", "nobody's"), ("--no-wait",)]
)
def test_a_question_may_ask_for_a_position_or_a_turn(way: tuple[str, ...], both: tuple[Command, Command]) -> None:
    asked = ("recall", "--space", SPACE, "--question", "How much money did we put aside?", *way)
    kafka, embedded = (timeless(command.json(*asked)) for command in both)
    assert kafka == embedded
    assert kafka[0]["stale"] == ("nobody's" in way)


def test_an_answer_is_the_same_and_so_is_the_evidence_where_there_is_none(both: tuple[Command, Command]) -> None:
    asked = ("answer", "--space", SPACE, "--question", "How much money did we put aside?", "--trace")
    with ChatServer(_playing) as server:
        by_model = (Command(command.settings.model_copy(update={"language_model": server.setting})) for command in both)
        for commands, reason in ((both, "no_model"), (tuple(by_model), None)):
            kafka, embedded = (timeless(command.json(*asked)) for command in commands)
            assert kafka == embedded
            assert (kafka[0]["reason"], kafka[0]["stale"]) == (reason, False)
            assert kafka[0]["citations" if reason is None else "evidence"]


def _playing(called: Called) -> Reply:
    """Play both agents, and go on asking for more."""
    noted = notes("Some money.", [1], "What does a kitchen cost?")
    by_name = {"answer_plan": {"queries": ["money aside"]}, "answer_integrate": noted, "answer_reply": reply("11", 1)}
    return said_by_model(json.dumps(by_name[called.name]))


def test_a_bundle_is_the_same(both: tuple[Command, Command]) -> None:
    asked = ("context", "--space", SPACE, "--text", "And the floor?", "--speaker", "mia", "--budget", "600")
    kafka, embedded = (command.json(*asked) for command in both)
    assert kafka == embedded
    assert kafka[0]["placement"]["parent_turn_id"]


def test_letters_are_the_same_but_for_their_place(both: tuple[Command, Command]) -> None:
    kafka, embedded = (command.json("letters", "list", "--space", ODD) for command in both)
    assert [placeless(letter) for letter in kafka] == [placeless(letter) for letter in embedded]
    assert [letter["turn_id"] for letter in kafka] == ["blank", "long", None, "away"]
    assert all(letter in both[0].json("letters", "list") for letter in kafka)
    (shown,) = both[0].json("letters", "show", kafka[2]["letter_id"][:12])
    assert (shown["original"], shown["topic"]) == ('{"no": "turn"}', "turns")


def placeless(letter: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in letter.items() if name != "letter_id"}


@pytest.mark.parametrize("space", [SPACE, ODD])
def test_a_space_stands_where_it_stands_in_the_embedded_mode(space: str, both: tuple[Command, Command]) -> None:
    (kafka,), (embedded,) = (command.json("space", "inspect", space) for command in both)
    for status in (kafka, embedded):
        for stage in status["stages"]:
            assert stage.pop("lag") == 0
            assert stage.pop("state_bytes") > 100  # the state header names offsets, so its size differs a little
    assert kafka == embedded


def test_what_is_known_is_published_again_and_changes_nothing(both: tuple[Command, Command]) -> None:
    for command in both:
        again = command("ingest", str(DEMO / "conversation.jsonl"), "--format", "jsonl")
        assert again.stdout == "published=120 committed=0 lettered=0 duplicates=120 forgotten=0 pending=0\n"


def test_a_space_that_nobody_published_to_is_empty(both: tuple[Command, Command]) -> None:
    assert both[0].json("turns", "--space", "no/body") == []
    assert both[0].json("records", "--space", "no/body") == []
    (status,) = both[0].json("space", "inspect", "no/body")
    assert (status["position"], status["sums"]["published"]) == (-1, 0)


async def test_events_of_a_space_lie_in_its_partition_in_their_order(kafka_settings: Settings, kafka: Command) -> None:
    turns = [said(f"n{number}", f"Number {number}.", "order/one") for number in range(60)]
    async with open_remote(kafka_settings) as memory:
        for start in range(0, 60, 20):
            await memory.publish(Space("order/one"), turns[start : start + 20])
        reads = memory.topics.reads
        found = await memory.thread.ask(drawn(memory))
        assert reads.layout.partition("turns", "order/one") == partition_of("order/one", 24)
        await memory.run()
        assert memory.sums().committed == 60
    assert found == turns


async def test_what_two_publish_at_once_is_counted_for_each(kafka: Command) -> None:
    turns = [said(f"b{number}", f"Both say {number}.", "two/one") for number in range(20)]
    async with open_remote(kafka.settings) as one, open_remote(kafka.settings) as other:
        await asyncio.gather(*(memory.publish(Space("two/one"), turns) for memory in (one, other)))
        await asyncio.gather(one.run(), other.run())
        sums = [one.sums(), other.sums()]
    assert [each.published for each in sums] == [20, 20]
    assert sums[0] + sums[1] == Sums(published=40, committed=20, duplicates=20)


async def drawn(memory: KafkaMemory) -> list[bytes]:
    return [event.body async for event in memory.topics.reads.events(Space("order/one"))]


async def appended(settings: Settings, space: str, event: bytes) -> None:
    async with open_remote(settings, wait=False) as memory:
        await memory.publish(Space(space), [event])


async def published(settings: Settings, event: bytes) -> None:
    async with open_remote(settings, wait=False) as memory:
        await memory.publish(Space("late/one"), [event])
        assert memory.sums() == Sums(published=1, pending=1)


def test_a_read_says_how_stale_it_is_and_waits_for_workers(installed: Installation, kafka: Command) -> None:
    """A frozen stage holds a turn: who looks at once hears of it; who does not, waits, and finds it."""
    asked = ("recall", "--space", "late/one", "--question", "Which worktop?", "--after", "late")
    with installed.frozen("localize_state"):
        asyncio.run(published(kafka.settings, said("late", "The new worktop is oak.", "late/one")))
        (before,) = kafka.json(*asked, "--no-wait")
        pending = kafka.json("turns", "--space", "late/one", "--no-wait")
    (after,) = kafka.json(*asked)
    assert (before["stale"], before["behind"]) == (True, 1)
    assert pending == [{"turn_id": "late", "position": None, "state": "pending", "reason": None}]
    assert (after["stale"], after["behind"]) == (False, 0)
    assert "late" in [turn for hit in after["hits"] for turn in hit["turn_ids"]]


def test_while_the_index_is_away_recall_says_so_and_what_was_published_is_found_later(
    index_server: QdrantProcess, kafka: Command
) -> None:
    asked = ("recall", "--space", "index/one", "--question", "Which colour is the gate?")
    index_server.kill()
    try:
        asyncio.run(appended(kafka.settings, "index/one", said("gate", "The gate is green.", "index/one")))
        refused = kafka(*asked, "--no-wait", code=3)
    finally:
        index_server.start()
    assert f"the Qdrant server at {index_server.address.url} does not answer" in refused.output
    (answer,) = kafka.json(*asked, "--after", "gate")
    while answer["stale"]:  # not found yet is told as such, and never passed off as nothing there
        (answer,) = kafka.json(*asked, "--after", "gate")
    assert [hit["turn_ids"] for hit in answer["hits"]] == [["gate"]]
    assert kafka.json("letters", "list", "--space", "index/one") == []


async def test_while_the_index_is_away_the_gateway_accepts_turns_and_says_that_it_cannot_answer(
    index_server: QdrantProcess, kafka: Command
) -> None:
    space = "/v1/spaces/acme/away"
    settings = kafka.settings
    async with open_served(settings) as served, client_of(gateway(served, settings), keyed(settings)) as client:
        index_server.kill()
        try:
            accepted = await client.post(f"{space}/turns", json=spoken("gate", "The gate is green."))
            refused = await client.post(f"{space}/recall", json={"question": "Which gate?"})
            ready, log = await client.get("/readyz"), await client.get("/readyz?exclude=index&exclude=model")
        finally:
            index_server.start()
        answer = (await client.post(f"{space}/recall", json={"question": "Which gate?", "after": "gate"})).json()
    assert (accepted.status_code, refused.status_code, ready.status_code, log.status_code) == (202, 503, 503, 200)
    assert refused.headers["content-type"] == "application/problem+json"
    assert int(refused.headers["retry-after"]) > 0
    assert "does not answer" in ready.json()["parts"]["index"]
    assert answer["stale"] or [hit["turn_ids"] for hit in answer["hits"]] == [["gate"]]


LOG_TAKES = 4 * 1024 * 1024
"""Bytes of the largest record of the log, with some 150 of key and frame."""


def test_a_turn_over_the_limit_of_the_log_is_refused_by_name_and_one_just_under_it_is_committed(
    kafka: Command, tmp_path: Path
) -> None:
    """The publisher goes on after a refusal: the broker takes no more of a producer whose record it refused."""
    path, space = tmp_path / "large.jsonl", "large/one"
    over, under = (sized(name, size, space) for name, size in (("over", LOG_TAKES), ("under", LOG_TAKES - 200)))
    path.write_bytes(b"\n".join((said("first", "Look.", space), over, said("last", "Done.", space))) + b"\n")
    refused = kafka("ingest", str(path), "--format", "jsonl", code=2)
    said_so = (
        f"the event 'over' of {space} has {LOG_TAKES} bytes, more than the topic turns takes: publish it as several"
    )
    assert said_so in " ".join(refused.output.split())
    asyncio.run(goes_on(kafka.settings, space, over, under))
    states = {turn["turn_id"]: turn["state"] for turn in kafka.json("turns", "--space", space)}
    assert states == {"first": "committed", "under": "committed"}


def sized(turn_id: str, size: int, space: str) -> bytes:
    """Return a turn of so many bytes: a short text with many pictures."""
    picture = {"url": "https://example.org/" + "a" * 3000}
    pictures = [picture] * ((size - 500) // (len(json.dumps(picture)) + 2))
    bare = said(turn_id, "Look.", space, attachments=[*pictures, {"caption": None, "url": ""}])
    return said(turn_id, "Look.", space, attachments=[*pictures, {"caption": None, "url": "b" * (size - len(bare))}])


async def goes_on(settings: Settings, space: str, over: bytes, under: bytes) -> None:
    async with open_remote(settings) as memory:
        with pytest.raises(UsageError, match="'over'"):
            await memory.publish(Space(space), [over])
        await memory.publish(Space(space), [under])
        await memory.run()
        assert memory.sums() == Sums(published=1, committed=1)


def test_ctrl_c_leaves_nothing_half_done(installed: Installation, kafka: Command, tmp_path: Path) -> None:
    path = tmp_path / "more.jsonl"
    path.write_bytes(
        b"".join(said(f"m{number}", f"We saw {number} gulls.", "stop/one") + b"\n" for number in range(40))
    )
    command = [sys.executable, "-m", "infra.cli", "ingest", str(path), "--format", "jsonl"]
    environment = os.environ | installed.environment
    with (
        installed.frozen("route"),
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        wait_until(lambda: len(kafka.json("turns", "--space", "stop/one", "--no-wait")) == 40)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert b"the next run goes on" in err
    again = kafka("ingest", str(path), "--format", "jsonl")
    assert again.stdout == "published=40 committed=0 lettered=0 duplicates=40 forgotten=0 pending=0\n"
    states = kafka.json("turns", "--space", "stop/one")
    assert [turn["state"] for turn in states] == ["committed"] * 40


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 100
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_letters_are_taken_again_by_a_worker_that_takes_more(
    installed: Installation, both: tuple[Command, Command], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """The first stage ends; whoever waits hears that it has no worker; the one that comes has no such limit."""
    kafka, space, lines = both[0], ("--space", "again/one"), tmp_path / "lines.jsonl"
    lines.write_bytes(b"".join(line + b"\n" for line in refused("again/one")))
    kafka("ingest", str(lines), "--format", "jsonl", *space, code=4)
    installed.stop("normalize")
    asyncio.run(waited(kafka.settings, caplog))
    assert "1 events wait" in caplog.messages[0]
    assert "no worker runs normalize; start" in caplog.messages[0]
    workers = next(check for check in kafka.json("doctor") if check["name"] == "workers")
    assert (workers["verdict"], "none runs normalize" in workers["found"]) == ("odd", True)
    installed.start("normalize")
    (letter,) = [each for each in kafka.json("letters", "list", *space) if each["turn_id"] == "long"]
    assert kafka.json("letters", "redrive", letter["letter_id"]) == [letter]
    (turn,) = [each for each in kafka.json("turns", *space) if each["turn_id"] == "long"]
    assert (turn["state"], turn["position"], turn["reason"]) == ("committed", letter["position"] + 1, None)
    rest = kafka("letters", "redrive", *space, "--json", code=4)  # what no worker takes
    assert [json.loads(line)["turn_id"] for line in rest.stdout.splitlines()] == ["blank", None, "away"]
    attempts = [(each["turn_id"], each["attempt"]) for each in kafka.json("letters", "list", *space)]
    assert attempts == [("blank", 1), ("long", 1), ("blank", 2), (None, 1), ("away", 1), (None, 2), ("away", 2)]


async def waited(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    """Publish a turn, and wait for it until something is said about that."""
    async with open_remote(settings) as memory:
        await memory.publish(Space("wait/one"), [said("w", "I wait.", "wait/one")])
        waiting = Waiting(memory.thread, memory.topics.published, str(settings.kafka), still=0.2)
        task = asyncio.create_task(waiting.done(lambda _progress: None))
        while not caplog.messages:
            assert not task.done()
            await asyncio.sleep(0.05)
        task.cancel()


async def test_the_gateway_publishes_to_the_log_and_answers_from_the_index(
    installed: Installation, both: tuple[Command, Command]
) -> None:
    """Accepted turns are in the log with the key and the bytes of a publisher's own; a token waits for workers."""
    settings, space = both[0].settings, "/v1/spaces/acme/gateway"
    async with open_served(settings) as served, client_of(gateway(served, settings), keyed(settings)) as client:
        for turn in range(3):
            token = f"g{turn}"
            said_now = spoken(token, f"Lamp number {turn} is in the attic.")
            accepted = await client.post(f"{space}/turns", json={"turns": [said_now, spoken(f"{token}b", "Good.")]})
            assert (accepted.status_code, accepted.json()["after"]) == (202, f"{token}b")
            answer = (await client.post(f"{space}/recall", json={"question": "Which lamp?", "after": token})).json()
            assert answer["stale"] or token in [turn for hit in answer["hits"] for turn in hit["turn_ids"]]
        with installed.frozen("localize_state"):
            await client.post(f"{space}/turns", json=spoken("held", "The held lamp is red."))
            pending = (await client.get(f"{space}/turns/held")).json()
            now = (await client.post(f"{space}/recall", json={"question": "Which lamp?"})).json()
        asked = {"question": "Which lamp is held?", "after": "held", "as_of": "turn:g0"}
        then = (await client.post(f"{space}/recall", json=asked | {"k": 50})).json()
        found = (await client.post(f"{space}/recall", json={"question": "Which lamp is red?", "after": "held"})).json()
        told = (await client.post(f"{space}/answer", json={"question": "Which lamp is red?", "after": "held"})).json()
        done = (await client.get(f"{space}/turns/held")).json()
        bundle = await client.post(f"{space}/context", json={"text": "And the red lamp?", "speaker": "mia"})
        ready, unknown = await client.get("/readyz"), await client.get(f"{space}/turns/nobody")
        elsewhere = await client.get("/v1/spaces/demo/harbour/turns/c1:1")
    assert pending == {"turn_id": "held", "position": None, "state": "pending", "reason": None}
    assert (now["stale"], now["behind"]) == (True, 1)
    assert (found["stale"], found["behind"]) == (False, 0)
    assert "held" in [turn for hit in found["hits"] for turn in hit["turn_ids"]]
    assert (told["evidence"], told["reason"], told["stale"]) == (found["hits"], "no_model", False)
    assert {turn for hit in then["hits"] for turn in hit["turn_ids"]} == {"g0"}
    assert done == {"turn_id": "held", "position": 6, "state": "committed", "reason": None}
    assert bundle.json()["lines"]
    assert ready.json() == {"ready": True, "parts": {"log": "ok", "index": "ok", "model": "ok"}}
    assert (unknown.status_code, elsewhere.status_code) == (404, 404)
    assert unknown.json()["detail"] == elsewhere.json()["detail"]
    assert (await asyncio.to_thread(both[0].json, "turns", "--space", "acme/gateway"))[-1] == done


async def test_a_gateway_whose_queue_is_too_long_takes_no_more(installed: Installation, kafka: Command) -> None:
    settings = kafka.settings.model_copy(update={"gateway_pending": 5})
    url = "/v1/spaces/acme/queue/turns"
    async with open_served(settings) as served, client_of(gateway(served, settings), keyed(settings)) as client:
        with installed.frozen("normalize"):
            assert (await client.post(url, json={"turns": [spoken(f"q{n}") for n in range(5)]})).status_code == 202
            refused = await client.post(url, json=spoken("q5"))
            assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)
        assert not (await served.recall(Space("acme/queue"), Question(question="x"), "q4")).stale
        assert (await client.post(url, json=spoken("q5"))).status_code == 202


def test_doctor_finds_all_of_it_well(both: tuple[Command, Command]) -> None:
    checks = {check["name"]: check for check in both[0].json("doctor")}
    assert {
        name: checks[name]["verdict"] for name in ("broker", "topics", "workers", "index", "encoder")
    } == dict.fromkeys(("broker", "topics", "workers", "index", "encoder"), "ok")
    assert checks["letters"]["verdict"] == "odd"
    assert "in the last 30 days" in checks["letters"]["found"]


def test_doctor_says_that_no_broker_answers_and_goes_on(kafka: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_REACH_MS", 300)
    lonely = Command(kafka.settings.model_copy(update={"kafka": "127.0.0.1:1"}))
    checks = [json.loads(line) for line in lonely("doctor", "--json", code=3).stdout.splitlines()]
    (broker,) = [check for check in checks if check["name"] == "broker"]
    assert (broker["verdict"], "127.0.0.1:1" in broker["found"]) == ("wrong", True)
    assert lonely("turns", "--space", SPACE, code=3).stdout == ""
