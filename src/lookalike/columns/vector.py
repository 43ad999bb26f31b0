"""Vectors, and everything else that is a fixed number of numbers per cell."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Cells, Distance, cell_error
from lookalike.columns.series import series_cells
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.kernels import fallback
from lookalike.kernels.distances import CODES, distance_block, distance_pairs
from lookalike.kernels.first_use import pick
from lookalike.saving.fields import Array, Choice, Field, Fields, Flag, Integer, Real
from lookalike.table.model.kind import EARTH_RADIUS
from lookalike.table.model.table import Column


def blocks_of(metric: str, a: Any, b: Any) -> np.ndarray:
    """Compare all rows of a with all rows of b; each entry is a sum over the columns in order."""
    # Sums in column order in both implementations: a block of any size gives the same bits.
    out = np.empty((len(a), len(b)))
    write = pick(distance_block, fallback.distance_block, len(a) * np.size(b))
    write(np.ascontiguousarray(a), np.ascontiguousarray(b), CODES[metric], out)
    return out


def pairs_of(metric: str, a: Any, b: Any, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Compare row left[i] of a with row right[i] of b, bit for bit as ``blocks_of`` does."""
    out = np.empty(len(left))
    # Kernels are compiled for contiguous rows; slices of an index may be strided.
    x, y = np.ascontiguousarray(a), np.ascontiguousarray(b)
    distance_pairs(x, y, left, right, CODES[metric], out)
    return out


class _RowDistance(Distance):
    """What distances of equally long cells share: cells become the rows of a matrix.

    Attributes
    ----------
    length_ : int
        How many numbers each cell has.
    """

    FIELDS: ClassVar[Fields] = {"length_": Integer(0, high=2**31)}

    kinds: ClassVar[tuple[str, ...]] = ("vector", "histogram")
    metric: ClassVar[str] = "euclidean"  # that compares prepared rows

    length_: int

    def _learn(self, column: Column) -> None:
        # Any length goes, until it is known.
        self.length_ = -1
        self.length_ = self._matrix(column).shape[1]

    def _encode(self, column: Column) -> np.ndarray:
        return self._prepare(self._matrix(column))

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        """Change the rows once, before any are compared."""
        return rows

    def _matrix(self, column: Column) -> np.ndarray:
        values = column.values
        if values.dtype == object:
            return self._stack(column)
        out = np.array(values, dtype=np.float64, order="C")
        if out.ndim != 2 or self.length_ not in (-1, out.shape[1]):
            needed = "a matrix" if self.length_ < 0 else f"{self.length_} numbers per cell"
            found = f"an array of shape {out.shape}"
            hint = "Give every cell as many numbers as the fitted ones"
            raise InvalidInput(f"column {column.name!r}", needed, found, hint)
        # A cell is missing as a whole or not at all: a single NaN has no distance to anything.
        wrong = np.argwhere(~np.isfinite(out) & ~column.missing[:, None])
        if len(wrong):
            row, entry = wrong[0].tolist()
            found = f"{out[row, entry]} at position {entry}"
            aside = Param("kinds", {column.name: "aside"})
            fill = "Fill what is missing in the cell, leave the whole cell missing, or use "
            hint = Phrase(fill, aside)
            raise cell_error(column.name, row, "finite numbers", found, hint)
        return out

    def _stack(self, column: Column) -> np.ndarray:
        """Put cells of equal length below each other, NaN where one is missing."""
        cells = {row: c for row, c in enumerate(series_cells(column)) if c is not None}
        length = self.length_ if self.length_ >= 0 else next(map(len, cells.values()), 0)
        out = np.full((len(column), length), np.nan)
        for row, cell in cells.items():
            if len(cell) != length:
                needed = f"{length} numbers, as in the other cells"
                hint = "Bring the cells to one length, or choose 'dtw', which takes any"
                raise cell_error(column.name, row, needed, f"{len(cell)}", hint)
            out[row] = cell
        return out

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return blocks_of(self.metric, a, b)

    def _cells_shape(self) -> Field:
        return Array("float64", "n", self.length_)


class Euclidean(_RowDistance):
    """How far two vectors, histograms or equally long series are apart in a straight line.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> place = Column("place", Kind("vector"), np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> distance = Euclidean().fit(place)
    >>> cells = distance.encode(place)
    >>> distance.compare(cells, cells)
    array([[0., 5.],
           [5., 0.]])
    """

    name = "euclidean"
    kinds = ("vector", "histogram", "series")


