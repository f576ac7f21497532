"""The HTTP gateway: bots publish turns to the log and ask memory, each tenant with keys of its own.

Accepted means acknowledged by the log: 202 is answered when the turns are on the disk (embedded) or all copies of the
partition have them (Kafka), never before. ``app`` makes the application over a ``Served`` memory, ``server`` runs it.
"""
