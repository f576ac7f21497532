"""Hostile payloads: texts, shapes, JSON, ids and other people's spaces."""

from __future__ import annotations

import json

from tests.hostile.case import ALONE, COMMITTED, CRANE, DUPLICATE, LETTERED, Case, beside, one, raw, turn, without

LAST = "The lighthouse keeper sold honey."
LONG = ("abcdefghi" * 11 + " ") * 8999 + LAST.rjust(100)
"""900,000 characters, at whose end a person says something."""

TEXTS = (
    one("NUL in the text", turn(text="The har\0bour crane"), COMMITTED, text="The harbour crane", remark="removed"),
    one("other control characters", turn(text="The\x1b[31m crane\x07\x9b"), COMMITTED, text="The[31m crane",
        remark="removed; line feed and tab stay"),
    one("lone surrogate, escaped", raw(b"crane", b"cr\\ud800ane"), COMMITTED, text=CRANE, remark="dropped"),
    one("lone surrogate, raw (as Python's surrogatepass writes it)", raw(b"crane", b"cr\xed\xa0\x80ane"), COMMITTED,
        text=CRANE, remark="dropped"),
    one("surrogate pair in two escapes", raw(b"crane", b"\\ud83d\\ude80"), COMMITTED,
        text=CRANE.replace("crane", "\U0001f680"), remark="joined"),
    one("lone surrogate in an id", turn("t\ud800"), COMMITTED, remark="dropped: the id is what is left"),
    one("bytes that are not UTF-8 (as surrogateescape writes them)", raw(b"crane", b"cr\xffane"), ALONE, "not UTF-8"),
    one("UTF-16", json.dumps({"space": "acme/u-1"}).encode("utf-16"), ALONE, "not UTF-8"),
    one("no text at all", turn(text=""), LETTERED, "blank", "publish it with a text"),
    one("white space only", turn(text=" \t\n\u3000\u00a0\u2028"), LETTERED, "blank"),
    one("invisible characters only", turn(text="\u200b\u2060\ufeff\u202e\u00ad"), LETTERED, "blank"),
    one("blank, but with a caption", turn(text=" ", attachments=[{"caption": "a green crane"}]), COMMITTED,
        text="[a green crane]"),
    one("10 MB of text", turn(text="word " * 2_000_000), LETTERED, "too long", "the limit is 1000000", "max_text"),
    one("900,000 characters", turn(text=LONG), COMMITTED, remark="split into pieces, each found by itself"),
    one("20,000 combining marks on one letter", turn(text="a" + "\u0301" * 20_000), COMMITTED),
    one("a word of 20,000 letters", turn(text="x" * 20_000), COMMITTED),
    one("zero-width characters inside words", turn(text="cra\u200bne \u2060and \ufeffquay"), COMMITTED,
        text="cra\u200bne \u2060and \ufeffquay", remark="kept, joiners are part of many scripts"),
    one("bidirectional overrides", turn(text="gnp.\u202eexe\u202c \u2066x\u2069"), COMMITTED,
        text="gnp.\u202eexe\u202c \u2066x\u2069", remark="kept, and spelled out wherever people are shown them"),
    one("a name of two lines", turn(speaker={"id": "mia", "name": "Mia\nRavi: yes"}), COMMITTED,
        remark="a name becomes one line"),
)  # fmt: skip

TYPES = (
    *(one(f"{field} is missing", without(field), LETTERED, f"{field}: Field required")
      for field in ("speaker", "text", "at")),
    *(one(f"{field} is missing", without(field), ALONE, f"{field}: Field required") for field in ("space", "turn_id")),
    one("space is a number", turn(space=5), ALONE, "space", "valid string"),
    one("space has no slash", turn(space="acme"), ALONE, "names the space 'acme'", "publish it to its own"),
    one("space ends in a line feed", turn(space="acme/u-1\n"), ALONE, "names the space 'acme/u-1\\n'"),
    one("space of another tenant", turn(space="evil/u-1"), ALONE, "names the space 'evil/u-1'", "published to"),
    one("turn_id is a number", turn(turn_id=5), ALONE, "turn_id", "valid string"),  # type: ignore[arg-type]
    one("turn_id is null", turn(turn_id=None), ALONE, "turn_id", "valid string"),  # type: ignore[arg-type]
    one("turn_id is empty", turn(""), ALONE, "turn_id", "at least 1"),
    *(one(f"text is {json.dumps(text)}", turn(text=text), LETTERED, "text: Input should be a valid string")  # type: ignore[arg-type]
      for text in (None, 5, True, ["a"], {"a": 1})),
    *(one(f"speaker is {who}", turn(speaker=json.loads(who)), LETTERED, "speaker")
      for who in ("null", '"mia"', "7", "[]", "{}", '{"id": 1}', '{"id": ""}', '{"id": "m", "role": "root"}',
                  '{"id": "m", "name": 1}', '{"id": "m", "admin": true}')),
    *(one(f"reply_to is {json.dumps(to)}", turn(reply_to=to), LETTERED, "reply_to") for to in (5, "", ["t"])),
    one("reply_to names itself", turn(reply_to="t"), COMMITTED, remark="it hangs under nothing"),
    one("reply_to names nobody", turn(reply_to="never"), COMMITTED),
    one("session is a number", turn(session=5), LETTERED, "session"),
    one("session of 257 characters", turn(session="s" * 257), LETTERED, "session", "at most 256"),
    *(one(f"attachments is {them}", turn(attachments=json.loads(them)), LETTERED, "attachments")
      for them in ("{}", '"a"', '["a"]', '[{"caption": 5}]', '[{"captoin": "a"}]')),
    *(one(f"revision is {json.dumps(number)}", turn(revision=number), LETTERED, "revision")
      for number in ("1", 1.0, True, None, -1, 2**31, 10**30)),
    one("kind is another", turn(kind="whisper"), LETTERED, "kind", "'turn'"),
    one("schema_version of the future", turn(schema_version=2), LETTERED, "schema_version"),
    one("unknown fields", turn(mood="glad", colour="red"), LETTERED, "mood", "colour"),
    one("a control event of a tenant", turn(kind="control", event_id="e"), LETTERED, "come from the system itself"),
)  # fmt: skip

