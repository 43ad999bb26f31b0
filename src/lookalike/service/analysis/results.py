"""Results of analyses, kept until the rows have changed too much; missing ones become jobs.

They are kept in memory, and in the store for the next start.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase
from lookalike.index import Index
from lookalike.index.segments import learn_levels
from lookalike.service.analysis import views
from lookalike.service.analysis.sample import MAX_ANALYZED_ROWS, fit_repaired
from lookalike.service.collection import Collection
from lookalike.service.fitting import about_aside, make, name_rows
from lookalike.service.jobs import Job, Jobs
from lookalike.service.problems import refused_again
from lookalike.service.store.caches import load_result, save_result
from lookalike.service.view import View
from lookalike.table import read_table


def fit_again(
    view: View, measure: str, kinds: Mapping[str, Any], weights: Mapping[str, float]
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
    """
    before, table = view.settings, learn_levels(view.index.table)
    ids = table[before.names].values.tolist()
    table = table.drop([before.names])  # the ids are not to be compared
    if kinds:
        table = read_table(table, kinds=kinds)
    settings = replace(
        before,
        measure=measure,
        kinds={**before.kinds, **kinds},
        weights=dict(weights),
        aside=about_aside(table)
        | {n: a for n, a in before.aside.items() if n in table.schema.aside},
        compared=len(table.columns),
    )
    made, reason = make(settings, table)
    settings = replace(settings, reason=reason, measured=type(made).__name__)
    index = Index(made, id_column=before.names).fit(name_rows(table, ids, before))
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

    def forget(self, collection: Collection) -> None:
        """Forget all results of a collection, and cancel its jobs."""
        for job in self.jobs.of(collection.name):
            self.jobs.cancel(job)
        with self._lock:
            for key in [key for key in self._found if key[0] == collection.key]:
                del self._found[key]

    def map(self, collection: Collection) -> views.Map | Job:
        """Return the map of a collection, or the job that computes it."""
        return self._get(collection, "map", views.Map, views.make_map)

    def clusters(self, collection: Collection) -> views.Clusters | Job:
        """Return the clusters of a collection, or the job that finds them."""
        return self._get(collection, "clusters", views.Clusters, views.find_clusters)

    def hubs(self, collection: Collection, k: int) -> views.Hubs | Job:
        """Return the hubs of a collection, or the job that counts them."""

        def make(view: View) -> views.Hubs:
            found = views.find_hubs(view, view.repaired, k)
            helps = view.repaired is None and found.document["reduction_helps"]
            if helps and len(view.index) <= MAX_ANALYZED_ROWS and views.can_be_repaired(view):
                # The page compares both spaces, and the index also serves searches from now on.
                repaired = fit_repaired(view)
                collection.set_repaired(view, repaired)
                found = views.find_hubs(view, repaired, k)
            return found

        return self._get(collection, f"hubs-{k}", views.Hubs, make)

    def known_hubs(self, collection: Collection, view: View) -> views.Hubs | None:
        """Return the hubs of a collection if they were counted, for lists of any length."""
        with self._lock:
            for (key, kind), found in self._found.items():
                is_hubs = key == collection.key and kind.startswith("hubs")
                if is_hubs and found.sample.still_fits(view):
                    return found
        return None

    def repair(self, collection: Collection) -> Job:
        """Start to compute the space with reduced hubness."""
        view = collection.view
        if not views.can_be_repaired(view):
            hint = Phrase("Use ", Param("space", "plain"), ", or refit with another measure")
            found = type(view.index.measure_).__name__
            raise InvalidInput("repair", "a measure without a reducer", found, hint)

        def work(job: Job) -> dict[str, Any]:
            now = collection.view
            if now.repaired is None:
                collection.set_repaired(now, fit_repaired(now))
            return {"space": "repaired", "generation": collection.view.generation}

        return self.jobs.start("repair", collection.name, (collection.key, view.fitted), work)

    def refit(
        self,
        collection: Collection,
        measure: str,
        kinds: Mapping[str, Any],
        weights: Mapping[str, float],
    ) -> Job:
        """Start to fit the measure again; the old one serves until the new one is ready."""

        def work(job: Job) -> dict[str, Any]:
            after = collection.refit(lambda view: fit_again(view, measure, kinds, weights))
            collection.save_cache()
            return {"measure": after.settings.measured, "generation": after.generation}

        key = (collection.key, measure, repr(sorted(kinds.items())), repr(sorted(weights.items())))
        return self.jobs.start("measure", collection.name, key, work)

    def _get(
        self,
        collection: Collection,
        kind: str,
        form: type[views.Analysis],
        make: Callable[[View], Any],
    ) -> Any:
        view, key = collection.view, (collection.key, kind)
        with self._lock:
            found = self._found.get(key)
        if found is not None and found.sample.still_fits(view):
            return found
        # The stored result for the very same rows, by this server or another; a cache is not worth
        # an error.
        with contextlib.suppress(LookalikeError, KeyError, ValueError):
            kept = load_result(collection.store.database, *key, view.generation)
            if kept is not None and (stored := form.of(view, kept)) is not None:
                with self._lock:
                    self._found[key] = stored
                return stored

        def work(job: Job) -> dict[str, Any]:
            made = make(collection.view)
            sample = made.sample
            with self._lock:
                self._found[key] = made
            # A result that cannot be stored still serves until the server stops.
            with contextlib.suppress(LookalikeError):
                save_result(collection.store.database, *key, sample.view.generation, made.kept())
            about = {"rows": len(sample.ids), "sampled": sample.sampled}
            return about | {"generation": sample.view.generation}

        same, name = (collection.key, kind, view.fitted, view.changed), kind.partition("-")[0]
        problem = self.jobs.failure(name, same)
        if problem is not None:  # it would fail again: the same rows, the same work
            raise refused_again(problem)
        return self.jobs.start(name, collection.name, same, work)
