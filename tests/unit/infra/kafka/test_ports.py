"""Ports of a broker: free ones, the same for the same folder, and never those of outgoing connections."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from infra.kafka import BrokerFailedError
from infra.kafka.ports import HOST, Ports, choose, is_free, refuse_taken


def test_a_folder_keeps_its_ports_and_another_has_others() -> None:
    one, other = choose(Path("/one")), choose(Path("/other"))
    assert one == choose(Path("/one"))
    assert len({one.broker, one.controller, other.broker, other.controller}) == 4
    assert all(20_000 <= port < 30_000 for port in (one.broker, one.controller))


def test_ports_in_use_are_passed_over() -> None:
    first = choose(Path("/one"))
    with socket.create_server((HOST, first.broker)):
        assert not is_free(first.broker)
        assert first.broker not in {(second := choose(Path("/one"))).broker, second.controller}
    assert is_free(first.broker)


def test_a_port_that_listens_everywhere_is_in_use_here_too() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:  # noqa: S104 - that is the point
        assert not is_free(server.getsockname()[1])


def test_a_port_that_is_asked_for_is_the_clients() -> None:
    chosen = choose(Path("/one"))
    assert choose(Path("/one"), 9092).broker == 9092
    asked = choose(Path("/one"), chosen.controller)
    assert asked.broker == chosen.controller
    assert asked.controller != chosen.controller


@pytest.mark.parametrize("taken", [0, 1])
def test_the_port_in_use_is_named(taken: int) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        pair = (port, 20_001) if taken == 0 else (20_001, port)
        with pytest.raises(BrokerFailedError, match=rf"port {port} on {HOST}"):
            refuse_taken(Ports(*pair))
