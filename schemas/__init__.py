"""What travels between the stages, and what memory is made of.

One file an edge, in the order of the stages: ``turn`` and ``control`` (events of the log; ``numbered`` with their
position), ``normalized``, ``localized``, ``extracted``, ``routed``, ``committed``; each nests the one before.
``memory`` has the rows, ``letter`` what was refused, ``recall`` what the read side takes and gives. ``header``,
``space``, ``span``, ``moment``, ``interval`` and ``view`` are what these are made of; all derive from ``base``.
"""
