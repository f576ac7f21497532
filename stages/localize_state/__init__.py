"""``localize_state``: which earlier interaction state a turn resumes (ArborMem, state localization).

``incoming`` looks at the words of a turn (``signals``: question, thanks, ...; ``names``: who is addressed).
``cascade`` then asks, and the first that applies decides: is it a revision or a reply; is it a plain continuation
(``rules``); does it go back in time (``cues``, ``returning``)? Else candidates are ``scored``: in a conversation of
two the branches (``threads``, features in ``chat``), in a channel the turns of the window (``standings``, features in
``channel``), with older turns that ``reads`` found in memory as of W events ago. The best above a new root is the
parent. ``anchors`` makes the placement, ``growth`` the next state: the ``forest``, made of the ``nodes`` of recent
turns, tips and people.
"""

from stages.localize_state.forest import Forest
from stages.localize_state.stage import LocalizeState

__all__ = ["Forest", "LocalizeState"]
