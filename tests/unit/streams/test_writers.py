"""Threads that write to one file take turns: who waited longest is next, whatever the others do."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from schemas.space import Space
from streams.journal import Journal
from streams.writers import Writers

SPACE = Space("acme/u")


def test_turns_go_in_the_order_of_asking() -> None:
    writers, order, inside = Writers(), list[int](), list[int]()

    def write(number: int) -> None:
        with writers.turn():
            inside.append(number)
            order.append(number)
            assert inside == [number]
            inside.remove(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    with writers.turn():
        for number, thread in enumerate(threads):
            thread.start()
            while len(writers._waiting) <= number:
                threading.Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(8))


def test_who_writes_all_the_time_lets_others_in_between(tmp_path: Path) -> None:
    """A thread that ends a transaction and begins the next at once holds up nobody for more than the one."""
    busy = Journal(tmp_path / "log.sqlite")
    over, written = threading.Event(), list[int]()

    def publish() -> None:
        journal = Journal(busy.path, busy.writers)
        for number in range(20):
            journal.append(SPACE, [b"{}"])
            written.append(number)
        journal.close()
        over.set()

    publisher = threading.Thread(target=publish)
    publisher.start()
    transactions, most = 0, 200
    while not over.is_set() and transactions < most:
        with busy.transaction():
            over.wait(0.003)  # what a cut takes
        transactions += 1
    in_time = over.is_set()
    publisher.join()
    busy.close()
    assert (in_time, len(written)) == (True, 20)


def test_a_fault_inside_a_turn_ends_it() -> None:
    writers = Writers()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), writers.turn():
            raise ZeroDivisionError
    with writers.turn():
        assert writers._is_held
    assert not writers._is_held