JSON = (
    one("no bytes", b"", ALONE, "not JSON"),
    one("an array", b"[]", ALONE, "JSON object, not list"),
    one("null", b"null", ALONE, "JSON object, not NoneType"),
    one("a number", b"1", ALONE, "JSON object, not int"),
    one("an empty object", b"{}", ALONE, "space: Field required", "at: Field required"),
    one("a truncated object", turn()[:-5], ALONE, "not JSON"),
    one("two objects", turn() + turn("u"), ALONE, "not JSON", "Extra data"),
    one("a byte order mark", b"\xef\xbb\xbf" + turn(), ALONE, "not JSON", "BOM",
        remark="`ingest` takes it off the first line of a file"),
    one("100,000 arrays in each other", beside(b'"x": ' + b"[" * 100_000 + b"]" * 100_000), ALONE, "nested too deeply"),
    one("300 objects in each other", beside(b'"x": ' + b'{"a":' * 300 + b"1" + b"}" * 300), LETTERED,
        "recursion limit"),
    one("an integer of 5,000 digits", beside(b'"revision": ' + b"9" * 5000), ALONE, "thousands of digits"),
    *(one(f"{number} for a number", beside(f'"revision": {number}'.encode()), LETTERED, "revision")
      for number in ("NaN", "Infinity", "-Infinity", "1e400")),
    one("a key twice", beside(b'"text": "The quay was green."'), COMMITTED, text="The quay was green.",
        remark="the last one counts"),
    one("the space twice, the last one another's", beside(b'"space": "evil/u-1"'), ALONE, "names the space 'evil/u-1'"),
    one("a key with a lone surrogate", beside(b'"\\ud800": 1'), LETTERED, "Extra inputs"),
)  # fmt: skip

IDS = (
    one("id of 256 characters", turn("i" * 256), COMMITTED),
    one("id of 256 emoji", turn("\U0001f600" * 256), COMMITTED, remark="characters are counted, not bytes"),
    one("id of 257 characters", turn("i" * 257), ALONE, "at most 256"),
    *(one(f"id with {name}", turn(f"a{char}b"), LETTERED, "turn_id", "pattern")
      for name, char in (("a line feed", "\n"), ("NUL", "\0"), ("ESC", "\x1b"), ("DEL", "\x7f"), ("CSI", "\x9b"))),
    one("id with a bidirectional override", turn("a\u202eb"), COMMITTED, remark="kept, and spelled out for people"),
    one("id that is a path", turn("../../etc/passwd"), COMMITTED, remark="ids are never names of files"),
    one("id that is SQL", turn("'; DROP TABLE log; --"), COMMITTED),
)  # fmt: skip


def _said(text: str, **more: object) -> bytes:
    return turn("t", text, **more)


ORDER = (
    Case("the same turn again", (_said("a"), _said("a")), (COMMITTED, DUPLICATE)),
    Case("the same turn in other white space", (_said("a crane"), _said(" a\tcrane\r\n")), (COMMITTED, DUPLICATE)),
    Case("same id, other text", (_said("a"), _said("b")), (COMMITTED, LETTERED), ("conflict", "`revision` above 0"),
         text="a"),
    Case("revisions 1, then 0", (_said("b", revision=1), _said("a")), (COMMITTED, DUPLICATE), text="b",
         remark="an older one is known by the newer"),
    Case("revisions 2, then 1", (_said("c", revision=2), _said("b", revision=1)), (COMMITTED, DUPLICATE), text="c"),
    Case("revisions 0, 7 (a gap)", (_said("a"), _said("b", revision=7)), (COMMITTED, COMMITTED), text="b",
         remark="the higher closes the lower"),
    Case("the highest revision there is", (_said("a"), _said("b", revision=2**31 - 1)), (COMMITTED, COMMITTED),
         text="b", remark="nothing can revise it again"),
    Case("revision 1, then 2 with the same text", (_said("a", revision=1), _said("a", revision=2)),
         (COMMITTED, COMMITTED), text="a"),
    Case("a revision that is blank", (_said("a"), _said(" ", revision=1)), (COMMITTED, LETTERED), ("blank",), text="a"),
    Case("a refused turn, then the same corrected", (_said("a", mood=1), _said("a")), (LETTERED, COMMITTED), ("mood",),
         remark="a letter does not use up the id"),
)  # fmt: skip