def shares(rows: np.ndarray) -> np.ndarray:
    """Divide each row by its sum; a row whose sum is 0 stays as it is.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    total = rows.sum(axis=1, keepdims=True)
    return np.asarray(rows / np.where(total == 0, 1.0, total))


class NormalizedEuclidean(_RowDistance):
    """How far two histograms are apart once each is divided by its total.

    Use it where the totals say nothing, such as counts from samples of different size.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> votes = Column("votes", Kind("histogram"), np.array([[1.0, 3.0], [10.0, 30.0], [4.0, 0.0]]))
    >>> distance = NormalizedEuclidean().fit(votes)
    >>> cells = distance.encode(votes)
    >>> distance.compare(cells[:1], cells).round(4)
    array([[0.    , 0.    , 1.0607]])
    """

    name = "normalized"
    kinds = ("histogram",)

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        return shares(rows)


class EarthMover(_RowDistance):
    """How much must be carried how many bins far to turn one histogram into the other.

    On a line of bins this is the sum of the absolute differences of the cumulative sums [1]_. A
    value that slips into the next bin costs little, unlike with "euclidean". Where the totals of
    two histograms differ, the surplus is carried out past the last bin; with ``normalized`` there
    is none.

    Parameters
    ----------
    normalized : bool, default False
        Divide each histogram by its total first (a total of 0 is left alone).
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] Y. Rubner, C. Tomasi, L. J. Guibas (2000). The earth mover's distance as a metric for
       image retrieval. International Journal of Computer Vision 40, 99-121.
       doi:10.1023/A:1026543900054

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> bins = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> age = Column("age", Kind("histogram"), bins)
    >>> distance = EarthMover().fit(age)
    >>> cells = distance.encode(age)
    >>> distance.compare(cells[:1], cells)
    array([[0., 1., 2.]])
    """

    name = "earth_mover"
    metric = "cityblock"
    kinds = ("histogram",)
    FIELDS: ClassVar[Fields] = {"normalized": Flag()}

    def __init__(self, normalized: bool = False, scale: float | None = None) -> None:
        self.normalized = normalized
        self.scale = scale

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        # On a line the earth mover's distance is the city-block distance of cumulative sums.
        return np.cumsum(shares(rows) if self.normalized else rows, axis=1)


class KullbackLeibler(_RowDistance):
    """How surprising two histograms are for each other: the mean of both divergences, in nats.

    ``sum((p - q) (log p - log q)) / 2`` of the shares p and q of the bins: Jeffreys' symmetric form
    [1]_ of the divergence. Ratios of shares count, so a rare bin counts as much as a frequent one.

    Parameters
    ----------
    smoothing : float
        Share of each histogram that is spread evenly over all bins, since a bin that only one of
        two histograms uses would make them infinitely different. A histogram without any count is
        even.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] S. Kullback, R. A. Leibler (1951). On information and sufficiency. The Annals of
       Mathematical Statistics 22(1). doi:10.1214/aoms/1177729694

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> votes = Column("votes", Kind("histogram"), np.array([[5.0, 5.0], [1.0, 3.0]]))
    >>> distance = KullbackLeibler(smoothing=1e-9).fit(votes)
    >>> cells = distance.encode(votes)
    >>> distance.compare(cells[:1], cells).round(4)
    array([[0.    , 0.1373]])
    """

    name = "kullback_leibler"
    kinds = ("histogram",)
    FIELDS: ClassVar[Fields] = {"smoothing": Real(0.0, 1.0, open_low=True)}

    def __init__(self, smoothing: float = 1e-3, scale: float | None = None) -> None:
        self.smoothing = smoothing
        self.scale = scale

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        even = 1.0 / max(1, rows.shape[1])
        known = np.where(rows.sum(axis=1, keepdims=True) == 0, even, shares(rows))
        return np.asarray((1.0 - self.smoothing) * known + self.smoothing * even)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = np.zeros((len(a), len(b)))
        # Bin by bin, in order: a block of any size gives the same bits.
        for p, q in zip(np.asarray(a).T, np.asarray(b).T, strict=True):
            out += (p[:, None] - q) * (np.log(p)[:, None] - np.log(q))
        return out / 2


@dataclass(eq=False, repr=False)
class Gaussian(_RowDistance):
    """How surprising two normal distributions are for each other, as timbres of music are compared.

    Cells are means, then the covariance matrix row by row, of samples that are too large to keep,
    such as the spectra of a song [1]_. The distance is the mean of both Kullback-Leibler
    divergences, in nats.

    Parameters
    ----------
    covariance : {"full", "diagonal"}
        Whether a whole matrix follows the means, or the variances alone.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] M. Mandel, D. Ellis (2005). Song-level features and support vector machines for music
       classification. International Conference on Music Information Retrieval 6, 594-599.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> songs = Column("song", Kind("vector"), np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 4.0]]))
    >>> distance = Gaussian().fit(songs)
    >>> cells = distance.encode(songs)
    >>> distance.compare(cells[:1], cells)
    array([[0.    , 0.5   , 0.5625]])
    """

    name = "gaussian"
    kinds = ("vector",)
    FIELDS: ClassVar[Fields] = {"covariance": Choice("full", "diagonal")}

    covariance: str = "full"
    scale: float | None = None

    @property
    def _sizes(self) -> tuple[int, int]:
        """The number of means, and of entries of the covariance."""
        if self.covariance == "diagonal":
            return self.length_ // 2, self.length_ // 2
        d = (math.isqrt(1 + 4 * max(0, self.length_)) - 1) // 2
        return d, d * d

    def _matrix(self, column: Column) -> np.ndarray:
        rows = super()._matrix(column)
        self.length_ = rows.shape[1]
        d, size = self._sizes
        needed = "means and a covariance matrix that is symmetric and positive definite"
        hint = 'Add a little to the variances, or use Gaussian(covariance="diagonal")'
        present = np.flatnonzero(~np.isnan(rows).any(axis=1))
        if len(present) and (not d or d + size != self.length_):
            raise InvalidInput(f"column {column.name!r}", needed, f"{self.length_} numbers", hint)
        for row in present:
            matrix = self._square(rows[row, d:])
            even = np.allclose(matrix, matrix.T, rtol=1e-8, atol=0)
            if not even or np.linalg.eigvalsh(matrix)[0] <= 0:
                raise cell_error(column.name, int(row), needed, f"{rows[row].tolist()}"[:60], hint)
        return rows

    def _square(self, entries: np.ndarray) -> np.ndarray:
        d = self._sizes[0]
        return np.diag(entries) if self.covariance == "diagonal" else entries.reshape(d, d)

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        """Append the inverse of each covariance."""
        d, size = self._sizes
        if rows.shape[1] != d + size:  # all are missing: only then any width is accepted
            rows = np.full((len(rows), d + size), np.nan)
        inverse = np.full((len(rows), size), np.nan)
        for at in np.flatnonzero(~np.isnan(rows).any(axis=1)):
            found = np.linalg.inv(self._square(rows[at, d:]))
            inverse[at] = np.diag(found) if size == d else found.ravel()
        return np.hstack([rows, inverse])

    def _cells_shape(self) -> Field:
        d, size = self._sizes
        return Array("float64", "n", d + 2 * size)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        d, size = self._sizes
        out = np.zeros((len(a), len(b)))
        a, b = np.asarray(a).T[:, :, None], np.asarray(b).T[:, None, :]
        for entry in range(size):
            i, j = (entry, entry) if size == d else divmod(entry, d)
            cov, inv = d + entry, d + size + entry
            # The traces of both products less twice the dimension, which is 0 for equal cells.
            out += (a[inv] - b[inv]) * (b[cov] - a[cov])
            out += (a[i] - b[i]) * (a[j] - b[j]) * (a[inv] + b[inv])
        return np.maximum(out / 4, 0.0)


def directions(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1; a row of zeros stays as it is."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    # Squares neither overflow nor vanish.
    scaled = rows / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return np.asarray(scaled / np.where(length > 0, length, 1.0))


class Cosine(_RowDistance):
    """How much two vectors point in different directions, one minus the cosine of their angle.

    From 0 (same direction) over 1 (right angle) to 2 (opposite). Length does not matter. A vector
    of zeros points nowhere: it is at 0 from another one and at 1 from everything else.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> vectors = np.array([[1.0, 0.0], [5.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])
    >>> topic = Column("topic", Kind("vector"), vectors)
    >>> distance = Cosine().fit(topic)
    >>> cells = distance.encode(topic)
    >>> distance.compare(cells[:1], cells)
    array([[0., 0., 1., 2.]])
    """

    name = "cosine"
    metric = "cosine"

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        return directions(rows)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        # for vectors of length 1, |a - b|^2 / 2 is 1 - cos, and exactly 0 between equal ones
        out = super()._compare(a, b)
        nowhere_a, nowhere_b = ~a.any(axis=1), ~b.any(axis=1)
        out[nowhere_a] = 1.0
        out[:, nowhere_b] = 1.0
        out[np.ix_(nowhere_a, nowhere_b)] = 0.0
        return out


class GreatCircle(_RowDistance):
    """How many kilometers two places are apart along the surface of the earth.

    Cells are latitude and longitude in degrees; where one of the two is missing, the place is. The
    earth is taken as a sphere of radius 6,371 km, which is right within 0.6 %. It is the distance
    of columns read with ``kinds={("lat", "lon"): "place"}``, or guessed so.

    Parameters
    ----------
    trim : float, default 0
        The share of the largest distances of fitted pairs that is left out before the scale is
        taken, so that a few far places do not squeeze all others together.
    scale : float, optional
        The distance in kilometers at which two places have similarity 0. None: the largest one
        that ``trim`` leaves among the fitted places, or a sample of them.

    Notes
    -----
    The chord c between two points of the sphere gives the arc 2 R arcsin(c / (2 R)): the haversine
    formula, in which c / (2 R) is the root of the haversine.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> cities = np.array([[52.52, 13.40], [48.14, 11.58], [-36.85, 174.76]])
    >>> place = Column("place", Kind("vector"), cities)
    >>> distance = GreatCircle().fit(place)
    >>> cells = distance.encode(place)
    >>> distance.compare(cells[:1], cells).round()
    array([[    0.,   504., 17747.]])
    """

    name = "great_circle"
    kinds = ("vector",)
    FIELDS: ClassVar[Fields] = {"trim": Real(0.0, 0.49)}

    def __init__(self, trim: float = 0.0, scale: float | None = None) -> None:
        self.trim = trim
        self.scale = scale

    def _matrix(self, column: Column) -> np.ndarray:
        values = np.array(column.values, dtype=np.float64)
        if np.isnan(values).all():  # of any width, as nothing is written in them
            return np.full((len(values), 2), np.nan)
        if values.shape[1:] != (2,):
            hint = Phrase("Use ", Param("kinds", {column.name: "vector"}))
            found = f"an array of shape {values.shape}"
            raise InvalidInput(f"column {column.name!r}", "latitude and longitude", found, hint)
        values[np.isnan(values).any(axis=1)] = np.nan
        latitude, longitude = values.T
        beyond = (np.abs(latitude) > 90) | (longitude < -180) | (longitude > 360)
        if beyond.any():
            row = int(np.argmax(beyond))
            needed = "a latitude from -90 to 90, then a longitude from -180 to 360"
            advice = "Give degrees, the latitude first, or read the column as another kind"
            raise cell_error(column.name, row, needed, f"{values[row].tolist()}", advice)
        return values

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        # Points of the sphere: chords need no sines per pair, and are lower bounds of the arcs.
        latitude, longitude = np.radians(rows).T
        across = np.cos(latitude)
        points = (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude))
        return np.ascontiguousarray(EARTH_RADIUS * np.column_stack(points))

    def _compare(self, a: Cells, b: Cells) -> np.ndarray:
        return arcs(super()._compare(a, b))

    def _farthest(self, cells: Cells) -> float:
        apart = np.sort(self.compare(cells, cells)[np.triu_indices(len(cells), 1)])
        if not len(apart):
            return 0.0
        # Where nearly all pairs are in one place, the others still differ.
        return float(apart[int((1 - self.trim) * (len(apart) - 1))] or apart[-1])

    def _cells_shape(self) -> Field:
        return Array("float64", "n", 3)


def arcs(chords: np.ndarray) -> np.ndarray:
    """Return the lengths of arcs on the surface of the earth, given those of their chords.

    Examples
    --------
    >>> arcs(np.array([0.0, 100.0, 2 * EARTH_RADIUS])).round(2).tolist()
    [0.0, 100.0, 20015.11]
    """
    share = np.minimum(chords / (2 * EARTH_RADIUS), 1.0)
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(share))
