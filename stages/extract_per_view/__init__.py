"""``extract_per_view``: items of kind event, fact and attribute from each turn (AutoViewMem).

``drafts`` chooses the sentences that state something (``statements``; no ``quotes`` of what others said), names what
their form makes certain (``aspects``, by the ``forms`` in which people speak of themselves) and makes them stand
alone (``standalone``: names for ``pronouns``, ``dates`` behind time phrases); ``drafted`` keeps them from preparing to
deciding. Each is embedded and compared with the
descriptions of the ``views``; ``assign`` says which take it and what kind it becomes. ``items`` gives it its key
(``keys``, from ``phrases``), polarity and time (``cues``), and finds what a correction puts right (``corrections``)
among the statements of the last W events, which the state keeps.

What an agent lists becomes ``structured`` records beside the items: ``structured_lines`` and ``structured_blocks`` find
lists, tables, steps, code and pairs in the text, ``structured_edits`` what a person asks to be changed in one, and
``structured_lister`` makes each record and says which standing one (``structured_standing``, ``structured_kept`` in the
state) it takes the place of.

With a language model (``by_model``) ``chunks`` are read as they close, those of one turn in pairs (``hand``):
``reading`` asks under all active views
(``answers``, ``shown``), keeps what is ``grounded`` in the turns, and makes items of it (``taken``), by rules where the
answer is of no use (``ruled``). At the end of a round the views grow (``growing``): ``discovery`` proposes, ``pool``
gathers, ``convergence`` chooses by ``dpp`` and rewrites; ``learning`` is the state of all that, ``sets`` says what is
active.
"""

from stages.extract_per_view.sets import Choice
from stages.extract_per_view.stage import ExtractPerView
from stages.extract_per_view.state import ExtractState
from stages.extract_per_view.views import GENERAL, VIEWS

__all__ = ["GENERAL", "VIEWS", "Choice", "ExtractPerView", "ExtractState"]
