"""What a cluster needs to be there, said in words where it is not; and what parts return."""

import sys

import pytest
from hypothesis import strategies as st

from lookalike.errors import MissingExtra, NoAnswer, WrongType
from lookalike.index.dask import connect

points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=25)


def test_a_scheduler_that_does_not_answer_is_named_with_advice():
    pytest.importorskip("distributed")
    for address in ("tcp://127.0.0.1:1", "no address"):
        with (
            pytest.raises(NoAnswer, match=r"dask scheduler") as error,
            connect(address, timeout=0.5),
        ):
            pass
        assert address in str(error.value)


@pytest.mark.parametrize(
    "address", ["junk", "", "ftp://scheduler:8786", "tcp://scheduler", "a b:1"]
)
def test_what_is_no_address_is_refused_at_once(address):
    pytest.importorskip("distributed")
    with pytest.raises(NoAnswer, match="this is not an address") as error, connect(address):
        pass
    assert "tcp://scheduler:8786" in str(error.value)


def test_something_else_than_a_client_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises(WrongType, match=r"distributed\.Client"), connect(7):
        pass


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[dask\]"), connect():
        pass
