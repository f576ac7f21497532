"""How an endpoint is written in a setting."""

from __future__ import annotations

import pytest

from infra.address import Address


@pytest.mark.parametrize(
    ("choice", "url", "model"),
    [
        ("openai:http://127.0.0.1:8000/v1#Qwen/Qwen2.5-7B", "http://127.0.0.1:8000/v1", "Qwen/Qwen2.5-7B"),
        ("openai:https://models.example/v1/#m", "https://models.example/v1", "m"),
        ("openai:http://h/v1/chat/completions#m", "http://h/v1", "m"),
        ("openai:http://[::1]:9#m#2", "http://[::1]:9", "m#2"),
    ],
)
def test_an_endpoint(choice: str, url: str, model: str) -> None:
    assert Address.of_setting(choice) == Address(url, model)


@pytest.mark.parametrize(
    "choice", ["", "openai:", "openai:#m", "openai:http://h", "openai:http://h#", "http://h#m", "openai:http://h:x#m"]
)
def test_what_is_none(choice: str) -> None:
    with pytest.raises(ValueError, match="write openai:URL#MODEL"):
        Address.of_setting(choice)
