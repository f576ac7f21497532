"""``normalize``: a turn of the log, cleaned and understood; repeats and revisions known (mechanics, normalize).

``stage`` cleans the turn (``clean``), looks its id up in the state and in memory (``identity``: new, repeat, revision
or conflict), cuts its text to what the encoder reads (``pieces``) and embeds that. Then it reads the sentences once
(``reading``) and parses them to z_t (``understanding``, from ``names``, ``statements`` and ``attitude``), resolves
times (``stages.text.times``), binds "that book" to what it stands for (``mentions``, from the ``things`` of a known
class in ``classes`` that this turn and the ones before it named), and marks instructions to the system (``suspect``).
The state keeps the ids of the last W turns and the things of the last ten.

With a language model z_t is asked for (``asking``, by a prompt of ``prompts``), the turns before it being shown
(``heard``); what is ``answered`` is believed as far as it is ``quoted`` from the turn, and the rules give all the rest.
"""

from stages.normalize.stage import Normalize
from stages.normalize.state import NormalizeState

__all__ = ["Normalize", "NormalizeState"]
