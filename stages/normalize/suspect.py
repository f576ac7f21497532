"""Text shaped as instructions to the system (mechanics, normalize 6; OWASP's LLM01, prompt injection).

The mark costs the text nothing but its way to attributes and persona, and no list of patterns is complete: the safety
lies in memory being rendered as data everywhere.
"""

from __future__ import annotations

import re

_TARGET = r"(?:instructions?|rules?|prompts?|guidelines?|directives?|restrictions?|programming|system messages?)"
_WHOSE = r"(?:previous|prior|above|earlier|your|all|any|system|safety|these|those|my)"
_KEEP = "store|record|memori[sz]e|obey|save"
_DUTY = "(?:must|should|shall|will|have to|need to|are to)"
_MEMORY = "(?:long[- ]term |permanent )?(?:memory|memories|knowledge base|user profile|system prompt)"
_HEAD = "(?:system (?:prompt|message)|new (?:system )?instructions?|system|assistant|developer)"
_OTHER_SELF = "(?:DAN|jailbroken|unrestricted|developer mode|an? (?:evil|uncensored))"
_PATTERNS = (
    rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{{0,40}}\b{_WHOSE}\b[^.!?\n]{{0,30}}\b{_TARGET}\b",
    r"\b(?:ignore|disregard|forget) (?:everything|all|anything) (?:above|before|previous|prior|you were)\b",
    rf"\byou {_DUTY} (?:(?:now|always|permanently|forever|henceforth) )+(?:remember|{_KEEP}|believe|treat)\b",
    rf"\byou (?:must|shall|are to) (?:{_KEEP}) (?:that|this|the following|my|every)\b",
    rf"\b(?:remember|store|save|record|note)[^.!?\n]{{0,30}}\b(?:to|in|into|as) (?:your|the) {_MEMORY}\b",
    rf"^[ \t]{{0,8}}\W{{0,6}}{_HEAD}\W{{0,4}}:",
    r"<\|?\s?(?:system|im_start|im_end|assistant|endoftext)\s?\|?>|\[/?INST\]|<</?SYS>>",
    r"\bas (?:the|an|your) (?:system )?(?:admin(?:istrator)?|developer|root user|operator)\b\s?,",
    rf"\b(?:you are|you're|act as|pretend to be)\b[^.!?\n]{{0,20}}\b{_OTHER_SELF}\b",
    r"\b(?:reveal|print|repeat|show|leak)\b[^.!?\n]{0,25}\b(?:system|hidden|initial|secret) (?:prompt|instructions?)\b",
    r"\bfrom now on,? (?:you|always|never|answer|respond|ignore)\b",
    r"\b(?:ignora|olvida|omite)\b[^.!?\n]{0,40}\b(?:instrucciones|reglas|instruções|regras|istruzioni|regole)\b",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?\n]{0,40}\b(?:instructions|consignes|règles)\b",
    r"\b(?:ignorier\w*|vergiss|missachte\w*)\b[^.!?\n]{0,40}\b(?:anweisung\w*|regeln|vorgaben|instruktionen)\b",
    r"\b(?:игнорируй\w*|забудь\w*)\b[^.!?\n]{0,40}\b(?:инструкци\w*|правил\w*|указани\w*)",
    r"(?:忽略|无视|無視|忘记|忘掉)[^。\n]{0,20}(?:指令|指示|规则|規則|提示词|提示)",
    r"(?:指示|命令|ルール|規則|プロンプト)[^。\n]{0,10}(?:無視|忘れ)",
    r"(?:이전|위의|모든)[^.!?\n]{0,20}(?:지시|명령|규칙)[^.!?\n]{0,10}(?:무시|잊)",
    r"(?:تجاهل|انس)[^.!?؟\n]{0,40}(?:التعليمات|الأوامر|القواعد)",
)
_SUSPECT = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE | re.MULTILINE)

_TRIGGERS = (
    "ignor,disregard,forget,overrid,bypass,remember,stor,sav,record,memori,note,obey,believe,treat,:,|,"
    "inst],sys,assistant,endoftext,im_,as the,as your,as an,you are,you're,act as,pretend,prompt,"
    "instruction,from now on,olvida,omite,oublie,vergiss,missachte,игнорируй,забудь,忽略,无视,無視,忘,무시,잊,"
    "تجاهل,انس"
).split(",")
"""One of these is in every phrase that a pattern matches: looking for them costs 3 µs, the patterns 0.2 ms."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
"""Format characters between the letters hide a phrase from patterns, not from a model."""


def is_suspect(text: str) -> bool:
    """Tell whether ``text`` holds a phrase that gives the system instructions. Several languages, lightly."""
    return hints(text) and _SUSPECT.search(_shown(text)) is not None


def hints(text: str) -> bool:
    """Tell whether ``text`` may be suspect: where it does not hint, no part of it is."""
    lowered = _shown(text).lower()
    return any(trigger in lowered for trigger in _TRIGGERS)


def _shown(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", text).replace("\u2019", "'")
