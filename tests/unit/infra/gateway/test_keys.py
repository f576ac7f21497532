"""API keys: what is kept of them, who is let in, and how soon a revocation holds."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from infra.errors import HomeUnusable, UsageError
from infra.gateway.keys import KeyBook, KeyFile


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "deep" / "keys.sqlite")


def test_a_key_opens_its_tenant_and_its_text_is_kept_nowhere(file: KeyFile) -> None:
    key, text = file.create("acme", "support bot")
    found = KeyBook(file.path).check(text)
    assert found is not None
    assert (found.tenant, found.note, found.revoked) == ("acme", "support bot", None)
    assert found == key
    assert text.split("_", 2)[2].encode() not in file.path.read_bytes()
    assert file.path.stat().st_mode & 0o077 == 0


def test_a_note_may_hold_anything(file: KeyFile) -> None:
    for note in ("a\x00b", "\udcff", "日本", "x" * 10_000):
        assert file.create("acme", note)[0] in file.every()


def test_no_two_keys_are_alike(file: KeyFile) -> None:
    texts = {file.create("acme")[1] for _ in range(20)}
    assert len(texts) == 20
    assert len(file.every()) == 20


@pytest.mark.parametrize("change", ["", "x", "_", "ab_", "ab__", "ab_{id}_", "{text}x", "{text} ", "\x00", "é" * 300])
def test_what_is_no_key_is_not_taken(file: KeyFile, change: str) -> None:
    key, text = file.create("acme")
    assert KeyBook(file.path).check(change.format(id=key.key_id, text=text)) is None


def test_a_secret_holds_for_its_own_id_only(file: KeyFile) -> None:
    (one, text), (other, _) = file.create("acme"), file.create("evil")
    assert KeyBook(file.path).check(text.replace(one.key_id, other.key_id)) is None


def test_a_revocation_holds_from_the_next_check_on(file: KeyFile) -> None:
    key, text = file.create("acme")
    book = KeyBook(file.path)
    assert book.check(text) is not None
    revoked = file.revoke(key.key_id)
    assert revoked.revoked is not None
    assert book.check(text) is None
    assert file.revoke(key.key_id) == revoked
    _, later = file.create("acme")
    assert book.check(later) is not None


def test_a_file_that_is_made_or_replaced_is_seen(file: KeyFile, tmp_path: Path) -> None:
    book = KeyBook(file.path)
    assert book.check("ab_x_y") is None
    _, first = file.create("acme")
    assert book.check(first) is not None
    other = KeyFile(tmp_path / "other.sqlite")
    _, second = other.create("acme")
    other.path.replace(file.path)
    assert book.check(first) is None
    assert book.check(second) is not None
    file.path.unlink()
    assert book.check(second) is None


def test_a_file_that_may_only_be_read_is_enough_for_the_gateway(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = file.create("acme")

    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("infra.gateway.keys.os.open", refuse)
    assert KeyBook(file.path).check(text) is not None
    assert len(file.every()) == 1
    with pytest.raises(HomeUnusable, match="Read-only"):
        file.create("acme")


def test_what_is_no_file_of_keys_is_told(file: KeyFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(b"no database" * 1000)
    with pytest.raises(HomeUnusable, match="ANABRANCH_KEYS"):
        file.every()
    with pytest.raises(HomeUnusable, match="cannot be read"):
        KeyBook(file.path).check("ab_1_2")


@pytest.mark.parametrize("tenant", ["", "a/b", "-a", "a b", "x" * 201, "\ud800"])
def test_a_tenant_that_no_space_can_have_gets_no_key(file: KeyFile, tenant: str) -> None:
    with pytest.raises(UsageError, match="no tenant"):
        file.create(tenant)
    assert not file.path.exists()


def test_a_key_that_is_not_there_cannot_be_revoked(file: KeyFile) -> None:
    with pytest.raises(UsageError, match="keys list"):
        file.revoke("abc")


def test_keys_are_compared_in_constant_time(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every check makes one comparison of whole hashes, whether or not there is such an id."""
    compared: list[tuple[int, int]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("infra.gateway.keys.hmac.compare_digest", compare)
    _, text = file.create("acme")
    book = KeyBook(file.path)
    for given in (text, text + "x", "ab_none_x", ""):
        book.check(given)
    assert compared == [(32, 32)] * 4


def test_a_copy_of_the_file_tells_no_key(file: KeyFile) -> None:
    _, text = file.create("acme")
    with sqlite3.connect(file.path) as copy:
        (kept,) = copy.execute("SELECT hash FROM keys").fetchone()
    assert KeyBook(file.path).check(kept.hex()) is None
    assert KeyBook(file.path).check(text) is not None
