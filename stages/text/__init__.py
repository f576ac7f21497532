"""Text as the stages see it.

``tokens`` by script, ``sentences``, ``similarity`` of vectors and of token sets, ``spoken`` (a turn with its
speaker's name, as it is searched), ``beginning`` (what fits a number of bytes), ``cued`` (patterns tried only
where one of their words stands), ``times`` (temporal expressions resolved) and ``ordinals`` ("the third one").
"""
