"""A worker's pages: on this machine only, unless an address is named; then its client id tells that one."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any
from urllib.request import urlopen

import pytest

from infra.errors import MissingError
from infra.settings import Settings
from infra.workers.child import Child
from infra.workers.groups import Member
from infra.workers.run import client_id
from infra.workers.web import HOST, serving
from infra.workers.work import place


class Said:
    """Pages of a worker that is well."""

    def unwell(self) -> str | None:
        return None

    def unready(self) -> str | None:
        return None

    def figures(self) -> bytes:
        return b"anabranch_lag_events 0"

    def status(self) -> dict[str, Any]:
        return {}


def health(host: str, port: int) -> int:
    with urlopen(f"http://{host}:{port}/healthz", timeout=5) as answer:
        status: int = answer.status
        return status


async def test_pages_are_on_this_machine_only() -> None:
    assert HOST == "127.0.0.1"
    async with serving(Said(), 0) as port:
        assert await asyncio.to_thread(health, HOST, port) == 200


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no second loopback address")
async def test_pages_are_at_the_address_that_is_named_and_at_no_other() -> None:
    with socket.socket() as held:
        held.bind((HOST, 0))  # and nobody listens there: another worker's pages may have the number at that address
        number = held.getsockname()[1]
        async with serving(Said(), number, "127.0.0.2") as port:
            assert await asyncio.to_thread(health, "127.0.0.2", port) == 200
            with pytest.raises(OSError, match="refused"):
                await asyncio.to_thread(health, HOST, port)


async def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(MissingError, match=r"port 9400 of 192\.0\.2\.1 cannot be had"):
        async with serving(Said(), 9400, "192.0.2.1"):
            pass


def test_the_setting_reaches_the_worker(tmp_path: Any) -> None:
    settings = Settings(home=tmp_path, kafka="127.0.0.1:1", worker_host="10.0.0.7")
    assert place(settings, Child()).host == "10.0.0.7"
    assert place(settings.model_copy(update={"worker_host": HOST}), Child()).host == HOST


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "localize_state", "host-1.example", "fd00::7"])
def test_a_worker_is_found_where_its_client_id_says(host: str) -> None:
    member = Member("route", client_id("route", 2, host, 9402), 3)
    assert (member.number, member.address) == (2, (host, 9402))
