# ruff: noqa: RUF001 - letters of other scripts are what this file is about
"""Expressions in languages other than English, read by dateparser.

The phrase is found here, by patterns that cannot be English; what it means is looked up in dateparser's
tables for one given language. The library is told the moment and the zone on every call, so that it never
asks the clock or the environment, and it is not let guess the language, which costs seconds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dateparser.date import DateDataParser

from stages.text.times.calendar import Unit, unit_at
from stages.text.times.context import Rule
from stages.text.times.words import rule

if TYPE_CHECKING:
    from datetime import datetime

    from stages.text.times.calendar import Stretch
    from stages.text.times.context import Context

_SETTINGS: Final = {
    "TIMEZONE": "UTC",
    "RETURN_AS_TIMEZONE_AWARE": False,
    "PREFER_DATES_FROM": "current_period",
    "PREFER_DAY_OF_MONTH": "first",
    "PREFER_MONTH_OF_YEAR": "first",
    "DATE_ORDER": "DMY",
}
_PERIODS: Final = {
    "time": Unit.MINUTE,
    "day": Unit.DAY,
    "week": Unit.WEEK,
    "month": Unit.MONTH,
    "year": Unit.YEAR,
}
_MONTHS: Final = {
    "es": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "fr": "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
    "de": "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember",
    "it": "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
    "pt": "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
    "nl": "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
    "ru": "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря",
}
# What stands before and after the month; a month alone, or with a year only, is too like English to be told.
_DATES: Final = {
    "es": (r"[0-9]{1,2}\sde\s", r"(?:\sdel?\s[0-9]{4})?"),
    "fr": (r"(?:1er|[0-9]{1,2})\s", r"(?:\s[0-9]{4})?"),
    "de": (r"[0-9]{1,2}\.\s", r"(?:\s[0-9]{4})?"),
    "it": (r"[0-9]{1,2}\s", r"(?:\s[0-9]{4})?"),
    "pt": (r"[0-9]{1,2}\sde\s", r"(?:\sde\s[0-9]{4})?"),
    "nl": (r"[0-9]{1,2}\s", r"(?:\s[0-9]{4})?"),
    "ru": (r"[0-9]{1,2}\s", r"(?:\s[0-9]{4})?"),
}
_N: Final = "[0-9]{1,3}"
# Any single word here is one that no other language of the list, nor English, has in another sense.
_RELATIVE: Final = {
    "es": (
        rf"ayer|anteayer|hace\s(?:una?|{_N})\s(?:días?|semanas?|mes(?:es)?|años?|horas?|minutos?)"
        r"|la\ssemana\spasada|el\s(?:mes|año)\spasado|la\spróxima\ssemana"
    ),
    "fr": (
        rf"avant-hier|aujourd['\u2019]hui|il\sy\sa\s(?:une?|deux|trois|{_N})\s(?:jours?|semaines?|mois|ans?"
        r"|heures?|minutes?)|la\ssemaine\sdernière|le\smois\sdernier|l['\u2019]année\sdernière"
    ),
    "de": (
        rf"gestern|vorgestern|heute|übermorgen|vor\s(?:eine[rm]|zwei|drei|{_N})\s(?:tag(?:en)?|wochen?"
        r"|monat(?:en)?|jahr(?:en)?|stunden?|minuten?)|letzte\swoche|letzten\smonat|letztes\sjahr"
        r"|nächste\swoche"
    ),
    "it": rf"ieri|domani|{_N}\s(?:giorni|settimane|mesi|anni|ore|minuti)\sfa|settimana\sscorsa|anno\sscorso",
    "pt": (
        rf"ontem|amanhã|{_N}\s(?:dias|semanas|meses|anos|horas|minutos)\satrás|semana\spassada"
        r"|ano\spassado"
    ),
    "nl": (
        rf"gisteren|eergisteren|{_N}\s(?:dagen|weken|maanden|jaar|uur|minuten)\sgeleden|vorige\sweek"
        r"|vorig\sjaar"
    ),
    "ru": (
        rf"вчера|позавчера|сегодня|завтра|(?:{_N}|две|два|три)\s(?:дня|дней|недели|недель|месяца|месяцев|года"
        r"|лет|часа|часов)\sназад|(?:неделю|месяц|год)\sназад|на\sпрошлой\sнеделе|в\sпрошлом\sгоду"
    ),
}
# A word of each relative expression, by which the gate knows that there may be one.
_SIGNS: Final = {
    "es": "ayer|anteayer|hace|pasada|pasado|próxima",
    "fr": "avant|aujourd|il|dernière|dernier",
    "de": "gestern|vorgestern|heute|übermorgen|vor|letzte|letzten|letztes|nächste",
    "it": "ieri|domani|fa|scorsa|scorso",
    "pt": "ontem|amanhã|atrás|passada|passado",
    "nl": "gisteren|eergisteren|geleden|vorige|vorig",
    "ru": "вчера|позавчера|сегодня|завтра|назад|прошлой|прошлом",
}
_DIGITAL_YEAR: Final = r"[0-9]{4}年[0-9]{1,2}月(?:[0-9]{1,2}日)?"
_HAN: Final = {
    "zh": r"昨天|前天|今天|明天|后天|[0-9]{1,3}(?:天|年|小时)前|上周|去年|" + _DIGITAL_YEAR,
    "ja": r"昨日|一昨日|明日|[0-9]{1,3}(?:日|週間|年|時間)前|先週",
}


def _read(phrase: str, language: str, now: datetime) -> Stretch | None:
    """Return the calendar unit, of the grain that dateparser reports, in which ``phrase`` lies."""
    parser = DateDataParser(
        languages=[language],
        try_previous_locales=False,
        settings={**_SETTINGS, "RELATIVE_BASE": now},
    )
    data = parser.get_date_data(phrase.replace("\u2019", "'"))
    if data.date_obj is None:
        return None
    return unit_at(data.date_obj.replace(tzinfo=None), _PERIODS.get(data.period or "day", Unit.DAY))


def _rules(language: str) -> tuple[Rule, ...]:
    def resolve(match: re.Match[str], context: Context) -> Stretch | None:
        return _read(match[0], language, context.now)

    if language in _HAN:
        # These are written without blanks: the words of the text cannot gate the rule, its signs do.
        return (Rule(frozenset({"han"}), re.compile(_HAN[language]), resolve),)
    months = frozenset(_MONTHS[language].split("|"))
    before, after = _DATES[language]
    dated = rule(f"{before}(?:{_MONTHS[language]}){after}")
    return (
        Rule(frozenset(_SIGNS[language].split("|")), rule(_RELATIVE[language]), resolve),
        Rule(frozenset("#"), dated, resolve, also=months),
    )


FOREIGN: Final = tuple(each for language in (*_MONTHS, *_HAN) for each in _rules(language))
