"""What a change of a schema breaks is told with its field; what it does not break is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from infra.cli.app import app
from infra.schema_changes import breaks
from infra.schema_export import READ, documents, export

REFUSES = "this version refuses what was written"
READERS = "old readers refuse what is written"
WAS = documents()
Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> list[str]:
    now = copy.deepcopy(WAS)
    change(now)
    return [str(one) for one in breaks(WAS, now, READ)]


def test_nothing_changed_nothing_breaks() -> None:
    assert changed(lambda _: None) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d["turn"]["required"].append("session"), [f"turn/session: {REFUSES}: has to be there"]),
        (lambda d: d["turn"]["properties"].pop("reply_to"), [f"turn/reply_to: {REFUSES}: the field is refused"]),
        (
            lambda d: d["turn"]["properties"]["text"].update(maxLength=10),
            [f"turn/text: {REFUSES}: `maxLength` is 10, and was 'not there'"],
        ),
        (lambda d: d["turn"]["properties"].update(mood={"type": "string"}), []),
        (lambda d: d["turn"]["$defs"]["Role"]["enum"].append("owner"), []),
        (lambda d: d["turn"]["$defs"]["Role"]["enum"].remove("agent"), [f"turn/speaker/role: {REFUSES}: 'agent' is"]),
        (lambda d: d["letter"]["properties"].update(new={"type": "string"}), [f"letter/new: {READERS}: the field is"]),
        (lambda d: d["letter"]["required"].remove("reason"), [f"letter/reason: {READERS}: has to be there"]),
        (
            lambda d: d["letter"]["properties"]["offset"].update(type="string"),
            [f"letter/offset: {REFUSES}: Offset is taken", f"letter/offset: {READERS}: Offset is taken no more"],
        ),
        (
            lambda d: d["memory"]["$defs"]["OutcomeState"]["enum"].append("lost"),
            [f"memory/state: {READERS}: 'lost' is taken no more"],
        ),
        (
            lambda d: d["memory"]["$defs"]["EdgeRow"]["properties"]["strength"].update(maximum=200),
            [f"memory/strength: {READERS}: `maximum` is 100, and was 200"],
        ),
        (
            lambda d: d["memory"]["oneOf"].pop(),
            ["memory: this version refuses what was written: "],
        ),
        (lambda d: d.pop("view"), ["view: readers: the schema is gone"]),
        (lambda d: d["letter"].update({"if": {}}), [f"letter: {REFUSES}: `if` changed", f"letter: {READERS}: `if`"]),
        (lambda d: d["letter"]["properties"]["offset"].update(title="Place", description="of it"), []),
        (
            lambda d: d["turn"]["properties"]["schema_version"].update(const=2),
            [f"turn/schema_version: {REFUSES}: 1 is taken no more"],
        ),
    ],
)
def test_what_breaks_is_told(change: Change, told: list[str]) -> None:
    found = changed(change)
    assert len(found) == len(told), found
    assert all(one.startswith(start) for one, start in zip(found, told, strict=True)), found


def fields(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a document that are reached from its root, each with its properties."""
    objects = [document, *document.get("$defs", {}).values()]
    return [one for one in objects if one.get("properties")]


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_a_field_that_goes_breaks_readers_of_the_log_and_one_that_comes_those_of_topics(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(WAS)))
    was, now = {name: WAS[name]}, {name: copy.deepcopy(WAS[name])}
    one = fields(now[name])[data.draw(st.integers(0, len(fields(now[name])) - 1))]
    goes = data.draw(st.booleans())
    field = data.draw(st.sampled_from(sorted(one["properties"]))) if goes else "brand_new"
    if goes:
        one["properties"].pop(field)
        one["required"] = [other for other in one.get("required", []) if other != field]
    else:
        one["properties"][field] = {"type": "string"}
    found = breaks(was, now, READ)
    expected = {REFUSES} if goes else set() if name in READ else {READERS}
    assert expected <= {broken.who for broken in found}
    assert all(broken.schema == name for broken in found)
    assert breaks(now, now, READ) == []


def test_a_schema_that_holds_itself_is_compared() -> None:
    tree: dict[str, Any] = {
        "$defs": {
            "Tree": {"type": "object", "properties": {"of": {"items": {"$ref": "#/$defs/Tree"}, "type": "array"}}}
        },
        "$ref": "#/$defs/Tree",
    }
    other = copy.deepcopy(tree)
    other["$defs"]["Tree"]["required"] = ["of"]
    assert breaks({"tree": tree}, {"tree": copy.deepcopy(tree)}, frozenset()) == []
    (found,) = breaks({"tree": tree}, {"tree": other}, frozenset())
    assert str(found) == f"tree/of: {REFUSES}: has to be there"


def test_the_command_compares_with_a_folder(tmp_path: Path) -> None:
    export(tmp_path / "old")
    same = CliRunner().invoke(app, ["schemas", "check", str(tmp_path / "old")])
    assert (same.exit_code, same.stdout) == (0, "")
    path = tmp_path / "old" / "letter.json"
    was = json.loads(path.read_text())
    was["properties"]["mood"] = {"type": "string"}
    path.write_text(json.dumps(was))
    found = CliRunner().invoke(app, ["schemas", "check", str(tmp_path / "old")])
    assert (found.exit_code, found.stdout) == (1, f"letter/mood: {REFUSES}: the field is refused\n")


@pytest.mark.parametrize("content", [None, "{"], ids=["nothing there", "no JSON"])
def test_a_folder_without_schemas_is_wrong_use(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "turn.json").write_text(content)
    refused = CliRunner().invoke(app, ["schemas", "check", str(tmp_path)])
    assert refused.exit_code == 2
    assert str(tmp_path) in refused.stderr.replace("\n", "")
