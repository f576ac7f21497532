"""A gateway to measure, with what is behind it: embedded, on a Kafka that is named, or an installation of its own."""

from __future__ import annotations

import secrets  # noqa: TID251 - a tenant of the run's own, on a cluster that may hold others
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from infra.bench.gateway_process import GatewayProcess
from infra.gateway.keys import KeyFile
from infra.settings import Settings

_RATE: Final = 1_000_000.0
"""Requests a second that a key may make: no limit is measured here."""

_TRY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Rig:
    """A gateway that runs, and the settings that open the same memory. ``mode`` says what is behind it."""

    gateway: GatewayProcess
    settings: Settings
    mode: str

    def key(self, tenant: str) -> str:
        """Make a key of a tenant."""
        return KeyFile(self.settings.key_file).create(tenant)[1]

    def client(self, key: str | None) -> httpx.AsyncClient:
        """Return a client with a key, or without any."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.gateway.url, headers=headers, timeout=_TRY_S)


def tenant_of(what: str) -> str:
    """Return a tenant that nobody has had."""
    return f"{what}-{secrets.token_hex(4)}"


@asynccontextmanager
async def rigged(settings: Settings, qdrant: Path | None) -> AsyncIterator[Rig]:
    """Start a gateway, and give it while the block lasts.

    Where ``qdrant`` names the server's binary, a broker, that server and a worker a stage are started for it; else it
    is on the Kafka that the settings name, whose workers are somebody else's to start, or embedded in its own home.
    """
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        base = Path(folder)
        own = settings.model_copy(update={"home": base / "home", "keys": base / "keys.sqlite", "gateway_rate": _RATE})
        async with AsyncExitStack() as stack:
            if qdrant is not None:
                own = await _planted(own, base / "plant", qdrant, stack)
            mode = "embedded" if own.kafka is None else "Kafka"
            gateway = GatewayProcess(own, base)
            stack.callback(gateway.stop)
            await gateway.start()
            yield Rig(gateway, own, mode)


async def _planted(settings: Settings, folder: Path, qdrant: Path, stack: AsyncExitStack) -> Settings:
    from infra.bench.kafka.plant import plant  # noqa: PLC0415 - the embedded mode must not load the clients
    from infra.bench.kafka.warm import warm  # noqa: PLC0415 - likewise

    it = stack.enter_context(plant(folder, qdrant=qdrant, workers={}, embedder=settings.embedder))
    await warm(it, it.edges)
    server = it.qdrant
    assert server is not None  # noqa: S101 - asked for above
    at = {"qdrant_url": server.address.url, "qdrant_grpc_port": server.address.grpc_port}
    return settings.model_copy(update={"kafka": it.broker.bootstrap, **at})
