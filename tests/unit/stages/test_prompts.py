"""Prompts are versioned files in the packages of their stages: answers are kept by version, so a text never changes."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

import stages
from schemas.base import Model
from stages.prompts import Prompt, as_data, load_prompt

ROOT = Path(__file__).parents[3]

DIGESTS = {
    "answer/integrate.v1": "cd0efd754c71af697c301236e8185b09734792b8c7058e85849675ead99e04b0",
    "answer/plan.v1": "e4a1ab3878e7e37bb75c24bc20c4c7f8ce235499fa5c38e31377eeef2ae923c5",
    "answer/reply.v1": "11243777dd265b082e70bc239921cd769555f3a15e12b608c008565c5378cbbf",
    "consolidate/merge.v1": "ab20c4e065312a962b4a60ab69cdadc79660837c755e517aaf1f71de4c150ef1",
    "consolidate/persona.v1": "74f909a4668ffdac8ca54222be928d14170daa692d13cf73b09bb94d44a43543",
    "consolidate/topics.v1": "552dc7fadc487c26816b60a0c2b114f475b505ccc9ff33655637c674374893cc",
    "extract_per_view/canonical.v1": "84bcc7c7e42660e3811e71aeb587555ed8471affaf0c41e5398946cf15a91893",
    "extract_per_view/discover.v1": "a844a709ab6b0050083821d401df2b4c6a9cf8f0b71e5d439f3d73064177dff3",
    "extract_per_view/extract.v1": "9041f3f1b2de84e3ae5829cf550c39129ca636c16fda5629c0b32201ceddf165",
    "extract_per_view/extract.v2": "6d47e2365762732f214687b94707612f20f4b63eb9bfa18962704315f29c4db2",
    "normalize/understand.v1": "7a8c3034629e6f4bacb999470c027da19969a9faf11b103c87ca7df1ad982e2c",
    "route/route.v1": "74110a33778fc34429f3f30850452a088ad7a66fccc8ee499dc254251f3c8a16",
}
"""SHA-256 of every version that was ever used. A new version is a new file and a new line; no line ever changes."""


SHAPES = {
    "answer/integrate.v1": "ca4b1b9af46b03c5b9f6417cf2bc61ae8cde0ad259ba7925aee6862aca876fa6",
    "answer/plan.v1": "2c26d9f1538a57312dd67f7f315103de1c6273f45fad70f783e220a9aa658c6d",
    "answer/reply.v1": "f5c43b57b4967a42c5b0d06093d90f4b29f4f202031cfe1fa0e01cfcdebbe1ca",
    "consolidate/merge.v1": "c4be18a289db80cd725682d0da2ed474ae495e79f0261796566f85ae5d2f47cd",
    "consolidate/persona.v1": "52b44b8ca59d5aeb62494ccfd519a7a8d5317c79aad4ff9823a3ea97b4b955d7",
    "consolidate/topics.v1": "3ad8f3fd23ad73f3763528b0161ecdec8fd49e3b30393d8168aae8fc35451859",
    "extract_per_view/canonical.v1": "1bc0cbe3710c51ce12fa0984cc34d77f8649f02c24c940cc767bf4d7d05931bb",
    "extract_per_view/discover.v1": "f8f31633a3f2477d3c23acc9a7c12591de3b632fc1877c03f140db16c7b10038",
    "extract_per_view/extract.v2": "dbb1d828fee97e1900be6a79a0e7e931bce0450da70227018346121afbb22aea",
    "normalize/understand.v1": "2c00438a445161920ba4b2b0d22dd7a7e4d65be73d7f0b3c11b3128462826cb7",
    "route/route.v1": "b6996f2b30518b7eed4ac46a60149a6540c0eb6c9a8a24bb1e0502dcd53814d3",
}
"""SHA-256 of the answers' schemas without their texts: answers that were kept have to fit for ever."""


