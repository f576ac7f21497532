"""The priority cascade: explicit continuation, temporal return, else the scored candidates (ArborMem)."""

from __future__ import annotations

from schemas.localized import Placement, Rule
from schemas.normalized import Normalized
from stages.localize_state import rules
from stages.localize_state.anchors import node_of, path_of, path_to, rooted, runners_up, under
from stages.localize_state.cues import returns
from stages.localize_state.forest import Forest
from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Node, Seen, Sign
from stages.localize_state.reads import Hit, at, by_id, few, similar
from stages.localize_state.returning import found_in_time
from stages.localize_state.scored import Choice, answered, in_channel, in_chat
from stages.localize_state.threads import joined, recent
from stages.ports import History


async def place(history: History, message: Normalized, turn: Incoming, forest: Forest) -> Placement:
    """Say where a turn hangs; the first rule that applies decides.

    Raises:
        Unavailable: if the index does not answer.
    """
    told = await _revised(history, message, turn, forest) or await _referred(history, message, turn, forest)
    if told:
        return told
    if turn.signs & Sign.SYSTEM:
        return rooted(turn)
    if rules.is_channel(turn, forest.window.entries):
        return await _in_channel(history, message, turn, forest)
    return await _in_chat(history, message, turn, forest)


async def _revised(history: History, message: Normalized, turn: Incoming, forest: Forest) -> Placement | None:
    """Give a revision the place of the turn it replaces, so that what hangs under it stays in the branch.

    Where the former parent is not known any more it becomes a root: any other place could be below the turn itself.
    """
    if message.revises is None:
        return None
    old = forest.turn(turn.turn_id)
    if old is None:
        record = await by_id(history, message.header.space, turn.position, turn.turn_id)
        return record.turn.placement if record and record.turn else rooted(turn)
    above = forest.turn_at(old.parent)
    placed = await _under_older(history, message, turn, old) if above is None else _explicit(turn, forest, above)
    placed = rooted(turn) if placed is None or placed.parent_turn_id == turn.turn_id else placed
    return placed.model_copy(update={"branch": old.branch, "interaction": old.interaction})


async def _under_older(history: History, message: Normalized, turn: Incoming, old: Seen) -> Placement | None:
    """Put a revision of a recent turn under the former's parent, which only memory knows."""
    record = await at(history, message.header.space, turn.position, old.parent)
    node = node_of(record) if record else None
    return under(turn, node, Rule.EXPLICIT, path_of(record)) if record and node else None


async def _referred(history: History, message: Normalized, turn: Incoming, forest: Forest) -> Placement | None:
    """Follow the client's reply reference; one to a turn that nobody knows says nothing."""
    wanted = message.turn.reply_to
    if wanted is None or wanted == turn.turn_id:
        return None
    there = [node for node in forest.nodes if node.turn_id == wanted]
    if there:
        return _explicit(turn, forest, max(there, key=lambda node: node.position))
    record = await by_id(history, message.header.space, turn.position, wanted)
    node = node_of(record) if record else None
    return under(turn, node, Rule.EXPLICIT, path_of(record)) if record and node else None


async def _in_channel(history: History, message: Normalized, turn: Incoming, forest: Forest) -> Placement:
    said = rules.utterances(forest)
    parent = rules.own_last(turn, forest) or rules.agent_reply(turn, forest, said)
    if parent:
        return _explicit(turn, forest, parent)
    choice = in_channel(turn, forest)
    if turn.addressed:
        return _addressed(turn, forest, choice) or _chosen(turn, forest, choice)
    back, hits = await _back_in_time(history, message, turn, forest)
    if back:
        return back
    if choice.best is None and turn.tokens:  # an older turn matters only where no recent one does
        older = [hit for hit in await _older(history, message, turn, hits) if forest.turn_at(hit.record.since) is None]
        choice = in_channel(turn, forest, older) if older else choice
    return _chosen(turn, forest, choice)


def _addressed(turn: Incoming, forest: Forest, choice: Choice) -> Placement | None:
    """Put a turn under the addressed person's latest relevant one; further addressees are further parents."""
    nodes = answered(turn, choice)
    spoke = any(one.person in turn.addressed for one in forest.window)
    silent = None if nodes or spoke or choice.best else rules.absent(turn, forest)
    if silent:
        nodes = [silent]
    if not nodes:
        return None
    placed = _explicit(turn, forest, nodes[0])
    others = tuple(node.turn_id for node in nodes[1:])
    return placed.model_copy(update={"other_parents": others, "runners_up": runners_up(choice.scored, nodes[0])})


async def _in_chat(history: History, message: Normalized, turn: Incoming, forest: Forest) -> Placement:
    said = rules.utterances(forest)
    parent = rules.own_last(turn, forest) or rules.agent_reply(turn, forest, said)
    if parent:
        return _explicit(turn, forest, parent)
    back, hits = await _back_in_time(history, message, turn, forest)
    if back:
        return back
    parent = rules.bare_reply(turn, said) or rules.partner_reply(turn, said)
    if parent:
        return _explicit(turn, forest, parent)
    older = await _older(history, message, turn, hits)
    threads = joined(recent(turn, forest, forest.cosines(turn.vector)), older, forest.tips)
    return _chosen(turn, forest, in_chat(turn, threads))


async def _back_in_time(
    history: History, message: Normalized, turn: Incoming, forest: Forest
) -> tuple[Placement | None, list[Hit] | None]:
    """Follow words that say when, or that it was earlier; what was read on the way serves the scored choice.

    Agents report times more than they return to them.
    """
    intervals = None if turn.signs & Sign.AGENT else returns(message, turn.text)
    if intervals is None:
        return None, None
    hits = await similar(history, message.header.space, turn, widely=bool(intervals))
    found = found_in_time(turn, forest, hits, intervals)
    return (under(turn, found.node, Rule.TEMPORAL, found.path) if found else None), hits


async def _older(history: History, message: Normalized, turn: Incoming, hits: list[Hit] | None) -> list[Hit]:
    return await similar(history, message.header.space, turn) if hits is None else few(hits)


def _explicit(turn: Incoming, forest: Forest, parent: Node) -> Placement:
    return under(turn, parent, Rule.EXPLICIT, path_to(forest, parent))


def _chosen(turn: Incoming, forest: Forest, choice: Choice) -> Placement:
    others = runners_up(choice.scored, choice.best)
    if choice.best is None:
        return rooted(turn, choice.score, others)
    path = choice.path or path_to(forest, choice.best)
    return under(turn, choice.best, Rule.RANKED, path, choice.score).model_copy(update={"runners_up": others})
