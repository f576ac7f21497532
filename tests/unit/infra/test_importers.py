"""Importers on small conversations of our own, and on the public sets where they are at hand."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from infra.errors import UsageError
from infra.importers import Format, Imported, read
from schemas.space import Space
from schemas.turn import Turn

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_10_date_time": "12:05 am on 1 January, 2024",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Happy new year!"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ada", "dia_id": "D2:1", "text": "Look at this.", "img_url": ["http://x/1.jpg"],
                 "blip_caption": "a boat on a beach", "query": "boat beach"},
                {"speaker": "Bo", "dia_id": "D2:2", "text": "Nice boat."},
            ],
            "session_3_date_time": "1:56 pm on 9 May, 2023",
        },
        "qa": [],
    }
]  # fmt: skip
BEAM = {
    "chat_id": 7,
    "chat": [
        {"batch_number": 1, "time_anchor": None, "turns": [
            [{"role": "user", "id": 0, "time_anchor": "March-05-2024", "content": "Plan my garden. ->-> 1,1"},
             {"role": "assistant", "id": 1, "content": "Gladly. What is there now? ->->  1,1"}],
            [{"role": "user", "id": 2, "content": "Use a -> b arrows ->-> 2,N/A"}],
        ]},
        {"batch_number": 2, "turns": [[
            {"role": "user", "id": 3, "time_anchor": "April-30-2024", "content": "Back again ->-> 5,14)"},
        ]]},
    ],
}  # fmt: skip
IRC = """\
=== kim [~kim@example.org] has joined #boats
[23:58] <kim> lee: does the bilge pump run?
[23:57] <lee> kim, yes
=== kim is now known as kim_
[00:03]  * lee waves
[00:04] <kim_>
no stamp at all
"""


def turns(events: list[Imported]) -> list[dict[str, Any]]:
    for event in events:
        assert Turn.model_validate_json(event.payload).space == event.space_key
    return [json.loads(event.payload) for event in events]


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = (
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else json.dumps(content)).encode()
    )
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_locomo_sessions_come_by_number_a_minute_a_turn(tmp_path: Path) -> None:
    got = turns(list(read(write(tmp_path / "l.json", LOCOMO), Format.LOCOMO)))
    assert [(t["turn_id"], t["session"], t["at"]) for t in got] == [
        ("D2:1", "2", "2023-05-08T13:56:00+00:00"),
        ("D2:2", "2", "2023-05-08T13:57:00+00:00"),
        ("D10:1", "10", "2024-01-01T00:05:00+00:00"),
    ]
    assert {t["space"] for t in got} == {"locomo/conv-1"}
    assert got[0]["speaker"] == {"id": "Ada", "name": "Ada", "role": "user"}
    assert got[0]["attachments"] == [{"caption": "a boat on a beach", "url": "http://x/1.jpg"}]
    assert "attachments" not in got[1]
    assert "boat beach" not in json.dumps(got)


def test_beam_anchors_carry_on_and_the_generator_s_index_goes(tmp_path: Path) -> None:
    got = turns(list(read(write(tmp_path / "b.json.gz", BEAM), Format.BEAM)))
    assert [(t["turn_id"], t["speaker"]["role"], t["at"][:16], t["text"]) for t in got] == [
        ("0", "user", "2024-03-05T00:00", "Plan my garden."),
        ("1", "agent", "2024-03-05T00:01", "Gladly. What is there now?"),
        ("2", "user", "2024-03-05T00:02", "Use a -> b arrows"),
        ("3", "user", "2024-04-30T00:00", "Back again"),
    ]
    assert got[0]["space"] == "beam/7"


def test_irc_lines_take_the_day_from_the_name_and_roll_over(tmp_path: Path) -> None:
    got = turns(list(read(write(tmp_path / "2009-03-03_10.ascii.txt", IRC), Format.IRC)))
    assert [(t["turn_id"], t["speaker"]["id"], t["at"][5:16], t["text"]) for t in got] == [
        ("0", "===", "03-03T23:58", "kim [~kim@example.org] has joined #boats"),
        ("1", "kim", "03-03T23:58", "lee: does the bilge pump run?"),
        ("2", "lee", "03-03T23:57", "kim, yes"),
        ("3", "===", "03-03T23:57", "kim is now known as kim_"),
        ("4", "lee", "03-04T00:03", "lee waves"),
        ("5", "kim_", "03-04T00:04", ""),
        ("6", "===", "03-04T00:04", "no stamp at all"),
    ]
    assert [t["speaker"]["role"] for t in got] == ["system", "user", "user", "system", "user", "user", "system"]
    assert got[0]["space"] == "irc/2009-03-03_10"


def test_a_log_without_a_day_in_its_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="2004-11-15_03"):
        list(read(write(tmp_path / "boats.ascii.txt", IRC), Format.IRC))


LINES = [
    b'{"space": "a/b", "turn_id": "1", "text": "caf\xff\xe9"}',
    b'{"space": "a/d", "turn_id": 2}',
    b'{"space": "a/c", "extra": 1}',
]


def test_jsonl_lines_go_out_as_they_are(tmp_path: Path) -> None:
    body = b"\xef\xbb\xbf" + LINES[0] + b"\r\n\n  \n" + LINES[1] + b"\n" + LINES[2]
    got = list(read(write(tmp_path / "t.jsonl", body), Format.JSONL))
    assert [(e.space_key, e.payload) for e in got] == [("a/b", LINES[0]), ("a/d", LINES[1]), ("a/c", LINES[2])]
    assert got[1].source.endswith("t.jsonl:4")


def test_with_a_space_every_line_goes_under_it_turn_or_not(tmp_path: Path) -> None:
    lines = [*LINES, b"no json", b"[1]", b"\xff\xfe", b'{"space": 3}']
    got = list(read(write(tmp_path / "t.jsonl.gz", b"\n".join(lines)), Format.JSONL, Space("x/y")))
    assert [(e.space_key, e.payload) for e in got] == [("x/y", line) for line in lines]


@pytest.mark.parametrize(
    "line", [b"no json", b"[1]", b"{}", b'{"space": ""}', b'{"space": 3}', b"\xff", b"[" * 100_000]
)
def test_without_any_space_it_stops_with_the_line_s_number(tmp_path: Path, line: bytes) -> None:
    events = read(write(tmp_path / "t.jsonl", LINES[0] + b"\n\n" + line), Format.JSONL)
    assert next(events).space_key == "a/b"
    with pytest.raises(UsageError, match=r"t\.jsonl:3: .*--space"):
        next(events)


def test_a_folder_is_read_in_order_with_what_lies_deeper(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.jsonl.gz", ".hidden/x.jsonl", "notes.txt"):
        write(tmp_path / name, json.dumps({"space": "s/s", "turn_id": name}))
    assert [json.loads(e.payload)["turn_id"] for e in read(tmp_path, Format.JSONL)] == ["a/z.jsonl.gz", "b.jsonl"]


@pytest.mark.parametrize("kind", [Format.LOCOMO, Format.IRC, Format.BEAM])
def test_a_set_with_spaces_of_its_own_refuses_another(tmp_path: Path, kind: Format) -> None:
    with pytest.raises(UsageError, match="--space"):
        list(read(tmp_path, kind, Space("a/b")))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (Format.LOCOMO, [{"sample_id": "x"}]),
        (Format.LOCOMO, "not json"),
        (Format.LOCOMO, [{"sample_id": "x", "conversation": {"session_1": [{"dia_id": "D1:1", "speaker": "A"}]}}]),
        (Format.BEAM, {"chat_id": 1}),
        (Format.BEAM, {"chat_id": 1, "chat": []}),
        (Format.BEAM, {"chat_id": 1, "chat": [{"turns": [[{"role": "user", "id": 0, "content": "x"}]]}]}),
    ],
)
def test_another_shape_is_refused_with_the_file_s_name(tmp_path: Path, kind: Format, content: Any) -> None:
    with pytest.raises(UsageError, match=r"odd\.json"):
        list(read(write(tmp_path / "odd.json", content), kind))


def test_a_path_that_is_not_there_and_a_broken_archive_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        list(read(tmp_path / "absent", Format.JSONL))
    with pytest.raises(UsageError, match=r"ends in \.jsonl"):
        list(read(tmp_path, Format.JSONL))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    with pytest.raises(UsageError, match=r"cut\.jsonl\.gz can't be read"):
        list(read(tmp_path / "cut.jsonl.gz", Format.JSONL, Space("a/b")))


def test_json_lines_are_not_loaded_whole(tmp_path: Path) -> None:
    line = json.dumps({"space": "a/b", "turn_id": "1", "text": "word " * 200}).encode() + b"\n"
    path = write(tmp_path / "big.jsonl", line * 20_000)
    tracemalloc.start()
    assert sum(1 for _ in read(path, Format.JSONL)) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 10


@pytest.mark.parametrize(
    ("kind", "path", "spaces", "count"),
    [
        (Format.LOCOMO, "locomo/locomo5.json", 5, None),
        (Format.BEAM, "beam", 10, 2362),
    ],
)
def test_public_sets_give_valid_turns(kind: Format, path: str, spaces: int, count: int | None) -> None:
    if not (DATA / path).exists():
        pytest.skip(f"{DATA / path} is not on this machine")
    events = list(read(DATA / path, kind))
    got = turns(events)
    assert len({event.space_key for event in events}) == spaces
    assert len({(t["space"], t["turn_id"]) for t in got}) == len(got) == (count or len(got))
    assert not any("->->" in t["text"] for t in got)


def test_public_channel_logs_give_a_turn_a_line(tmp_path: Path) -> None:
    archive = DATA / "irc" / "dev.tar.gz"
    if not archive.exists():
        pytest.skip(f"{archive} is not on this machine")
    import tarfile  # noqa: PLC0415 - needed here only

    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    files = sorted(tmp_path.rglob("*.ascii.txt"))
    got = turns(list(read(tmp_path, Format.IRC)))
    assert len(got) == sum(path.read_bytes().count(b"\n") for path in files)
    assert {t["speaker"]["role"] for t in got} == {"user", "system"}
