"""Transcripts: expressions and what they print, kept as text beside the tests of a package.

They show that an answer, a reason or a message has changed; that it is right is shown by the tests
with references and worked numbers.
"""

import doctest
from pathlib import Path


def assert_transcript(name):
    """Run the examples of ``tests/<name>.txt``; the first example that differs is shown."""
    path = Path(__file__).parent / f"{name}.txt"
    text = path.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    try:
        doctest.DebugRunner(verbose=False).run(test)
    except doctest.DocTestFailure as failure:
        example = failure.example
        where = f"{path.name}, line {example.lineno + 1}: {example.source}"
        raise AssertionError(f"{where}expected:\n{example.want}found:\n{failure.got}") from None
    except doctest.UnexpectedException as failure:
        raise failure.exc_info[1] from None
