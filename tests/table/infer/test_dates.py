"""Dates and times as people write them."""

import datetime as dt

import pyarrow as pa

from lookalike.table.formats.raw import Words, of_values
from lookalike.table.infer.dates import find_dates, infer_dates, misfit_dates
from lookalike.table.infer.vocabulary import patterns
from lookalike.table.model.kind import DATE_FORMS


def find(*strings, **options):
    return find_dates(Words.once("x", pa.array(strings, pa.large_string())), **options)


def days(*strings, **options):
    found = find(*strings, **options)
    return None if found is None else [str(cell.as_py())[:10] for cell in found.cells]


def test_every_way_to_write_dates_has_its_name():
    assert tuple(patterns("dates")) == DATE_FORMS


def test_one_day_above_twelve_decides_the_order():
    assert days("24/09/2020", "03/04/2020") == ["2020-09-24", "2020-04-03"]
    assert days("09/24/2020", "03/04/2020") == ["2020-09-24", "2020-03-04"]
    assert days("24/09/2020", "09/24/2020") is None
    assert days("12/12/2020") == ["2020-12-12"]
    assert days("13/13/2020") is None
    assert days("32/01/2020") is None
    open_found = find("03/04/2020")
    assert (open_found.open, open_found.proves) == ("mdy", "")
    assert find("24/09/2020").proves == "dmy"
    assert days("03/04/2020", prefer="mdy") == ["2020-03-04"]


def test_the_calendar_is_kept():
    assert days("2020-02-29") == ["2020-02-29"]
    assert days("2021-02-29") is None
    assert days("2020-12-31", "2020-01-01") == ["2020-12-31", "2020-01-01"]
    assert days("2020-13-01") is None
    assert days("3 Feb 68", "3 Feb 69") == ["2068-02-03", "1969-02-03"]
    assert days("2020-W01", "2021-W53") == ["2019-12-30", "2022-01-03"]
    assert days("2020 Q3") == ["2020-07-01"]
    assert days("20200924") is None
    assert days("20200924", compact=True) == ["2020-09-24"]


def test_times_of_day():
    cells = find("12:30 am", "12:30 pm").cells.to_pylist()
    assert cells == [dt.time(0, 30), dt.time(12, 30)]
    assert find("13:00 pm", "1:00 pm") is None
    assert find("10:60", "10:00") is None
    stamp = find("2020-01-01T12:00:00+02:00").cells[0].as_py()
    assert stamp == dt.datetime(2020, 1, 1, 10)


def test_reasons_name_both_ends():
    date, time = dt.datetime(2020, 1, 1), dt.timedelta(hours=1)
    assert infer_dates(of_values("x", [date, dt.datetime(2020, 1, 2, 3)])).kind.reason == (
        "dates from 2020-01-01T00:00:00 to 2020-01-02T03:00:00"
    )
    assert infer_dates(of_values("x", [date, dt.datetime(2020, 2, 1)])).kind.reason == (
        "dates from 2020-01-01 to 2020-02-01"
    )
    found = infer_dates(of_values("x", [time, 2 * time]))
    assert (found.kind.reason, found.kind.role) == ("durations from 1:00:00 to 2:00:00", "time")


def test_misfits_are_those_of_the_common_form():
    strings = pa.array(["2020-01-01", "2020-01-02", "soon"])
    assert misfit_dates(strings).tolist() == [False, False, True]
    assert misfit_dates(pa.array(["soon", "later"])).all()


def test_times_of_more_than_half_a_day_come_round():
    def role(*cells):
        return infer_dates(of_values("x", cells).neutral()).kind.role

    assert role(dt.time(6), dt.time(18, 0, 1)) == "cycle:86400"
    assert role(dt.time(6), dt.time(18)) == "time"
    assert role(dt.timedelta(hours=1), dt.timedelta(hours=23)) == "time"  # a duration
