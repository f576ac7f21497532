"""Invariant 4, for the encoder: a vector is a function of its text alone, whatever is encoded with it.

The encoder and its pool are the real ones; the model is a small one whose vectors turn with the shape of the call, as
the last bits of a real one's do on some machines and with some texts only.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from infra.models.encoder import Encoder
from infra.models.pool import EncoderPool
from tests.fakes.company import SmallEncoder
from tests.fakes.extras import with_models
from tests.fakes.mutations import Mutation, each

pytestmark = with_models

TEXTS = [f"{'a long turn ' * (n % 5)}number {n}" for n in range(41)]
COMPANIES = (TEXTS, TEXTS[::-1], TEXTS[::3], TEXTS[:1], TEXTS[1:3], [*TEXTS[7:], *TEXTS[:7]])


def check() -> None:
    """Alone, in a crowd, in another order: each text has one vector."""
    pool = EncoderPool(SmallEncoder, cache_bytes=1)
    try:
        alone = {text: pool.submit([text]).result(30)[0] for text in TEXTS}
        assert len(set(alone.values())) == len(TEXTS), "texts share vectors"
        for company in COMPANIES:
            together = pool.submit(company).result(30)
            assert together == [alone[text] for text in company], "a vector changes with its company"
    finally:
        pool.close()


def free_rows(patch: pytest.MonkeyPatch) -> None:
    stack = Encoder._stack
    patch.setattr(Encoder, "_stack", lambda self, name, rows, length: stack(self, name, rows, length)[: len(rows)])


def free_lengths(patch: pytest.MonkeyPatch) -> None:
    stack = Encoder._stack

    def padded(encoder: Encoder, name: str, rows: Sequence[object], _length: int) -> object:
        return stack(encoder, name, rows, max(map(len, rows)))  # type: ignore[arg-type]  # tensors

    patch.setattr(Encoder, "_bucket", lambda *_: 64)
    patch.setattr(Encoder, "_stack", padded)


def test_a_vector_is_a_function_of_its_text() -> None:
    check()


@each(
    Mutation("free batches: as many rows as there are texts", free_rows, "a vector changes with its company"),
    Mutation("free batches: padded to the longest text", free_lengths, "a vector changes with its company"),
)
def test_company_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        check()
