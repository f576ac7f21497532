"""The words of a cued pattern hide no match of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.extract_per_view import cues, forms, statements
from stages.normalize import mentions
from stages.text.cued import Cued

CUED = {
    f"{module.__name__.rsplit('.', 1)[-1]}.{name}": value
    for module in (cues, forms, statements, mentions)
    for name, value in vars(module).items()
    if isinstance(value, Cued)
}


def test_the_patterns_are_found() -> None:
    assert len(CUED) > 20


@pytest.mark.parametrize("name", CUED)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_the_pattern_matches_has_one_of_the_words(name: str, data: st.DataObject) -> None:
    cued = CUED[name]
    text = data.draw(st.from_regex(cued.pattern))
    for one in (text, text.upper(), text.lower(), text.replace("s", "\u017f")):
        assert (cued.search(one) is None) == (cued.pattern.search(one) is None)
        assert [found.span() for found in cued.finditer(one)] == [found.span() for found in cued.pattern.finditer(one)]


def test_the_pattern_is_not_tried_without_its_words() -> None:
    cued = Cued(re.compile(r"\w+ it"), ("read",))
    assert cued.search("watch it") is None
    assert list(cued.finditer("watch it")) == []
    assert cued.search("read it") is not None