def prompts() -> Iterator[tuple[str, Traversable]]:
    """Yield the prompt files as an installed program finds them."""
    for stage in sorted(found.name for found in pkgutil.iter_modules(stages.__path__) if found.ispkg):
        folder = files(f"stages.{stage}").joinpath("prompts")
        if folder.is_dir():
            yield from ((f"{stage}/{file.name.removesuffix('.md')}", file) for file in folder.iterdir())


PROMPTS = dict(prompts())


def test_a_changed_prompt_is_a_new_version() -> None:
    """If this fails for a prompt of yours: put the changed text into a file of the next version, and keep the old."""
    assert {name: sha256(file.read_bytes()).hexdigest() for name, file in PROMPTS.items()} == DIGESTS


def loaded() -> dict[str, Prompt[Model]]:
    """Return the prompts that the stages load, by the names of their files."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(stages.__path__, "stages.")]
    own = [one for module in modules for one in vars(module).values() if isinstance(one, Prompt)]
    return {f"{one.name.replace('.', '/')}.v{one.version}": one for one in own}


LOADED = loaded()


def test_each_prompt_that_is_asked_by_is_a_file() -> None:
    assert LOADED
    assert LOADED.keys() <= PROMPTS.keys()


def shape(schema: object) -> object:
    match schema:
        case dict():
            texts = {key for key in ("title", "description") if isinstance(schema.get(key), str)}
            return {key: shape(one) for key, one in schema.items() if key not in texts}
        case list():
            return [shape(one) for one in schema]
        case _:
            return schema


def test_a_changed_answer_is_a_new_version() -> None:
    shapes = {name: json.dumps(shape(prompt.answer.model_json_schema())) for name, prompt in LOADED.items()}
    assert {name: sha256(text.encode()).hexdigest() for name, text in shapes.items()} == SHAPES


@pytest.mark.parametrize("name", LOADED)
def test_a_prompt_says_that_texts_are_data_and_names_every_field_of_its_answer(name: str) -> None:
    prompt = LOADED[name]
    assert re.search(r"\bdata\b", prompt.text)
    assert re.search(r"instruction", prompt.text)
    assert [field for field in prompt.answer.model_fields if f"`{field}`" not in prompt.text] == []


@pytest.mark.parametrize("name", LOADED)
def test_an_answer_has_no_free_form_objects_and_bounded_lists_and_strings(name: str) -> None:
    assert list(unbounded(LOADED[name].answer.model_json_schema())) == []


def unbounded(schema: object, path: str = "") -> Iterator[str]:
    match schema:
        case {"enum": _} | {"const": _}:
            return
        case {"type": "array", "maxItems": _, **rest} | {"type": "object", "additionalProperties": False, **rest}:
            yield from (fault for name, one in rest.items() for fault in unbounded(one, f"{path}/{name}"))
        case {"type": "array" | "object"} | {"additionalProperties": _}:
            yield path
        case {"type": "string", **rest} if "maxLength" not in rest:
            yield path
        case dict():
            yield from (fault for name, one in schema.items() for fault in unbounded(one, f"{path}/{name}"))
        case _:
            return


def test_the_wheel_has_the_prompts() -> None:
    """Hatch takes all files of the packages that git does not ignore: nothing may leave these out."""
    settings = (ROOT / "pyproject.toml").read_text()
    wheel = settings.partition("[tool.hatch.build.targets.wheel]")[2].partition("\n[")[0]
    assert re.search(r'packages = \[.*"stages"', wheel)
    assert "only-include" not in wheel
    assert ".md" not in wheel
    assert ".md" not in (ROOT / ".gitignore").read_text()


def test_a_version_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        load_prompt("stages.normalize", "understand", 999, Model, 1)


def test_a_text_cannot_end_its_own_quotation() -> None:
    assert as_data({"text": 'a"}, {"turn": "b\n'}) == '{"text":"a\\"}, {\\"turn\\": \\"b\\n"}'
