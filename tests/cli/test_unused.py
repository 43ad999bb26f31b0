"""An option that the chosen method would not look at is refused: silence would mislead."""

import pytest

from cli.run import run


@pytest.fixture
def file(tmp_path):
    lines = ["size,color,kind"] + [f"{i % 7},{'ab'[i % 2]},{'xy'[i % 3 == 0]}" for i in range(30)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("words", "option", "method"),
    [
        (["outliers", "--measure", "gower"], "--measure", "neighbors"),
        (["outliers", "--weight", "size=3"], "--weight", "neighbors"),
        (["outliers", "-k", "3"], "-k", "neighbors"),
        (["outliers", "--method", "neighbors", "--trees", "9"], "--trees", "isolation"),
        (["classify", "--label", "kind", "--measure", "gower"], "--measure", "neighbors"),
        (["classify", "--label", "kind", "--weight", "size=2"], "--weight", "neighbors"),
        (["classify", "--label", "kind", "-k", "3"], "-k", "neighbors"),
        (["regress", "--label", "size", "--method", "neighbors", "--trees", "9"], "--trees", "for"),
        (
            ["classify", "--label", "kind", "--method", "neighbors", "--distance", "color=exact"],
            "--distance",
            "forest",
        ),
        (["cluster", "--eps", "0"], "--eps", "density"),
        (["cluster", "--min-neighbors", "3"], "--min-neighbors", "density or hdbscan"),
        (["cluster", "--method", "hdbscan", "--landmarks", "9"], "--landmarks", "spectral, "),
        (["cluster", "--method", "means", "--measure", "gower"], "--measure", "spectral, "),
    ],
)
def test_an_option_without_effect_is_refused(file, words, option, method):
    verb, *rest = words
    done = run(verb, file, *rest)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{option}: needs --method {method}")
    assert f"Leave {option} out" in line


def test_an_option_of_the_method_is_taken(file):
    words = ("--method", "neighbors", "-k", 3, "--measure", "gower", "--weight", "size=2")
    assert run("outliers", file, *words).exit_code == 0
    assert run("cluster", file, "--method", "density", "--min-neighbors", 3).exit_code == 0
