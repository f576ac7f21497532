"""Convergence: from a noisy pool to a set of K views that differ (AutoViewMem 3.1, phase 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from schemas.space import Space
from schemas.view import View, ViewDetail, ViewSet
from stages.extract_per_view.answers import CANONICAL, Canonical
from stages.extract_per_view.asked import all_asked
from stages.extract_per_view.dpp import greedy_map, kernel
from stages.extract_per_view.pool import Pooled
from stages.extract_per_view.sets import SIZE, Choice, bounded, instruction
from stages.extract_per_view.views import OTHER, VIEWS
from stages.extract_per_view.wording import says_something
from stages.ports import Embedder, LanguageModel, Request
from stages.prompts import as_data
from stages.text.similarity import dots, permille

NEAREST: Final = 30
"""Candidates that are rewritten into one with a seed (AutoViewMem 3.1)."""

CLOSE: Final = {"all-MiniLM-L6-v2": 640}
"""Thousandths of cosine from which a rewritten view is an old one in other words, and keeps its id, by encoder. Of the
rewordings of the general views in tests/data/view_rewordings.jsonl eight in nine reach it, at 550 to 862 of their own
view; no two different views are nearer than 573."""

DEFAULT_CLOSE: Final = 900


@dataclass(frozen=True, slots=True)
class Member:
    """A view of a new set: its seed, the candidates it was rewritten with (nearest first), the vector it has now."""

    view: View
    seed: Pooled
    near: tuple[Pooled, ...] = ()
    degraded: bool = False
    vector: bytes = b""

    def detail(self, views: ViewSet) -> ViewDetail:
        """Return the member as its record tells it."""
        return ViewDetail(
            view=self.view,
            version=views.version,
            holds_from=views.since,
            seed=self.seed.view.id,
            neighbours=tuple(one.view.id for one in self.near),
        )


@dataclass(frozen=True, slots=True)
class Converged:
    """A new set and how each of its views came into it."""

    views: ViewSet
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Converging:
    """Chooses and rewrites. ``choice`` random takes chance, seeded by space and version, in place of the DPP."""

    embedder: Embedder
    language: LanguageModel
    choice: Choice

    async def converge(self, space: Space, position: int, was: ViewSet, candidates: Sequence[Pooled]) -> Converged:
        """Return the set that holds from the event after ``position`` on.

        Raises:
            Unavailable: if a model does not answer.
        """
        vectors = await self.embedder.embed([instruction(one.view) for one in candidates])
        version = was.version + 1
        seeds = self._chosen(space, version, candidates, vectors)
        bare = [_member(seed, candidates, vectors) for seed in seeds]
        members = await all_asked(self._rewritten(space, one) for one in bare)
        fresh = await self.embedder.embed([instruction(one.view) for one in members])
        names = await self._names(version, was, members, fresh)
        named = tuple(
            replace(one, view=one.view.model_copy(update={"id": name}), vector=vector)
            for one, name, vector in zip(members, names, fresh, strict=True)
        )
        found = ViewSet(version=version, since=position + 1, views=tuple(one.view for one in named))
        return Converged(found, named)

    def _chosen(
        self, space: Space, version: int, candidates: Sequence[Pooled], vectors: Sequence[bytes]
    ) -> Sequence[int]:
        """Return the seeds, the catch-all first."""
        first = next(at for at, one in enumerate(candidates) if one.view.id == OTHER)
        if self.choice is not Choice.RANDOM:
            return greedy_map(kernel(vectors), first, SIZE)
        others = [at for at in range(len(candidates)) if at != first]
        others.sort(key=lambda at: _chance(space, version, candidates[at].view))
        return [first, *others[: SIZE - 1]]

    async def _rewritten(self, space: Space, one: Member) -> Member:
        """Return a seed and its neighbours in one instruction; the catch-all, and one with none, stay as they are."""
        if not one.near:
            return one
        answer = await self.language.ask(_request(space, one))
        if answer is None:
            return replace(one, near=(), degraded=True)
        return replace(one, view=_view(one.seed.view, answer))

    async def _names(self, version: int, was: ViewSet, members: Sequence[Member], fresh: Sequence[bytes]) -> list[str]:
        """Return the ids: of an old view that is close, each once, else a new one."""
        old = list({view.id: view for view in (*was.views, *VIEWS) if view.id != OTHER}.values())
        vectors = await self.embedder.embed([instruction(view) for view in old])
        least = next((least for name, least in CLOSE.items() if name in self.embedder.model), DEFAULT_CLOSE)
        taken: list[str] = []
        for number, (one, vector) in enumerate(zip(members, fresh, strict=True)):
            ranked = sorted(
                (-permille(dot), view.id)
                for view, dot in zip(old, dots(vector, vectors), strict=True)
                if view.id not in taken
            )
            near = ranked and -ranked[0][0] >= least
            own = f"v{version}-{number}"
            taken.append(OTHER if one.seed.view.id == OTHER else ranked[0][1] if near else own)
        return taken


def _member(seed: int, candidates: Sequence[Pooled], vectors: Sequence[bytes]) -> Member:
    """Return a seed with its nearest candidates; the catch-all has none and is none's."""
    one = candidates[seed]
    if one.view.id == OTHER:
        return Member(one.view, one)
    scores = dots(vectors[seed], vectors)
    others = [at for at, other in enumerate(candidates) if at != seed and other.view.id != OTHER]
    others.sort(key=lambda at: (-scores[at], at))
    return Member(one.view, one, tuple(candidates[at] for at in others[:NEAREST]))


def _chance(space: Space, version: int, view: View) -> str:
    return blake2b(f"{space}\n{version}\n{view.id}".encode(), digest_size=16).hexdigest()


def _request(space: Space, one: Member) -> Request[Canonical]:
    return Request(
        space=space,
        prompt=CANONICAL,
        data=as_data({"seed": _shown(one.seed.view), "near": [_shown(other.view) for other in one.near]}),
        check=lambda answer: (
            None if says_something(answer.name) and says_something(answer.look_for) else "Name and look_for are empty."
        ),
    )


def _shown(view: View) -> dict[str, object]:
    return {"name": view.name, "slots": list(view.slots), "look_for": view.template}


def _view(seed: View, answer: Canonical) -> View:
    return bounded(View(id=seed.id, name=answer.name, kind=seed.kind, slots=answer.slots, template=answer.look_for))
