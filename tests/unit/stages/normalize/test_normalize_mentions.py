from __future__ import annotations

import pytest

from stages.normalize.state import NEIGHBOURS
from tests.fakes.talk import Talk

CHATTER = "The bus was late again today."


async def last_mentions(*turns: str | tuple[str, str]) -> list[tuple[str, str, str]]:
    """Return (mention, what it refers to, source turn) of the last of these turns: texts, or text and caption."""
    talk = Talk()
    said = [(turn,) if isinstance(turn, str) else turn for turn in turns]
    heard = [await talk.hear(text, f"t{number}", captions=captions) for number, (text, *captions) in enumerate(said)]
    return [(each.mention, each.refers_to, each.source_turn_id) for each in heard[-1].mentions]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (
            ['I just finished reading "The Hidden Lake".', "That book is great!"],
            [("That book", "The Hidden Lake", "t0")],
        ),
        (["I'm reading Dune.", CHATTER, "How far are you in that book?"], [("that book", "Dune", "t0")]),
        (['A novel called "Salt Roads" came today.', "I want that novel."], [("that novel", "Salt Roads", "t0")]),
        (['"Salt Roads" is here.', "Is that book any good?"], [("that book", "Salt Roads", "t0")]),
        (["We watched “Night Train”.", "This movie has a strange end."], [("This movie", "Night Train", "t0")]),
        (["The restaurant Casa Lola was full.", "Is that restaurant new?"], [("that restaurant", "Casa Lola", "t0")]),
        (["We had dinner at Casa Lola.", "I know that restaurant!"], [("that restaurant", "Casa Lola", "t0")]),
        (["The restaurant Casa Lola was full.", "I know that place!"], [("that place", "Casa Lola", "t0")]),
        (["We met in Kelvin Park.", "That park is lovely."], [("That park", "Kelvin Park", "t0")]),
        (["We visited Kyoto in spring.", "That city is on my list."], [("That city", "Kyoto", "t0")]),
        (["We visited Kyoto in spring.", "I've never been there."], [("there", "Kyoto", "t0")]),
        (["I moved to Porto. I love living there."], [("there", "Porto", "t0")]),
        (["My favorite song is Yellow Door.", "I know that song."], [("that song", "Yellow Door", "t0")]),
        (["I'm playing “Star Farm”.", "Have you finished it?"], [("it", "Star Farm", "t0")]),
        (['I read "Salt Roads". Highly recommend it!'], [("it", "Salt Roads", "t0")]),
        (['"Salt Roads" is great. It\'s a fantasy novel.'], [("It", "Salt Roads", "t0")]),
        (['This game is called "Star Farm".'], [("This game", "Star Farm", "t0")]),
        (
            [("Look what I got!", 'a book titled "Salt Roads" on a table'), "Is that book good?"],
            [("that book", "Salt Roads", "t0")],
        ),
        (
            ['I read "Salt Roads" and now "Dune".', CHATTER, 'I\'m on "Iron Hill" now.', "I like that book."],
            [("that book", "Iron Hill", "t2")],
        ),
        (["我在看《三体》。", "这本书怎么样\uff1f"], [("这本书", "三体", "t0")]),
        (["小説『こころ』を買いました。", "その本はいいですね。"], [("その本", "こころ", "t0")]),
        (["Leí el libro «Rayuela».", "Me gusta ese libro."], [("ese libro", "Rayuela", "t0")]),
    ],
)
async def test_bound_where_one_thing_can_be_meant(turns: list[str], expected: list[tuple[str, str, str]]) -> None:
    assert await last_mentions(*turns) == expected


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(["That book is great!"], id="nothing before"),
        pytest.param(['I read "Salt Roads" and "Iron Hill".', "That book is great!"], id="two of its class"),
        pytest.param(["We watched “Night Train”.", "That book is great!"], id="another class"),
        pytest.param(
            ['I read "Salt Roads".', "I got a new book today.", "That book is great!"], id="one without a name since"
        ),
        pytest.param(['I read "Salt Roads".', "That book you told me about came."], id="says itself which"),
        pytest.param(['I read "Salt Roads".', "I'm reading this amazing book."], id="brings up another"),
        pytest.param(['I read "Salt Roads".', "That book club meets on Friday."], id="a compound"),
        pytest.param(["We watched “Night Train”.", "Studies that show no effect are dull."], id="a verb"),
        pytest.param(['I read "Salt Roads".', ("This book is mine.", "a photo of a book")], id="a picture of the turn"),
        pytest.param(['I read "Salt Roads".', "It was raining so we left."], id="it of the weather"),
        pytest.param(['I read "Salt Roads".', "Did you watch it?"], id="verb of another class"),
        pytest.param(['I read "Salt Roads". It\'s a nice restaurant.'], id="it of another class"),
        pytest.param(["We visited Kyoto.", "There is a bus, hi there, there are two."], id="there is"),
        pytest.param(["We visited Kyoto and flew to Osaka.", "I was there once."], id="two places"),
        pytest.param(["We visited Kyoto.", "This was Oslo. That city is cold."], id="a name that may be a place"),
        pytest.param(['I read "Salt Roads".', *[CHATTER] * NEIGHBOURS, "That book is great!"], id="too far back"),
        pytest.param(["I met Anna.", "I love that place."], id="a person"),
    ],
)
async def test_unbound_stays_unbound(turns: list[str | tuple[str, str]]) -> None:
    assert await last_mentions(*turns) == []


async def test_another_session_is_no_neighbour() -> None:
    talk = Talk()
    await talk.hear('I read "Salt Roads".', session="one")
    assert (await talk.hear("That book is great!", session="two")).mentions == ()
    assert (await talk.hear("That book is great!", session="one")).mentions != ()


async def test_a_revised_turn_is_no_neighbour_of_itself() -> None:
    talk = Talk()
    await talk.hear('I read "Salt Roads".', "a")
    assert (await talk.hear("That book is great!", "a", revision=1)).mentions == ()


async def test_mentions_quote_the_text_and_say_how_sure_they_are() -> None:
    talk = Talk()
    await talk.hear('\U0001f600 I read "Salt Roads".')
    message = await talk.hear("\U0001f600 That book? I loved it! This game is called “Star Farm”.")
    assert len(message.mentions) == 3
    assert all(mention.span.of(message.text) == mention.mention for mention in message.mentions)
    assert [mention.confidence for mention in message.mentions] == [0.9, 0.8, 0.95]
