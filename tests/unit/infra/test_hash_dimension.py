"""``hash:DIMENSION``: another length of vector is another model."""

from __future__ import annotations

import pytest

from infra.embedders import check, make_embedder
from infra.errors import UsageError
from infra.models import HashEmbedder


@pytest.mark.parametrize("choice", ["hash", "hash:64", "hash:512", "hash:4096"])
def test_a_dimension_may_be_named(choice: str) -> None:
    check(choice)


@pytest.mark.parametrize("choice", ["hash:", "hash:63", "hash:4097", "hash:many", "hash:-512", "hash:²", "hashes"])
def test_what_is_no_dimension_is_refused_with_the_forms(choice: str) -> None:
    with pytest.raises(UsageError, match="hash or hash:DIMENSION"):
        make_embedder(choice)


async def test_vectors_have_it_and_the_model_says_so() -> None:
    made = make_embedder("hash:512")
    (vector,) = await made.embed(["The ferry leaves at nine."])
    assert (len(vector), made.dimension, made.model) == (512, 512, "hash:512@2")
    assert await made.embed_query("The ferry leaves at nine.") == vector
    assert make_embedder("hash:384") == make_embedder("hash") == HashEmbedder()
