"""Powers and transitive closures of similarities: worked numbers, chains counted, laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.represent import power_similarity, similarity_activation, transitive_closure
from represent import reference

S = np.array([[1, 0.25], [0.25, 1]])


@st.composite
def relations(draw, symmetric=True, most=5):
    n = draw(st.integers(1, most))
    s = np.random.default_rng(draw(st.integers(0, 10**6))).random((n, n)).round(3)
    s = np.minimum(s, s.T) if symmetric else s
    np.fill_diagonal(s, 1.0)
    return s


def test_worked_powers():
    assert power_similarity(S, 2).tolist() == [[0.625, 0.5], [0.5, 0.625]]
    assert power_similarity(S, 4).tolist() == [[0.3203125, 0.3125], [0.3125, 0.3203125]]


@given(s=relations(), n=st.integers(1, 4), symmetric=st.booleans())
def test_mean_over_all_chains(s, n, symmetric):
    s = s if symmetric else np.triu(s)
    found = power_similarity(s, n)
    np.testing.assert_allclose(found, reference.chain_power(s, n), rtol=1e-12, atol=1e-15)
    assert np.array_equal(found, found.T) or not symmetric


@given(s=relations(most=7), n=st.integers(1, 40))
def test_power_by_eigenvalues(s, n):
    values, q = np.linalg.eigh(np.sqrt(s))
    expected = len(s) * (q * (values / len(s)) ** n) @ q.T
    np.testing.assert_allclose(power_similarity(s, n), expected, atol=1e-12)
    values, q = np.linalg.eigh(s)
    plain = (q * values**n) @ q.T
    np.testing.assert_allclose(power_similarity(s, n, "plain"), plain, rtol=1e-9, atol=1e-9)
    mean = power_similarity(s, n, "plain", average=True)
    np.testing.assert_allclose(mean * float(len(s)) ** (n - 1), plain, rtol=1e-9, atol=1e-9)


@given(s=relations(most=7), n=st.integers(1, 6))
def test_laws_of_powers(s, n):
    found, twice = power_similarity(s, n), power_similarity(s, 2 * n)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(twice, found @ found / len(s), atol=1e-13)
    assert np.linalg.eigvalsh(twice).min() >= -1e-12
    np.testing.assert_allclose(np.diagonal(power_similarity(s, 2)), s.mean(axis=1), atol=1e-13)


def test_ones_stay_ones_and_one_step_is_the_root():
    np.testing.assert_allclose(power_similarity(np.ones((4, 4)), 7), 1.0)
    assert power_similarity(S, 1).tolist() == [[1, 0.5], [0.5, 1]]
    assert power_similarity(S, 1, "plain").tolist() == S.tolist()


def test_many_steps_neither_overflow_nor_turn_into_nothing():
    np.testing.assert_allclose(power_similarity(np.ones((50, 50)), 10**6), 1.0, rtol=1e-9)
    with pytest.raises(InvalidInput, match="average=True"):
        power_similarity(np.ones((50, 50)), 10**6, "plain")


@given(s=relations(most=5), n=st.integers(1, 4), mode=st.sampled_from(["path", "plain"]))
def test_new_rows_begin_chains_through_the_others(s, n, mode):
    rng = np.random.default_rng(n)
    new = rng.random((2, len(s)))
    found = power_similarity(s, n, mode, new=new)
    root = np.sqrt if mode == "path" else np.asarray
    expected = root(new)
    for _ in range(n - 1):
        expected = expected @ root(s)
    expected = expected / (len(s) ** (n - 1) if mode == "path" else 1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    # A new row that is a copy of an old one has what the old one has.
    np.testing.assert_allclose(
        power_similarity(s, n, mode, new=s), power_similarity(s, n, mode), atol=1e-12
    )


@given(s=relations(most=6), n=st.integers(2, 4))
def test_normalized_rows_are_fully_alike_to_themselves(s, n):
    found = power_similarity(s, n, normalize=True)
    plain = power_similarity(s, n)
    expected = plain / np.sqrt(np.outer(np.diagonal(plain), np.diagonal(plain)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.diagonal(found).tolist() == [1.0] * len(s)
    copies = power_similarity(s, n, new=s, normalize=True)
    np.testing.assert_allclose(copies, found, atol=1e-9)


def test_a_fitted_measure_is_a_space():
    measure = Gower().fit([[0.0], [1.0], [3.0]])
    expected = power_similarity(measure.similarity(), 2)
    assert np.array_equal(power_similarity(measure, 2), expected)


@pytest.mark.parametrize(
    ("s", "options", "words"),
    [
        ([[1, 1.5], [1.5, 1]], {}, r"similarities from 0 to 1, found 1.5 in row 0, column 1 \(2"),
        ([[1, -0.5], [-0.5, 1]], {}, "found -0.5"),
        ([[1, np.nan], [np.nan, 1]], {}, "found nan"),
        ([[1, 0.5]], {}, "a square matrix"),
        (np.empty((0, 0)), {}, "a square matrix"),
        (S, {"n": 0}, "n=.*: needs an integer >= 1"),
        (S, {"n": 1.5}, "n=.*: needs an integer >= 1"),
        (S, {"mode": "paths"}, "Did you mean 'path'"),
        (S, {"new": [[0.5]]}, "to each of the 2 rows"),
        (S, {"new": [[0.5, 2]]}, "found 2 in row 0"),
    ],
)
def test_bad_input_of_powers(s, options, words):
    with pytest.raises(InvalidInput, match=words):
        power_similarity(s, **options)


def test_what_was_given_is_not_changed():
    s = S.copy()
    power_similarity(s, 3, new=s)
    assert np.array_equal(s, S)


CHAIN = np.array([[1, 0.8, 0.1], [0.8, 1, 0.6], [0.1, 0.6, 1]])  # the ends meet over the middle
TNORMS = ("min", "product", "lukasiewicz")


@st.composite
def relations_with_ties(draw, symmetric):
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    s = rng.random((n, n)) if draw(st.booleans()) else rng.integers(0, 5, (n, n)) / 4
    s = np.maximum(s, s.T) if symmetric else s
    np.fill_diagonal(s, 1.0)
    return s


@pytest.mark.parametrize(
    ("tnorm", "value"), [("min", 0.6), ("product", 0.48), ("lukasiewicz", 0.4)]
)
def test_worked_closures(tnorm, value):
    found = transitive_closure(CHAIN, tnorm)
    assert found[0, 2] == found[2, 0] == pytest.approx(value)
    assert found[0, 1] == 0.8
    assert found[1, 2] == 0.6


@pytest.mark.parametrize("tnorm", TNORMS)
@given(data=st.data(), symmetric=st.booleans())
def test_closure_is_that_of_the_slow_reference(tnorm, data, symmetric):
    s = data.draw(relations_with_ties(symmetric))
    found = transitive_closure(s, tnorm)
    np.testing.assert_allclose(found, reference.closure(s, tnorm), rtol=1e-12, atol=1e-12)
    if tnorm == "min":  # no arithmetic, so no round-off
        assert np.array_equal(found, reference.closure(s, tnorm))
    assert np.array_equal(found, found.T) or not symmetric


@pytest.mark.parametrize("tnorm", TNORMS)
@given(data=st.data(), symmetric=st.booleans())
def test_laws_of_closures(tnorm, data, symmetric):
    s = data.draw(relations_with_ties(symmetric))
    r = transitive_closure(s, tnorm)
    assert (r >= s).all()
    assert (np.diagonal(r) == 1).all()
    assert ((r >= 0) & (r <= 1)).all()
    np.testing.assert_allclose(transitive_closure(r, tnorm), r, atol=1e-12)
    t = reference.TNORMS[tnorm]
    n = range(len(r))
    assert all(t(r[i, k], r[k, j]) <= r[i, j] + 1e-12 for i in n for j in n for k in n)


@given(s=relations_with_ties(symmetric=True))
def test_order_of_the_three_and_the_ultrametric(s):
    low, middle, high = (transitive_closure(s, t) for t in ("lukasiewicz", "product", "min"))
    assert (low <= middle + 1e-12).all()
    assert (middle <= high + 1e-12).all()
    d = 1 - high
    n = range(len(d))
    assert all(d[i, j] <= max(d[i, k], d[k, j]) for i in n for j in n for k in n)


def test_min_is_single_linkage():
    x = np.random.default_rng(0).random((60, 3))
    s = Gower().fit(x).similarity()
    joined = cophenet(linkage(squareform(1 - s, checks=False), "single"))
    np.testing.assert_allclose(1 - transitive_closure(s), squareform(joined), atol=1e-12)
    assert np.array_equal(transitive_closure(Gower().fit(x)), transitive_closure(s))


@pytest.mark.parametrize("tnorm", TNORMS)
@given(data=st.data(), symmetric=st.booleans())
def test_new_rows_get_what_they_would_have_if_added(tnorm, data, symmetric):
    s = data.draw(relations_with_ties(symmetric))
    n = len(s)
    rng = np.random.default_rng(n)
    new = rng.random((3, n))
    found = transitive_closure(s, tnorm, new=new)
    for row, expected in zip(new, found, strict=True):
        whole = np.ones((n + 1, n + 1))
        whole[:n, :n] = s
        whole[n, :n] = row
        whole[:n, n] = 0.0  # chains lead away from the new row only
        np.testing.assert_allclose(reference.closure(whole, tnorm)[n, :n], expected, atol=1e-12)
    assert np.array_equal(transitive_closure(s, tnorm, new=new, n_jobs=1), found)


def test_the_diagonal_is_taken_to_be_one_and_the_input_kept():
    s = CHAIN.copy()
    np.fill_diagonal(s, 0.5)
    given_ = s.copy()
    assert np.array_equal(transitive_closure(s), transitive_closure(CHAIN))
    assert np.array_equal(s, given_)


@pytest.mark.parametrize(
    ("s", "options", "words"),
    [
        ([[1, 2], [2, 1]], {}, "similarities from 0 to 1, found 2"),
        ([[1, np.nan], [0, 1]], {}, "found nan"),
        ([[1, 0]], {}, "a square matrix"),
        (CHAIN, {"tnorm": "minimum"}, "Did you mean 'min'"),
        (CHAIN, {"new": [[1, 1]]}, "to each of the 3 rows"),
    ],
)
def test_bad_input_of_closures(s, options, words):
    with pytest.raises(InvalidInput, match=words):
        transitive_closure(s, **options)


def test_round_off_beyond_the_bounds_is_cut_off():
    exact = np.array([[1.0, 0.0], [0.0, 1.0]])
    close = exact + np.array([[1e-10, -1e-10], [-1e-10, 1e-10]])
    np.testing.assert_array_equal(transitive_closure(close), exact)


def local_power(s, n, k, edges=None):
    """Walk all chains of n steps between neighbors, and take the mean of their products."""
    size = len(s)

    def nearest(line, own=None):
        others = sorted((j for j in range(size) if j != own), key=lambda j: (-line[j], j))
        return set(others[:k])

    lists = [nearest(s[i], i) for i in range(size)]
    steps = [{i, *lists[i], *(j for j in range(size) if i in lists[j])} for i in range(size)]
    firsts = steps if edges is None else [nearest(line) for line in edges]
    first = s if edges is None else edges
    out = np.zeros((len(first), size))
    for i in range(len(first)):
        for j in range(size):
            total = count = 0.0
            for chain in itertools.product(range(size), repeat=n - 1):
                path = [*chain, j]
                if path[0] in firsts[i] and all(b in steps[a] for a, b in itertools.pairwise(path)):
                    links = [first[i][path[0]], *(s[a][b] for a, b in itertools.pairwise(path))]
                    total, count = total + np.prod(np.sqrt(links)), count + 1
            out[i, j] = total / count if count else 0.0
    return out


@given(s=relations(), n=st.integers(1, 4), data=st.data())
def test_local_powers_are_means_over_chains_of_neighbors(s, n, data):
    k = data.draw(st.integers(1, len(s)))
    found = power_similarity(s, n, n_neighbors=k)
    np.testing.assert_allclose(found, local_power(s, n, k), rtol=1e-12, atol=1e-15)
    new = np.random.default_rng(n).random((2, len(s))).round(3)
    found = power_similarity(s, n, new=new, n_neighbors=k)
    np.testing.assert_allclose(found, local_power(s, n, k, new), rtol=1e-12, atol=1e-15)


@given(s=relations(), n=st.integers(1, 4), normalize=st.booleans())
def test_powers_among_all_rows_are_the_published_ones(s, n, normalize):
    local = power_similarity(s, n, n_neighbors=len(s), normalize=normalize)
    np.testing.assert_allclose(local, power_similarity(s, n, normalize=normalize), rtol=1e-12)


def test_worked_local_powers():
    # Row 2 is near neither of the others: only rows 0 and 1 step to each other.
    s = np.array([[1, 0.25, 0.04], [0.25, 1, 0.01], [0.04, 0.01, 1]])
    found = power_similarity(s, 2, n_neighbors=1)
    # 2's nearest row is 0: chains 0-0-0, 0-1-0 and 0-2-0; 1-1-0 and 1-0-0; 1-0-2 alone
    assert found[0, 0] == pytest.approx((1 + 0.25 + 0.04) / 3)
    assert found[0, 1] == pytest.approx(0.5)
    assert found[1, 2] == pytest.approx(0.5 * 0.2)
    with pytest.raises(InvalidInput, match="mode='path'"):
        power_similarity(s, 2, "plain", n_neighbors=1)
    with pytest.raises(InvalidInput, match="n_neighbors"):
        power_similarity(s, 2, n_neighbors=4)


# -- activation ------------------------------------------------------------------------------------


SHARES = st.floats(0, 1)
CURVES = st.floats(1e-6, 1e6)


@pytest.mark.parametrize(
    ("x", "p", "value"), [(0.25, 0.1, 0.094957), (0.75, 0.1, 0.905043), (0.25, 1e6, 0.249938)]
)
def test_worked_values(x, p, value):
    assert similarity_activation(x, p) == pytest.approx(value, abs=5e-7)
    assert reference.activation(x, p) == pytest.approx(value, abs=5e-7)


def test_worked_constant():
    a = (-0.5 + np.sqrt(0.25 + 4 * 0.1)) / 2
    assert a == pytest.approx(0.153113, abs=5e-7)
    assert a**2 + a / 2 == pytest.approx(0.1)


@given(x=SHARES, p=CURVES)
def test_values_are_those_of_the_slow_reference(x, p):
    # The reference subtracts numbers of size sqrt(p), so that many digits are lost there.
    assert similarity_activation(x, p) == pytest.approx(
        reference.activation(x, p), abs=1e-11 * (1 + p)
    )


@given(x=SHARES, y=SHARES, p=CURVES)
def test_laws(x, y, p):
    f = similarity_activation([x, y, 1 - x], p)
    assert ((f >= 0) & (f <= 1)).all()
    assert f[0] + f[2] == pytest.approx(1, abs=1e-9)
    if x < y:
        assert f[0] <= f[1]
    if y - x > 1e-6:
        assert f[0] < f[1] or p < 1e-3


@given(p=CURVES)
def test_fixed_points(p):
    assert similarity_activation([0, 0.5, 1], p).tolist() == [0, 0.5, 1]


def test_both_ends_of_the_family():
    x = np.linspace(0, 1, 9)
    assert similarity_activation(x, 0).tolist() == [0, 0, 0, 0, 0.5, 1, 1, 1, 1]
    assert similarity_activation(x, 1e-12)[[3, 5]] == pytest.approx([0, 1], abs=1e-9)
    assert similarity_activation(x, 1e12) == pytest.approx(x, abs=1e-6)
    assert similarity_activation(x, np.inf).tolist() == x.tolist()


def test_inputs_are_cut_and_shapes_kept():
    assert similarity_activation([[-1.0, 2.0]], 0.1).tolist() == [[0.0, 1.0]]
    assert similarity_activation(0.5, 0.3).shape == ()


@pytest.mark.parametrize("p", [-0.1, None, "tune", True, float("nan")])
def test_what_is_no_curve(p):
    with pytest.raises(InvalidInput, match="needs a number >= 0"):
        similarity_activation(0.5, p)


def test_each_unit_may_have_its_own_curve():
    x = np.linspace(0, 1, 12).reshape(3, 4)
    curves = [0.0, 0.1, 5.0, np.inf]
    found = similarity_activation(x, curves)
    for column, p in enumerate(curves):
        np.testing.assert_array_equal(found[:, column], similarity_activation(x[:, column], p))
    with pytest.raises(InvalidInput, match="p=-1"):
        similarity_activation(x, [0.1, 1.0, -1.0, 2.0])
