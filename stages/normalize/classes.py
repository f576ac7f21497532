"""What class of thing a noun names, and which names may be meant by it (mechanics, normalize 5)."""

from __future__ import annotations

_BY_CLASS = {
    "book": "book novel memoir biography autobiography paperback libro novela livre roman buch книга книгу книги",
    "film": "movie film documentary flick película pelicula фильм",
    "series": "series show sitcom anime serie série",
    "song": "song track tune canción cancion chanson lied песня песню",
    "album": "album",
    "podcast": "podcast audiobook",
    "game": "game videogame juego jeu игра игру",
    "app": "app website",
    "recipe": "recipe receta recette rezept",
    "course": "course",
    "painting": "painting",
    "band": "band",
    "article": "article",
    "event": "conference festival convention expo",
    "restaurant": "restaurant cafe café diner bakery pub bistro eatery pizzeria restaurante",
    "museum": "museum gallery museo musée",
    "park": "park",
    "hotel": "hotel hostel",
    "beach": "beach",
    "store": "shop store bookstore",
    "city": "city town village ciudad pueblo ville stadt",
    "country": "country país pays",
    "island": "island",
    "place": "place spot lugar endroit lieu место",
}
CLASS_OF = {noun: kind for kind, nouns in _BY_CLASS.items() for noun in nouns.split()}
"""Noun, lower case, singular: its class."""

PLACES = frozenset({"restaurant", "museum", "park", "hotel", "beach", "store", "city", "country", "island", "place"})
WORKS = frozenset(
    {"book", "film", "series", "song", "album", "podcast", "game", "recipe", "course", "painting", "article"}
)
TITLE = "title"
"""Class of a title of which nothing else is known: any work."""

NAME = "name"
"""Class of a name that may be of anything, a place too."""

SCREEN, SOUND, PLAYED = "screen", "sound", "played"
"""Classes that a verb gives: what is watched, listened to or played."""

_WIDER = {
    "film": {SCREEN},
    "series": {SCREEN},
    "song": {SOUND, PLAYED},
    "album": {SOUND},
    "podcast": {SOUND},
    "game": {PLAYED},
}
_UNSPACED = {
    "book": ("本书", "本小说", "の本", "の小説", "本書"),
    "film": ("部电影", "部片子", "の映画", "部電影"),
    "series": ("部剧", "部电视剧", "のドラマ", "のアニメ", "部動畫"),
    "song": ("首歌", "の曲", "の歌"),
    "game": ("个游戏", "款游戏", "のゲーム", "個遊戲"),
    "restaurant": ("家餐厅", "家饭店", "のレストラン", "の店", "家餐廳"),
    "place": ("个地方", "の場所", "のところ", "個地方"),
}
UNSPACED_OF = {phrase: kind for kind, phrases in _UNSPACED.items() for phrase in phrases}
"""Measure word and noun of Chinese, or particle and noun of Japanese, behind a demonstrative: the class."""


def fits(mention: str, named: str) -> bool:
    """Tell whether a mention of class ``mention`` may stand for a thing of class ``named``."""
    if mention == named or named in _WIDER.get(mention, ()):
        return True
    if mention == "place":
        return named in PLACES
    if mention in PLACES:
        return named == "place" and mention in {"city", "country", "island"}
    return named == TITLE and mention in WORKS
