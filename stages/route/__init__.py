"""``route``: what new evidence does to memory (AdaMem 3.2, B.3); leaves as rows.

``turn`` gathers what a turn writes at its own position: its ``records``, the ``edges`` of the graph (with their
``strengths``), its topic (``topics``), what its corrections close, and what a revision takes back (``revision``). The
turn then joins ``working`` memory. What leaves that goes through the ``routers``: each item is compared (as
``evidence``) with the older ones of its key (``targets``: memory as of W events ago, and what the state ``kept``
since), and the ``rules`` say whether it updates one, supports one, or just adds. ``ids`` names records; ``chain``
counts the windows that ``commit`` writes. ``structured`` writes what a turn lists, and marks what that takes the place
of.

What nightly consolidation decided is done or refused by ``consolidating``: its ``sources`` are looked up, what it makes
is ``brought`` into memory, and the state remembers it as ``made``. A revision that closes some of that brings back what
else it had taken the place of (``restoring``).

With a language model what leaves is gathered to a segment (``gathering``), each item is put beside the ``nearest``
older ones, one request is made of all (``asking``, by a prompt of ``prompts``), and its rulings are followed as far as
they may (``judging``).
"""

from stages.route.stage import Route
from stages.route.state import RouteState

__all__ = ["Route", "RouteState"]
