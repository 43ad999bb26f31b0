"""Analyses of collections that are kept, jobs for the others, and rows fitted again.

Results are kept in memory, and in the store for the next start, until the rows have changed too
much; missing ones become jobs.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase
from lookalike.index.segments import learn_levels
from lookalike.service.analysis import (
    MAX_ANALYZED_ROWS,
    Analysis,
    Clusters,
    Hubs,
    can_be_repaired,
    find_clusters,
    find_hubs,
    fit_repaired,
)
from lookalike.service.collection import Collection, View
from lookalike.service.fitting import about_aside, fit_index, joined, settle
from lookalike.service.jobs import Job, Jobs, Work
from lookalike.service.maps import SKETCH_ROWS, Map, make_map
from lookalike.service.problems import refused_again
from lookalike.table import Table, read_table

MAX_TRIALS = 6  # fitted measures that single clients try; each may hold a forest of all rows


def fit_again(
    view: View,
    measure: str,
    kinds: Mapping[str, Any],
    weights: Mapping[str, float],
    missing: Sequence[Any] = (),
    label_column: str | None = None,
) -> View:
    """Return the view with another measure, fitted to the same rows.

    Parameters
    ----------
    view : View
    measure : str
        A name with options, or "auto".
    kinds : mapping of column to kind
        For columns that are to be read as another kind from now on.
    weights : mapping of column to weight
    missing : cell values that mean "missing" from now on, besides those of before
    label_column : str, optional
        The column that names a row from now on.
    """
    before, table = view.settings, learn_levels(view.index.table)
    ids = table[before.names].values.tolist()
    table = table.drop([before.names])  # the ids are not to be compared
    if kinds or missing:
        columns = [joined(column, kinds.get(column.name)) for column in table.columns]
        table = Table(columns, table.aside, len(table), table.missing)
        table = read_table(table, kinds=kinds or None, missing=list(missing) or None)
    # What is known of columns that stay aside: they are read back without their roles.
    known = {n: a for n, a in before.aside.items() if n in table.schema.aside and n not in kinds}
    settings = replace(
        before,
        measure=measure,
        kinds={**before.kinds, **kinds},
        weights=dict(weights),
        missing=[*before.missing, *missing],
        aside=about_aside(table) | known,
    )
    if label_column is not None:
        found = settle(replace(settings, label_column=label_column), table)
        settings = replace(settings, label_column=found.label_column, label=found.label)
    index, settings = fit_index(table, ids, settings)
    return replace(
        view, settings=settings, schema=table.schema, index=index, repaired=None, changed=0
    )


class Analyses:
    """Analyses of collections: known ones, and jobs for the others.

    Parameters
    ----------
    jobs : Jobs
    """

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs
        self._lock = threading.Lock()
        self._found: dict[tuple[int, str], Any] = {}
        self._trials: OrderedDict[tuple[int, str], View] = OrderedDict()

    def forget(self, collection: Collection) -> None:
        """Forget all results of a collection, and cancel its jobs."""
        for job in self.jobs.of(collection.name):
            self.jobs.cancel(job)
        with self._lock:
            kept: tuple[dict[tuple[int, str], Any], ...] = (self._found, self._trials)
            for results in kept:
                for key in [key for key in results if key[0] == collection.key]:
                    del results[key]

    def map(
        self, collection: Collection, at_least: int | None = None, sketch: bool = False
    ) -> Map | Job:
        """Return the map of a collection, or the job that computes it.

        Parameters
        ----------
        collection : Collection
        at_least : int, optional
            A generation: a result that is as old as this is good enough; None: of the newest rows.
        sketch : bool
            Whether a few rows are good enough as long as the whole map is not known.
        """
        # Maps of before have no regions: another name.
        name = "map-regions"
        many = sketch and len(collection.view.index) > 2 * SKETCH_ROWS
        if many and self._known(collection, name, Map, at_least) is None:
            make = partial(make_map, most=SKETCH_ROWS)
            return self._get(collection, "map-sketch", Map, make, at_least)
        return self._get(collection, name, Map, make_map, at_least)

    def trial(self, collection: Collection, measure: str) -> View | Job:
        """Return the rows compared by another measure, for one client alone, or the job for it."""
        view, key = collection.view, (collection.key, measure)
        if view.sample is not None:
            who, hint = Param("measure", measure), "Leave it out"
            raise InvalidInput(who, "rows in memory", "rows in a folder of shards", hint)
        with self._lock:
            made = self._trials.get(key)
            if made is not None and made.generation == view.generation:
                self._trials.move_to_end(key)
                return made

        def work(job: Job) -> dict[str, Any]:
            fitted = fit_again(view, measure, {}, {})
            with self._lock:
                self._trials[key] = fitted
                self._trials.move_to_end(key)
                while len(self._trials) > MAX_TRIALS:
                    self._trials.popitem(last=False)
            return {"measure": fitted.settings.measured}

        return self._start("trial", collection, (*key, view.generation), work)

    def clusters(
        self, collection: Collection, n: int | str = "auto", at_least: int | None = None
    ) -> Clusters | Job:
        """Return the clusters of a collection, or the job that finds them."""
        kind = "clusters" if n == "auto" else f"clusters-{n}"
        return self._get(collection, kind, Clusters, partial(find_clusters, n=n), at_least)

    def hubs(self, collection: Collection, k: int, at_least: int | None = None) -> Hubs | Job:
        """Return the hubs of a collection, or the job that counts them."""

        def make(view: View) -> Hubs:
            hubs = find_hubs(view, view.repaired, k)
            helps = view.repaired is None and hubs.document["reduction_helps"]
            if helps and len(view.index) <= MAX_ANALYZED_ROWS and can_be_repaired(view):
                # The page compares both spaces, and the index also serves searches from now on.
                repaired = fit_repaired(view)
                collection.set_repaired(view, repaired)
                hubs = find_hubs(view, repaired, k)
            return hubs

        return self._get(collection, f"hubs-{k}", Hubs, make, at_least)

    def known_hubs(self, collection: Collection, view: View) -> Hubs | None:
        """Return the hubs of a collection if they were counted, for lists of any length."""
        with self._lock:
            for (key, kind), hubs in self._found.items():
                is_hubs = key == collection.key and kind.startswith("hubs")
                if is_hubs and hubs.sample.still_fits(view):
                    return hubs
        return None

    def repair(self, collection: Collection) -> Job:
        """Start to compute the space with reduced hubness."""
        view = collection.view
        if not can_be_repaired(view):
            hint = Phrase("Use ", Param("space", "plain"), ", or refit with another measure")
            name = type(view.index.measure_).__name__
            raise InvalidInput("repair", "a measure without a reducer", name, hint)

        def work(job: Job) -> dict[str, Any]:
            now = collection.view
            if now.repaired is None:
                collection.set_repaired(now, fit_repaired(now))
            return {"space": "repaired", "generation": collection.view.generation}

        return self.jobs.start("repair", collection.name, (collection.key, *view.fit), work)

    def refit(
        self,
        collection: Collection,
        measure: str,
        kinds: Mapping[str, Any],
        weights: Mapping[str, float],
        missing: Sequence[Any] = (),
        label_column: str | None = None,
    ) -> Job:
        """Start to fit the measure again; the old one serves until the new one is ready."""
        asked = (measure, kinds, weights, missing, label_column)

        def work(job: Job) -> dict[str, Any]:
            after = collection.refit(lambda view: fit_again(view, *asked))
            collection.save_cache()
            return {"measure": after.settings.measured, "generation": after.generation}

        key = (collection.key, json.dumps(asked, sort_keys=True))
        return self.jobs.start("measure", collection.name, key, work)

    def _get(
        self,
        collection: Collection,
        kind: str,
        form: type[Analysis],
        make: Callable[[View], Any],
        at_least: int | None = None,
    ) -> Any:
        known = self._known(collection, kind, form, at_least)
        if known is not None:
            return known
        view, key = collection.view, (collection.key, kind)

        def work(job: Job) -> dict[str, Any]:
            made = make(collection.view)
            sample = made.sample
            with self._lock:
                self._found[key] = made
            # A result that cannot be stored still serves until the server stops.
            with contextlib.suppress(LookalikeError):
                collection.store.save_result(*key, sample.view.generation, made.kept())
            about = {"rows": len(sample.ids), "sampled": sample.sampled}
            return about | {"generation": sample.view.generation}

        same = (collection.key, kind, *view.fit, view.changed)
        return self._start(kind.partition("-")[0], collection, same, work)

    def _start(self, name: str, collection: Collection, same: Any, work: Work) -> Job:
        """Start a job that ends when no client watches it; refuse one that has failed before."""
        problem = self.jobs.failure(name, same)
        if problem is not None:  # it would fail again: the same rows, the same work
            raise refused_again(problem)
        return self.jobs.start(name, collection.name, same, work, for_view=True)

    def _known(
        self, collection: Collection, kind: str, form: type[Analysis], at_least: int | None
    ) -> Any:
        """Return a result that is kept in memory or in the store, or None."""
        view, key = collection.view, (collection.key, kind)
        with self._lock:
            result = self._found.get(key)
        if result is not None and result.sample.still_fits(view, at_least):
            return result
        # The stored result for the very same rows, by this server or another; a cache is not worth
        # an error.
        with contextlib.suppress(LookalikeError, KeyError, ValueError):
            kept = collection.store.load_result(*key, view.generation)
            if kept is not None and (stored := form.of(view, kept)) is not None:
                with self._lock:
                    self._found[key] = stored
                return stored
        return None
