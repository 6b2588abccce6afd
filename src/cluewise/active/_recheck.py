"""Which questions to ask again when answers contradict each other (12.2 of the specification)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator
from dataclasses import replace

from cluewise.active._dialog import Answer, Question
from cluewise.active._known import Known, resolve
from cluewise.active._state import State

__all__ = ["doubtful_questions"]

MOST = 3
"""Maximum number of answers to one question; after that it is not asked again, even if it contradicts others."""

Key = tuple[str, tuple[int, ...]]


def doubtful_questions(state: State, known: Known) -> list[Question]:
    """The questions to ask again: for each conflict the one with the fewest answers, the latest of these."""
    if not known.conflicts:
        return []
    voices = Counter(answer.question.key for answer in state.answers)
    order = {answer.question.key: i for i, answer in enumerate(state.answers)}
    standing = [answer for answer in resolve(state.answers) if answer.value is not None]
    again: dict[Key, Question] = {}
    for conflict in known.conflicts:
        chain = [conflict, *_support(conflict, standing, known)]
        if any(answer.question.key in again for answer in chain):
            continue  # one of them is asked again already, which may settle this, too
        weak = [a for a in chain if not a.inferred and voices[a.question.key] < MOST]
        if weak:
            chosen = min(weak, key=lambda a: (voices[a.question.key], -order[a.question.key])).question
            again[chosen.key] = replace(chosen, why="answers contradict each other; this one is asked again.")
    return list(again.values())


def _support(conflict: Answer, standing: list[Answer], known: Known) -> list[Answer]:
    """Answers that together say the opposite: a shortest chain of "yes", with one "no" if the conflict says yes."""
    joined: dict[Hashable, list[tuple[Hashable, Answer]]] = {}
    parted: dict[Hashable, list[tuple[Hashable, Answer]]] = {}
    for answer in standing:
        if answer is conflict:
            continue
        for a, b, together in _edges(answer, known):
            edges = joined if together else parted
            edges.setdefault(a, []).append((b, answer))
            edges.setdefault(b, []).append((a, answer))
    for a, b, together in _edges(conflict, known):
        chain = _chain(a, b, joined, parted if together else None)
        if chain is not None:
            return chain
    return []  # the given clues contradict the answer, not other answers


def _edges(answer: Answer, known: Known) -> Iterator[tuple[Hashable, Hashable, bool]]:
    """Pairs of nodes (components of the given clues, and classes) that an answer joins or separates."""
    if answer.question.kind == "label":
        yield known.given(answer.question.rows[0]), ("class", answer.value), True
    for i, j, together in answer.links():
        yield known.given(i), known.given(j), together


def _chain(
    start: Hashable,
    end: Hashable,
    joined: dict[Hashable, list[tuple[Hashable, Answer]]],
    parted: dict[Hashable, list[tuple[Hashable, Answer]]] | None,
) -> list[Answer] | None:
    """Answers along a shortest path, which has exactly one "no" if ``parted`` is given."""
    goal = (end, parted is not None)
    came: dict[tuple[Hashable, bool], tuple[tuple[Hashable, bool], Answer] | None] = {(start, False): None}
    queue = deque([(start, False)])
    while queue:
        here = queue.popleft()
        if here == goal:
            break
        node, used = here
        steps = [((there, used), answer) for there, answer in joined.get(node, [])]
        if parted is not None and not used:
            steps += [((there, True), answer) for there, answer in parted.get(node, [])]
        for there, answer in steps:
            if there not in came:
                came[there] = (here, answer)
                queue.append(there)
    if goal not in came:
        return None
    chain = []
    step = came[goal]
    while step is not None:
        chain.append(step[1])
        step = came[step[0]]
    return chain
