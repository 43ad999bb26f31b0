"""What was found is kept until it is forgotten; what is missing becomes a job."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lookalike.errors import InvalidInput, LookalikeError
from lookalike.service import analyses as kept_analyses
from lookalike.service import analysis


def test_a_sketch_stands_until_the_whole_map_is_known(made, monkeypatch):
    monkeypatch.setattr(kept_analyses, "SKETCH_ROWS", 5)
    jobs = Now()
    analyses = kept_analyses.Analyses(jobs)
    assert analyses.map(made, sketch=True) == "a job"
    rough = analyses.map(made, sketch=True)
    assert (len(rough.sample.ids), rough.document["sketch"]) == (5, True)
    assert set(rough.sample.ids) < set(range(12))
    assert analyses.map(made) == "a job"
    whole = analyses.map(made)
    assert (len(whole.sample.ids), whole.document["sketch"]) == (12, False)
    assert analyses.map(made, sketch=True) is whole
    assert [kind for kind, *_ in jobs.started] == ["map", "map"]
    monkeypatch.setattr(kept_analyses, "SKETCH_ROWS", 6)
    other = kept_analyses.Analyses(Now())  # few rows: the whole map, here from the store
    assert len(other.map(made, sketch=True).sample.ids) == 12


def test_another_measure_is_tried_by_one_client_alone(made, monkeypatch):
    monkeypatch.setattr(kept_analyses, "MAX_TRIALS", 2)
    jobs = Now()
    analyses, view = kept_analyses.Analyses(jobs), made.view
    assert analyses.trial(made, "ratio:n_trees=3") == "a job"
    tried = analyses.trial(made, "ratio:n_trees=3")
    assert tried.settings.measured == "ForestProximity"
    assert tried.generation == view.generation
    assert made.view is view  # the others go on as before
    for name in ("gower", "ratio:n_trees=4"):
        assert analyses.trial(made, name) == "a job"
    assert analyses.trial(made, "gower").settings.measured == "Gower"
    assert analyses.trial(made, "ratio:n_trees=3") == "a job"  # the oldest was dropped
    analyses.forget(made)
    assert analyses.trial(made, "gower") == "a job"
    sampled = SimpleNamespace(view=replace(view, sample=view.table), key=1, name="folder")
    with pytest.raises(InvalidInput, match="rows in memory"):
        analyses.trial(sampled, "gower")


def test_a_fit_with_other_options_keeps_rows_and_settings(made):
    view = replace(made.view, changed=4, repaired=made.view.index)
    after = kept_analyses.fit_again(view, "gower", {"group": "text"}, {"x": 2.0})
    settings = after.settings
    assert (settings.measure, settings.weights, settings.kinds) == (
        "gower", {"x": 2.0}, {"group": "text"},
    )  # fmt: skip
    assert (settings.reason, settings.measured, settings.compared) == ("given", "Gower", 3)
    assert list(settings.aside) == ["name"]
    assert settings.aside["name"] == made.view.settings.aside["name"]
    assert (after.repaired, after.changed, after.generation) == (None, 0, view.generation)
    assert after.index.ids == view.index.ids
    assert after.schema.kinds["group"].name == "text"
    assert after.index.measure_.get_params()["weights"] == {"x": 2.0}
    plain = kept_analyses.fit_again(view, "auto", {}, {})
    assert plain.settings.measure == "auto"
    assert plain.settings.reason != "given"
    assert plain.schema.kinds["group"].name == "category"


class Now:
    """Jobs that are done immediately, or kept."""

    def __init__(self):
        self.started, self.cancelled, self.problem = [], [], None

    def start(self, kind, name, key, work, for_view=False):
        self.started.append((kind, name, key))
        self.result = work(None)
        return "a job"

    def failure(self, kind, key):
        return self.problem

    def of(self, name):
        return [f"job of {name}"]

    def cancel(self, job):
        self.cancelled.append(job)


def test_results_are_kept_until_they_are_forgotten(made, monkeypatch):
    jobs = Now()
    analyses, view = kept_analyses.Analyses(jobs), made.view
    assert analyses.known_hubs(made, view) is None
    assert analyses.clusters(made) == "a job"
    assert jobs.started == [("clusters", "made", (made.key, "clusters", *view.fit, 0))]
    assert jobs.result == {"rows": 12, "sampled": False, "generation": 1}
    found = analyses.clusters(made)
    assert isinstance(found, analysis.Clusters)
    assert analyses.clusters(made) is found
    assert len(jobs.started) == 1
    assert analyses.known_hubs(made, view) is None  # clusters are no hubs
    assert analyses.hubs(made, 3) == "a job"
    assert jobs.started[1] == ("hubs", "made", (made.key, "hubs-3", *view.fit, 0))
    hubs = analyses.hubs(made, 3)
    assert hubs.document["k"] == 3
    assert analyses.known_hubs(made, view) is hubs
    assert analyses.known_hubs(made, replace(view, fitted=2)) is None
    assert analyses.known_hubs(SimpleNamespace(key=made.key + 1), view) is None
    analyses.forget(SimpleNamespace(key=made.key + 1, name="other"))
    assert analyses.known_hubs(made, view) is hubs
    analyses.forget(made)
    assert jobs.cancelled == ["job of other", "job of made"]
    assert analyses.known_hubs(made, view) is None
    again = analyses.clusters(made)  # from the store
    assert again is not found
    assert again.document == found.document
    assert analyses.clusters(made) is again
    assert len(jobs.started) == 2
    parts = dict.fromkeys(("type", "title", "detail", "who", "needed", "found", "hint"), "x")
    jobs.problem = parts | {"status": 422, "who": "too few rows"}
    assert analyses.clusters(made) is again
    with pytest.raises(LookalikeError, match="too few rows"):
        analyses.hubs(made, 4)
    assert len(jobs.started) == 2


def test_hubness_is_reduced_once_and_only_where_it_helps(made, monkeypatch):
    jobs, kept = Now(), []
    view, fitted = made.view, []
    one = SimpleNamespace(
        key=99, name="one", view=view, set_repaired=lambda *given: kept.append(given),
        store=SimpleNamespace(load_result=lambda *_: None, save_result=lambda *_: True),
    )  # fmt: skip
    monkeypatch.setattr(
        kept_analyses, "fit_repaired", lambda view: fitted.append(view) or "repaired"
    )

    def count(view, repaired, k):
        sample = analysis.take(view)
        return analysis.Hubs(sample, {"reduction_helps": helps, "space": repaired}, {})

    monkeypatch.setattr(kept_analyses, "find_hubs", count)
    analyses = kept_analyses.Analyses(jobs)
    for k, helps in enumerate((False, True), 1):
        analyses.hubs(one, k)
        assert analyses.hubs(one, k).document["space"] == ("repaired" if helps else None)
        assert len(fitted) == len(kept) == helps
    assert kept == [(view, "repaired")]
    one.view = replace(view, repaired="before")
    analyses.hubs(one, 3)
    assert analyses.hubs(one, 3).document["space"] == "before"
    one.view = view
    monkeypatch.setattr(kept_analyses, "MAX_ANALYZED_ROWS", 12)
    analyses.hubs(one, 4)
    assert len(kept) == 2
    monkeypatch.setattr(kept_analyses, "MAX_ANALYZED_ROWS", 11)
    analyses.hubs(one, 5)
    assert len(kept) == 2
    monkeypatch.setattr(kept_analyses, "can_be_repaired", lambda view: False)
    monkeypatch.setattr(kept_analyses, "MAX_ANALYZED_ROWS", 99)
    analyses.hubs(one, 6)
    assert len(kept) == 2
    with pytest.raises(InvalidInput, match="a measure without a reducer"):
        analyses.repair(one)
    monkeypatch.setattr(kept_analyses, "can_be_repaired", lambda view: True)
    analyses.repair(one)
    assert jobs.started[-1] == ("repair", "one", (99, *view.fit))
    assert jobs.result == {"space": "repaired", "generation": 1}
    assert len(kept) == 3
    one.view = replace(view, repaired="before")
    analyses.repair(one)
    assert len(kept) == 3


def test_a_refit_is_one_job_for_equal_options(made):
    jobs, saved = Now(), []
    one = SimpleNamespace(
        key=99, name="one", save_cache=lambda: saved.append(True),
        refit=lambda make: replace(make(made.view), generation=5),
    )  # fmt: skip
    kept_analyses.Analyses(jobs).refit(one, "gower", {"group": "text"}, {"y": 2, "x": 1})
    key = (99, '["gower", {"group": "text"}, {"x": 1, "y": 2}, [], null]')
    assert jobs.started == [("measure", "one", key)]
    assert jobs.result == {"measure": "Gower", "generation": 5}
    assert saved == [True]
