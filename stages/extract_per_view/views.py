"""The ten general views that every space starts with (AutoViewMem 3.1; this table is ours)."""

from __future__ import annotations

from typing import Final

from schemas.extracted import ItemKind
from schemas.view import View, ViewSet

IDENTITY: Final = "identity"
PREFERENCES: Final = "preferences"
RELATIONSHIPS: Final = "relationships"
HEALTH: Final = "health"
PLACES: Final = "places"
PLANS: Final = "plans"
EXPERIENCES: Final = "experiences"
WORK: Final = "work"
REQUESTS: Final = "requests"
OTHER: Final = "other"
"""The catch-all, always active: it takes what states something and no other view took."""

VIEWS: Final[tuple[View, ...]] = (
    View(
        id=IDENTITY,
        name="identity and background",
        kind=ItemKind.ATTRIBUTE,
        slots=("trait", "value"),
        template="Who someone is: name, age, origin, upbringing, character, values, beliefs and life situation.",
    ),
    View(
        id=PREFERENCES,
        name="preferences and dislikes",
        kind=ItemKind.ATTRIBUTE,
        slots=("object", "attitude", "reason"),
        template="What someone likes, loves, enjoys or prefers, and what they dislike: favourite food, music, hobbies.",
    ),
    View(
        id=RELATIONSHIPS,
        name="people and relationships",
        kind=ItemKind.ATTRIBUTE,
        slots=("person", "relation"),
        template="The people in someone's life: family, partner, children, parents, friends, pets and how they get on.",
    ),
    View(
        id=HEALTH,
        name="health and wellbeing",
        kind=ItemKind.ATTRIBUTE,
        slots=("condition", "since"),
        template="Someone's health and wellbeing: illness, injury, allergies, diet, sleep, exercise, stress and mood.",
    ),
    View(
        id=PLACES,
        name="possessions and places",
        kind=ItemKind.ATTRIBUTE,
        slots=("thing", "place"),
        template="What someone owns and where they live: home, city, house, car, instruments, devices and belongings.",
    ),
    View(
        id=PLANS,
        name="plans and intentions",
        kind=ItemKind.EVENT,
        slots=("what", "when", "where"),
        template="What someone plans, intends or is going to do: goals, dreams, appointments, trips and coming events.",
    ),
    View(
        id=EXPERIENCES,
        name="experiences and events",
        kind=ItemKind.EVENT,
        slots=("what", "when", "where", "who"),
        template="What someone did or what happened to them: a past event, trip, visit, meeting, achievement or loss.",
    ),
    View(
        id=WORK,
        name="work and study facts",
        kind=ItemKind.FACT,
        slots=("what", "where", "state"),
        template="Facts about work, study and projects: job, company, school, courses, code, tools and results.",
    ),
    View(
        id=REQUESTS,
        name="requests and constraints",
        kind=ItemKind.FACT,
        slots=("what", "limit"),
        template="What someone asks for or requires: a request, instruction, deadline, budget, limit or rule.",
    ),
    View(
        id=OTHER,
        name="anything else worth keeping",
        kind=ItemKind.FACT,
        slots=(),
        template="Any other statement of fact worth keeping.",
    ),
)

GENERAL: Final = ViewSet(version=1, since=0, views=VIEWS)
"""The view set of every space until one of its own converges."""

KINDS: Final[dict[str, ItemKind]] = {view.id: view.kind for view in VIEWS}
