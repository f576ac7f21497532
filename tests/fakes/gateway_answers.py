"""What a gateway answers to questions, with members that a newer one might add."""

from __future__ import annotations

from typing import Any

AT = "2026-03-01T18:22:05+01:00"

RECALLED: dict[str, Any] = {
    "id": None,
    "hits": [
        {
            "record_id": "r1",
            "kind": "turn",
            "turn_ids": ["t1"],
            "speaker": "Mia",
            "at": AT,
            "text": "the floor",
            "score": 0.5,
            "why": {"dense": 0.5},
            "of_a_newer_gateway": 1,
        }
    ],
    "stale": False,
    "behind": 0,
    "took_ms": 1.5,
    "of_a_newer_gateway": {},
}
ANSWER: dict[str, Any] = {
    "id": None,
    "answer": "the floor",
    "reason": None,
    "confidence": "high",
    "inferred": False,
    "citations": [
        {"turn_ids": ["t1"], "record_id": "r1", "kind": "turn", "speaker": "Mia", "at": AT, "text": "the floor"}
    ],
    "evidence": RECALLED["hits"],
    "research": "enough",
    "stale": True,
    "behind": 2,
    "took_ms": 900.5,
    "used": {"searches": 2, "requests": 3},
    "trace": [{"step": "search", "outcome": "1 found", "queries": ["q"], "turn_ids": ["t1"]}],
    "of_a_newer_gateway": 1,
}
BUNDLE: dict[str, Any] = {
    "placement": {
        "turn_id": None,
        "parent_turn_id": "t1",
        "other_parents": ["t0"],
        "rule": "ranked",
        "score": 7,
        "runners_up": [{"turn_id": "t2", "score": 3}],
    },
    "lines": [{"part": "local", "turn_ids": ["t1"], "at": AT, "text": "the floor", "tokens": 2}],
    "tokens": 2,
}
