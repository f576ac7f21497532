"""Pure decisions: (message, state) -> outcome; and the read side.

A turn passes ``normalize`` (cleaned, understood), ``localize_state`` (its place in the forest), ``extract_per_view``
(its statements), ``route`` (what they do to memory) and ``commit`` (complete rows); ``recall`` answers from what was
written. Stages never import each other. What several of them share is here: ``contract`` (what a stage is), ``ports``
(what it needs from outside), ``ring``, ``packed`` and ``stored`` (how states are kept small), ``shown`` (the windows
that ``commit`` writes and ``route`` closes) and ``text`` (sentences, tokens, similarity, times).
"""
