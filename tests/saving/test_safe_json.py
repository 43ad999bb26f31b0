"""Untrusted JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.saving import safe_json
from lookalike.saving.safe_json import DEEPEST, json_depth, parse_json


def depth_of(value):
    """Reference implementation: how deeply lists and mappings are nested."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text('ab[]{}"\\\n')),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"\\'), inner, max_size=3)
    ),
)


@given(value=VALUES, chunk=st.sampled_from([1, 3, 2**20]))
def test_depth_is_that_of_the_parsed_value(value, chunk):
    text = json.dumps(value).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(safe_json, "CHUNK_BYTES", chunk)
        assert json_depth(text) == depth_of(value)
    assert parse_json(text) == value


def test_every_line_counts_from_zero():
    text = b'[[1]\n[[[2]]]\n"[\n{"a": [\n'
    assert json_depth(text, lines=True) == 3
    assert json_depth(b"[1\n[2\n[3", lines=True) == 1
    assert json_depth(b"[1\n[2\n[3") == 3
    assert json_depth(b"") == 0


def test_what_is_deep_repeated_or_no_json_is_refused():
    for depth in (DEEPEST, DEEPEST + 1):
        text = b"[" * depth + b"]" * depth
        if depth == DEEPEST:
            assert json_depth(json.dumps(parse_json(text)).encode()) == DEEPEST
        else:
            with pytest.raises(ValueError, match=f"nested {depth} deep, more than {DEEPEST}"):
                parse_json(text)
    assert parse_json(b"[[1]]", deepest=2) == [[1]]
    with pytest.raises(ValueError, match="nested 2 deep, more than 1"):
        parse_json(b"[[1]]", deepest=1)
    with pytest.raises(ValueError, match="a key that comes twice"):
        parse_json(b'[{"a": 1, "a": 1}]')
    for word in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match=f"{word}, which is not JSON"):
            parse_json(word.encode())
