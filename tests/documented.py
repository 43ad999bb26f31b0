"""Run documented examples so that whatever they make is also saved, loaded and asked again."""

import ast
import doctest
import re
import zipfile
from collections.abc import Mapping
from functools import partial

import numpy as np

from lookalike.errors import WrongType
from lookalike.saving.decode import read
from lookalike.saving.encode import SAVEABLE, digest_of, write

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
CALL = "call_and_save"  # the name under which rewritten examples find the function
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# Questions that change nothing: a loaded object must answer them as the original did.
VERBS = {
    "apply",
    "decision_function",
    "distance",
    "encode",
    "explain",
    "kneighbors",
    "neighbors",
    "predict",
    "predict_proba",
    "relevance",
    "score_samples",
    "search",
    "similarity",
    "transform",
}


def is_saveable(value):
    return SAVEABLE.get(type(value).__name__) is type(value)


def functions_of(value):
    """Yield the functions that a saveable object holds: the file has only their names."""
    if is_saveable(value):
        for part in vars(value).values() if hasattr(value, "__dict__") else ():
            yield from functions_of(part)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from functions_of(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from functions_of(part)
    elif callable(value) and hasattr(value, "__name__"):
        yield value


def save(value, path):
    """Save an object as its users do; return the members of the file."""
    (value.save if hasattr(value, "save") else partial(write, root=value))(path)
    with zipfile.ZipFile(path) as pack:
        return {name: pack.read(name) for name in pack.namelist()}


def reload(value, path, known=None):
    """Return a saveable object after saving and loading; saved again, it must be the same file.

    Parameters
    ----------
    value : object
    path : Path
    known : dict, optional
        What was loaded before, by identity: an object that is saved as it was is not loaded again.
    """
    if getattr(value, "folder", None) is not None:  # an index that is kept in files of its own
        return type(value).open(value.folder)
    members = save(value, path)
    known = {} if known is None else known
    _, before, back = known.get(id(value), (None, None, None))
    if before == members:
        return back
    back = read(path, {function.__name__: function for function in functions_of(value)})
    assert type(back) is type(value)
    assert save(back, path) == members, value
    known[id(value)] = value, members, back  # with the object, or another may get its identity
    return back


def same(one, other):
    """Whether two answers are equal, to the last bit where they are arrays."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    if isinstance(one, frozenset):  # written in an order that depends on the seed of hashes
        return type(one) is type(other) and one == other
    if isinstance(one, np.ndarray):
        may_be_nan = one.dtype.kind == "f"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=may_be_nan)
    if hasattr(one, "to_numpy"):  # a frame, by set_output: scikit-learn's, so it is not in the file
        return same(one.to_numpy(), np.asarray(other))
    if hasattr(one, "toarray"):
        return same(one.toarray(), other.toarray())
    if is_saveable(one):
        return digest_of(one) == digest_of(other)
    return ADDRESS.sub("", repr(one)) == ADDRESS.sub("", repr(other))


def caller(path):
    """Return a function that makes a call and checks what came of it, and who was asked."""
    known = {}

    def call(function, *args, **options):
        answer = function(*args, **options)
        if is_saveable(answer):
            try:
                reload(answer, path, known)
            except WrongType as error:  # refused when saved, as it should be: not ours
                assert "sklearn" in str(error)  # noqa: PT017
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if name in VERBS and is_saveable(owner):
            again = getattr(reload(owner, path, known), name)(*args, **options)
            assert same(answer, again), f"{owner!r}.{name} answers otherwise once loaded"
        return answer

    return call


class _Calls(ast.NodeTransformer):
    def visit_Call(self, node):
        self.generic_visit(node)
        name = ast.Name(CALL, ast.Load())
        return ast.Call(name, [node.func, *node.args], node.keywords)


def run_saving(test, path):
    """Run a doctest with every call going through ``caller``; return the text of its failures."""
    for example in test.examples:
        tree = _Calls().visit(ast.parse(example.source))
        example.source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    test.globs[CALL] = caller(path)
    heard = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    found = runner.run(test, out=heard.append)
    return "".join(heard) if found.failed else ""


def doctest_of_page(page):
    """Return the examples of a Markdown page as one doctest."""
    # Fences are cut off, or the closing one would be read as part of the last output.
    text = re.sub(r"^```.*$", "", page.read_text(), flags=re.MULTILINE)
    return doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
