from __future__ import annotations

import pytest

from schemas.span import Span
from stages.extract_per_view.pronouns import Voice, replacements


def alone(sentence: str, voice: Voice) -> str:
    text = sentence
    for start, end, words in sorted(replacements(sentence, Span(start=0, end=len(sentence)), voice), reverse=True):
        text = text[:start] + words + text[end:]
    return text


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I'm tired.", "Mia is tired."),
        ("I am tired.", "Mia is tired."),
        ("My sister called me.", "Mia's sister called Mia."),
        ("I love jazz and I play the piano.", "Mia loves jazz and Mia plays the piano."),
        ("I've moved; I'll write.", "Mia has moved; Mia will write."),
        ("I'd been there.", "Mia had been there."),
        ("I'd like tea.", "Mia would like tea."),
        ("I don't eat meat.", "Mia doesn't eat meat."),
        ("We went home in our car.", "Mia went home in Mia's car."),
        ("I really enjoy it", "Mia really enjoys it"),
        ("i'm on ubuntu", "Mia is on ubuntu"),
        ("He lives in the city, in fact.", "He lives in the city, in fact."),
        ("The I/O is slow.", "The I/O is slow."),
        ("They moved to the US.", "They moved to the US."),
        ("You're kind and I like your dog.", "Ben is kind and Mia likes Ben's dog."),
        ("Can you help me?", "Can Ben help Mia?"),
        ("I\u2019m here.", "Mia is here."),
        ("Ravi and I live above the loft.", "Ravi and Mia live above the loft."),
        ("So, my sister Elin and I have a van.", "So, Mia's sister Elin and Mia have a van."),
        ("My older brother and I don't eat meat.", "Mia's older brother and Mia don't eat meat."),
        ("Ravi and I've moved.", "Ravi and Mia have moved."),
        ("You and I are late.", "Ben and Mia are late."),
        ("He sings and I play.", "He sings and Mia plays."),
        ("I moved to Oslo and I love it.", "Mia moved to Oslo and Mia loves it."),
        ("Was I late?", "Was Mia late?"),
        ("Since then do I cook.", "Since then does Mia cook."),
        ("I teach, I go and I watch.", "Mia teaches, Mia goes and Mia watches."),
        ("I study and I play.", "Mia studies and Mia plays."),
        ("My sister and I am late.", "Mia's sister and Mia are late."),
        ("My sister paints and I draw.", "Mia's sister paints and Mia draws."),
    ],
)
def test_pronouns_become_names_and_verbs_agree(sentence: str, expected: str) -> None:
    assert alone(sentence, Voice("Mia", "Ben")) == expected


def test_you_stays_where_the_other_party_is_not_certain() -> None:
    assert alone("You know me.", Voice("Mia")) == "You know Mia."
