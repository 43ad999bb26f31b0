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
        (["classify", "--label", "kind", "--measure", "gower"], "--measure", "neighbors"),
        (["classify", "--label", "kind", "--weight", "size=2"], "--weight", "neighbors"),
        (["cluster", "--method", "means", "--measure", "gower"], "--measure", "components or "),
    ],
)
def test_an_option_without_effect_is_refused(file, words, option, method):
    verb, *rest = words
    done = run(verb, file, *rest)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{option}: needs --method {method}")
    assert f"Leave {option} out" in line


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["outliers", "--method", "isolation:k=3"], "It is an option of 'neighbors'"),
        (["outliers", "--method", "neighbors:trees=9"], "It is an option of 'isolation'"),
        (["classify", "--label", "kind", "--method", "forest:k=3"], "an option of 'neighbors'"),
        (["regress", "--label", "size", "--method", "neighbors:trees=9"], "option of 'forest'"),
        (["classify", "--label", "kind", "--method", "neighbors:distances={}"], "of 'forest'"),
        (["cluster", "--method", "spectral:eps=0"], "It is an option of 'density'"),
        (["cluster", "--method", "ward:min_neighbors=3"], "an option of 'density', 'hdbscan'"),
        (["cluster", "--method", "hdbscan:landmarks=9"], "an option of 'components', "),
        (["cluster", "--method", "means:eps"], "options as name=value"),
    ],
)
def test_an_option_of_another_method_is_refused(file, words, complaint):
    verb, *rest = words
    done = run(verb, file, *rest)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("--method ")
    assert complaint in line


def test_an_option_of_the_method_is_taken(file):
    words = ("--method", "neighbors:k=3", "--measure", "gower", "--weight", "size=2")
    assert run("outliers", file, *words).exit_code == 0
    assert run("cluster", file, "--method", "density:min_neighbors=3").exit_code == 0
