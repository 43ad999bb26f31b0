"""What ``diagnose`` found, in all its forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lookalike._runtime.frames import frame_of_records
from lookalike.hubness import HubnessReport
from lookalike.leaderboard.ranking import Agreement
from lookalike.show.html.document import HtmlReport

MANY = 0.5  # share of ties or zeros from which most of a measure's answers are alike
RISING = ("exp", "square", "sqrt", "log")  # the transforms that keep the order of values


@dataclass(frozen=True, eq=False)
class Diagnosis(HtmlReport):
    """What ``diagnose`` found; print it, or show it in a notebook.

    Parameters
    ----------
    name : str
    n, n_all : int
        Rows that were looked at, and rows there are.
    figures : mapping of figure to number or truth value
        ``symmetric``; ``smallest_eigenvalue`` of the similarities and whether they are
        ``positive_semidefinite``; ``violated_triangles``, ``zeros``, ``ties`` and ``undefined``:
        shares of triples, of similarities, of distances and of pairs.
    seeds : Agreement or None
        Ranking agreement of two seeds; None where nothing is random, or there was no table.
    scales : mapping of transform to Agreement
        Ranking agreement with the same measure after each of the six transforms of the number
        columns; empty without a table or numbers.
    hubness : HubnessReport or None
    notes : tuple of str
        What was left out, and why.
    """

    name: str
    n: int
    n_all: int
    figures: dict[str, float | bool]
    seeds: Agreement | None = None
    scales: dict[str, Agreement] = field(default_factory=dict)
    hubness: HubnessReport | None = None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was looked at, in words."""
        rows = f"{self.n:,} rows" if self.n == self.n_all else f"{self.n:,} of {self.n_all:,} rows"
        return f"{self.name}, {rows}"

    def rows(self) -> list[tuple[str, str, float | bool, str]]:
        """Return (figure, what it says, the number, the number as text) for all that was found."""
        f = self.figures
        rows: list[tuple[str, str, float | bool, str]] = [
            (
                "symmetric",
                "as far from a to b as from b to a",
                f["symmetric"],
                _yes(f["symmetric"]),
            ),
            (
                "positive_semidefinite",
                "similarities positive semi-definite, as kernels must be",
                f["positive_semidefinite"],
                _yes(f["positive_semidefinite"]),
            ),
            (
                "smallest_eigenvalue",
                "smallest eigenvalue of the similarities",
                f["smallest_eigenvalue"],
                f"{f['smallest_eigenvalue']:.3g}",
            ),
        ]
        for name, label in (
            ("violated_triangles", "triples in which a detour is shorter than the direct way"),
            ("zeros", "pairs with similarity 0"),
            ("ties", "distances tied with another one of their row"),
            ("undefined", "pairs with nothing to compare"),
        ):
            rows.append((name, label, f[name], f"{f[name]:.1%}"))
        if self.seeds is not None:
            label = "agreement of the rankings of two seeds"
            rows.append(("seeds", label, self.seeds.mean, f"{self.seeds.mean:.3f}"))
        for name, one in self.scales.items():
            label = f"agreement of the rankings after the transform {name}"
            rows.append((f"scale_{name}", label, one.mean, f"{one.mean:.3f}"))
        return rows

    def findings(self) -> list[str]:
        """Return what follows for the use of the measure, in words."""
        f, out = self.figures, []
        if not f["symmetric"]:
            out.append(
                "Not symmetric: clusterings and representations that need symmetry refuse it."
            )
        if not f["positive_semidefinite"]:
            out.append("Not a kernel: support vector machines and Nystroem features may misbehave.")
        if f["violated_triangles"] > 0:
            out.append("Not a metric: index structures that prune by the triangle inequality fail.")
        if f["ties"] > MANY:
            out.append(
                "Most distances are tied: count hubs with ties='expected', or use more trees."
            )
        if f["zeros"] > MANY:
            out.append("Most pairs have similarity 0: only the nearest rows can be told apart.")
        if self.seeds is not None and self.seeds.mean < 0.9:
            out.append("Two seeds rank rows differently: use more trees or a larger sample.")
        out += self._about_scales()
        skew = 0.0 if self.hubness is None else _skewness(self.hubness)
        if skew > 1.4:
            out.append(f"Hubs (skewness {skew:.1f}): look at a repair such as MutualProximity.")
        return out

    def _about_scales(self) -> list[str]:
        if not self.scales:
            return []
        # What two seeds differ by anyway is not put down to the scale.
        enough = 0.999 if self.seeds is None else min(0.999, self.seeds.mean - 0.01)
        worst = min(self.scales, key=lambda name: self.scales[name].mean)
        rising = [one.mean for name, one in self.scales.items() if name in RISING]
        if self.scales[worst].mean >= enough:
            return ["The scale of the numbers does not matter."]
        if rising and min(rising) >= enough:
            return ["The scale of the numbers does not matter as long as their order is kept."]
        return [
            f"The scale of the numbers matters, most under {worst} (agreement "
            f"{self.scales[worst].mean:.2f}): choose it on purpose, or take a measure of ranks."
        ]

    def __str__(self) -> str:
        rows = self.rows()
        wide = max(len(label) for _, label, _, _ in rows)
        lines = [f"Diagnosis of {self.title}"]
        lines += [f"  {label:<{wide}}  {text:>9}" for _, label, _, text in rows]
        lines += [*self.findings(), *(f"note: {note}" for note in self.notes)]
        if self.hubness is not None:
            lines += ["", str(self.hubness)]
        return "\n".join(lines)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the figures as a data frame, one row each, those about hubs at the end.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        records: list[dict[str, Any]] = [
            {"figure": name, "meaning": label, "value": float(value)}
            for name, label, value, _ in self.rows()
        ]
        if self.hubness is not None:
            labels = {name: label for name, label, _ in self.hubness.rows()}
            for column, figures in self.hubness.figures.items():
                end = "" if column == "value" else f"_{column}"
                records += [
                    {"figure": f"{name}{end}", "meaning": labels[name], "value": value}
                    for name, value in figures.items()
                    if name in labels
                ]
        return frame_of_records(records, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "title": self.title,
            "figures": {name: value for name, _, value, _ in self.rows()},
            "findings": self.findings(),
            "hubness": None if self.hubness is None else self.hubness.to_dict(),
            "notes": list(self.notes),
        }

    def html_title(self) -> str:
        """Return the heading of the page."""
        return f"Diagnosis: {self.title}"

    def html_body(self) -> str:
        """Return what stands on the page, as HTML."""
        from lookalike.leaderboard.page import diagnosis_fragment

        return diagnosis_fragment(self)


def _skewness(report: HubnessReport) -> float:
    last = list(report.figures.values())[-1]
    return float(last["skewness"] or 0.0)


def _yes(value: float | bool) -> str:
    return "yes" if value else "no"
