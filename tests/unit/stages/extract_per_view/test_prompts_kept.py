"""A changed prompt is a new version, since answers are kept by it: the digest of each is held here."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pytest

from stages.extract_per_view.answers import CANONICAL, DISCOVER, EXTRACT
from stages.prompts import Prompt

DIGESTS = {
    "extract_per_view.extract": (1, "63888f8f52a3d7f6"),
    "extract_per_view.discover": (1, "c9ec997550911e58"),
    "extract_per_view.canonical": (1, "61b8c908e87e48e4"),
}


@pytest.mark.parametrize("prompt", [EXTRACT, DISCOVER, CANONICAL], ids=lambda prompt: prompt.name)
def test_a_prompt_is_what_its_version_says(prompt: Prompt[Any]) -> None:
    digest = blake2b(prompt.text.encode(), digest_size=8).hexdigest()
    assert (prompt.version, digest) == DIGESTS[prompt.name]


@pytest.mark.parametrize("prompt", [EXTRACT, DISCOVER, CANONICAL], ids=lambda prompt: prompt.name)
def test_every_array_and_text_of_an_answer_is_bounded_and_no_object_is_free(prompt: Prompt[Any]) -> None:
    schema = prompt.answer.model_json_schema()
    for name, part in {**schema.get("$defs", {}), "": schema}.items():
        if part.get("type") != "object":
            continue
        assert part["additionalProperties"] is False, name
        for each in part["properties"].values():
            assert each.get("type") != "array" or "maxItems" in each, each
            assert each.get("type") != "string" or "maxLength" in each, each
