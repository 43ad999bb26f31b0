"""The neighbors of a row, their neighbors, and who is in whose list."""

from __future__ import annotations

from typing import Any

from lookalike.hubness import hubs_and_orphans
from lookalike.index import Hits
from lookalike.service.analysis.hubs import Hubs
from lookalike.service.notes import collected
from lookalike.service.view import View


def grow(
    view: View, id: Any, *, depth: int, k: int, space: str, most: int, hubs: Hubs | None
) -> dict[str, Any]:
    """Return the rows within some steps of a row, and the links between them.

    Parameters
    ----------
    view : View
    id : id of the row in the middle
    depth : int
        Steps from it.
    k : int
        Length of the lists that are followed.
    space : {"plain", "repaired"}
    most : int
        The most nodes.
    hubs : Hubs or None
        How often rows stand in lists, where this was counted.
    """
    index = view.space(space)
    found: dict[Any, Hits] = {}
    depths = {id: 0}
    with collected():
        ring = [id]
        for step in range(depth + 1):
            # The lists of the last ring only tell which links are mutual.
            todo = [one for one in ring if one not in found]
            if todo:
                answers: Any = index.search(todo, k)
                found.update(zip(todo, answers, strict=True))
            if step == depth:
                break
            ring = []
            for one in todo:
                for hit in found[one]:
                    if hit.id not in depths and len(depths) < most:
                        depths[hit.id] = step + 1
                        ring.append(hit.id)
    links = []
    for source, hits in found.items():
        if depths[source] == depth and depth > 0:
            continue
        for hit in hits:
            if hit.id in depths:
                back = hit.id in found and source in found[hit.id].ids
                links.append(
                    {
                        "source": source,
                        "target": hit.id,
                        "similarity": hit.similarity,
                        "mutual": back,
                    }
                )
    return {
        "nodes": [_node(view, one, at, space, hubs) for one, at in depths.items()],
        "links": links,
        "generation": view.generation,
    }


def _node(view: View, id: Any, depth: int, space: str, hubs: Hubs | None) -> dict[str, Any]:
    record = view.record(id)
    node = {
        "id": id,
        "label": view.label(id, record),
        "depth": depth,
        "occurrence": None,
        "hub": False,
        "orphan": False,
    }
    place = None if hubs is None else hubs.sample.places.get(id)
    if hubs is not None and place is not None:
        counts = hubs.space(space).occurrence
        groups = hubs_and_orphans(counts, hubs.k)
        count = int(counts[place])
        node |= {
            "occurrence": count,
            "hub": count > groups.factor * groups.k,
            "orphan": count == 0,
        }
    return node
