"""Many points in a small drawing."""

import re
import sys

import numpy as np
import pytest

from lookalike.errors import MissingExtra
from lookalike.show.html.drawings import (
    FONT_PHONE,
    FONT_WIDE,
    LETTER_WIDTH,
    dots,
    frame,
    mark,
    new_figure,
    scatter,
    spark_svg,
    words,
)
from lookalike.show.html.markup import COLORS


def test_shapes_are_kept_and_up_is_up():
    places = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    xy, height = frame(places)
    across, up = xy[1] - xy[0], xy[2] - xy[0]
    assert np.hypot(*across) == pytest.approx(2 * np.hypot(*up))
    assert up[1] < 0  # a drawing counts from the top
    assert xy.min() >= 0
    assert xy[:, 1].max() <= height
    assert xy[:, 0].max() <= 480
    tall, height = frame(places[:, ::-1] * 3)
    assert tall[:, 1].max() <= height
    frame(np.zeros((1, 2)))


def test_dots_are_few_bytes_and_none_twice():
    xy = np.random.default_rng(0).random((5000, 2)) * 480
    text = dots(xy, "#000", 3)
    assert len(text) < 5000 * 16
    assert dots(np.repeat(xy[:1], 9, axis=0), "#000", 3).count("h0") == 1
    assert dots(xy[:0], "#000", 3) == ""


def test_groups_have_colors_names_and_counts():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], [30, 10])
    text = scatter(rng.random((40, 2)) + 3 * groups[:, None], groups, ["<a>", "b"], "two groups")
    assert re.findall('stroke="(#.{6})"', text) == list(COLORS[:2])
    assert "&lt;a&gt; (30)" in text
    assert "b (10)" in text
    assert text.count("<text") == 2
    assert 'aria-label="two groups"' in text


def test_names_do_not_cover_each_other():
    """Even in a heap: a name moves by lines, or is left out on narrow pages, or at all."""
    names = [f"group number {i}" for i in range(12)]
    text = scatter(np.zeros((12, 2)), np.arange(12), names, "a heap")
    found = re.findall(r'<text( class="roomy")? x="(\d+)" y="(\d+)"[^>]*>([^<]*)<', text)
    assert 1 < len(found) < len(names)
    assert found[0][3] == names[0]
    for wide, size in (
        (True, FONT_WIDE),
        (False, FONT_PHONE),
    ):  # those that are left out are smaller
        shown = [(int(x), int(y)) for narrow, x, y, _ in found if wide or not narrow]
        half = LETTER_WIDTH * size * len(names[0])
        for at, (x, y) in enumerate(shown):
            assert all(abs(x - u) >= half or abs(y - v) >= size for u, v in shown[:at])


def test_the_key_says_what_makes_a_group():
    text = scatter(np.eye(2), np.arange(2), ["a", "b"], "two", notes=["tall & thin", ""])
    assert "a (1): tall &amp; thin</li>" in text
    assert "b (1)</li>" in text


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", COLORS)
@pytest.mark.parametrize("ground", ["#ffffff", "#16181b"])
def test_colors_show_on_light_and_dark_ground(color, ground):
    assert contrast(color, ground) >= 3


def test_text_of_a_page_has_the_contrast_of_wcag_aa():
    from lookalike.show.html.document import read_style

    light, dark = read_style("page").split("@media(prefers-color-scheme:dark)")[:2]
    for style in (light, dark.split("}}")[0]):
        named = dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", style))
        named = {
            k: v if len(v) == 7 else "#" + "".join(c * 2 for c in v[1:]) for k, v in named.items()
        }
        for ink in ("ink", "quiet", "link"):
            for ground in ("ground", "panel"):
                assert contrast(named[ink], named[ground]) >= 4.5, (ink, ground)


def numbers_of(text, name):
    return [float(found) for found in re.findall(rf'(?<=\b{name}=")[^"]*', text)]


def test_a_line_fills_its_height_and_bars_start_at_zero():
    text = spark_svg([1.0, 3.0, 2.0, float("nan")], "a shape")
    # Four points in the middles of quarters of 64 pixels, from 1 (highest) to 15 (NaN is 0).
    assert 'points="8.0,10.3 24.0,1.0 40.0,5.7 56.0,15.0"' in text
    assert '<svg width="64" height="16" role="img" aria-label="a shape">' in text
    assert 'points="16.0,15.0 48.0,15.0"' in spark_svg([7.0, 7.0], "constant")
    assert 'points="16.0,15.0 48.0,1.0"' in spark_svg([0.0, 1.0], "rising")
    for wrong in ("inf", "-inf", "nan"):
        assert spark_svg([float(wrong), 1.0], "") == spark_svg([0.0, 1.0], "")
    bars = spark_svg([2.0, 4.0], "bars", bars=True)
    assert numbers_of(bars, "x") == [0.0, 32.0]
    assert numbers_of(bars, "y") == [8.0, 1.0]
    assert numbers_of(bars.partition("<rect")[2], "width") == [31.0, 31.0]
    assert numbers_of(bars.partition("<rect")[2], "height") == [8.0, 15.0]
    # Below 0 the lowest bar is the ground.
    assert numbers_of(spark_svg([-2.0, 2.0], "bars", bars=True), "y") == [15.0, 1.0]


def test_many_values_are_averaged_to_one_for_each_pixel():
    whole = [float(i % 5) for i in range(64)]
    assert spark_svg(whole, "").count(",") == 64
    twice = [value for value in whole for _ in (0, 1)]
    assert spark_svg(twice, "") == spark_svg(whole, "")
    # Of 65 values the last two share a pixel.
    assert spark_svg([*whole, whole[-1]], "") == spark_svg(whole, "")
    assert spark_svg([*whole[:-1], 2.0, 6.0], "") == spark_svg([*whole[:-1], 4.0], "")
    narrow = spark_svg(whole, "", bars=True)
    assert set(numbers_of(narrow.partition("<rect")[2], "width")) == {0.5}


def test_a_map_has_one_scale_and_some_height():
    xy, height = frame(np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]))
    assert height == 132.0
    assert xy.tolist() == [[8.0, 124.0], [472.0, 124.0], [8.0, 8.0]]
    # A tall one is 1.25 times as high as wide, and in the middle.
    xy, height = frame(np.array([[0.0, 0.0], [0.0, 10.0]]))
    assert height == 596.0
    assert xy.tolist() == [[240.0, 588.0], [240.0, 8.0]]
    flat, height = frame(np.array([[0.0, 5.0], [1.0, 5.0]]))
    assert height == 60.0
    assert flat[:, 1].tolist() == [52.0, 52.0]


def test_marks_and_words_are_placed_and_escaped():
    assert mark([1.26, 2.0], 3.0, "#abc", "<x>") == (
        '<circle cx="1.3" cy="2.0" r="3.0" fill="#abc" fill-opacity=".75" stroke="currentColor" '
        'stroke-width=".5"><title>&lt;x&gt;</title></circle>'
    )
    text = words((10.4, 20.6), "<a>", "end", roomy=True)
    assert text.startswith('<text class="roomy" x="10" y="21" text-anchor="end"')
    assert text.endswith("&lt;a&gt;</text>")
    assert words((1, 2), "a").startswith('<text x="1" y="2" text-anchor="middle"')
    assert 'd="M1 2.5h0"' in dots(np.array([[1.1, 2.4], [0.9, 2.6]]), "#000", 3)


def test_the_key_has_counts_and_notes():
    places = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
    text = scatter(places, np.array([1, 1, 0]), ["a", "b"], "l", "said", ["", "why"])
    assert "a (1)</li>" in text
    assert "b (2): why</li>" in text
    assert "<figcaption>said</figcaption>" in text
    # The larger group is drawn first, so that the smaller one lies on top.
    assert text.index(f'stroke="{COLORS[1]}"') < text.index(f'stroke="{COLORS[0]}"')
    assert 'stroke-width="7"' in text  # few rows have large dots
    many = scatter(np.random.default_rng(0).random((2000, 2)), np.zeros(2000, int), ["a"], "l")
    assert 'stroke-width="2.2"' in many


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    expected = (
        "me: needs the package matplotlib, found it is not installed. "
        'Install it with: pip install "lookalike[report]".'
    )
    with pytest.raises(MissingExtra) as caught:
        new_figure("me", 4, 3)
    assert str(caught.value) == expected


def test_a_map_fills_its_width_however_small_its_numbers_are():
    for size in (1e-6, 1.0, 1e6):
        xy, height = frame(np.array([[0.0, 0.0], [1.0, 0.5]]) * size)
        assert xy[:, 0] == pytest.approx([8.0, 472.0])
        assert xy[:, 1] == pytest.approx([240.0, 8.0])
        assert height == 248.0
    xy, height = frame(np.array([[0.0, 0.0], [0.5, 2.0]]))  # high: the height decides, by 0.8
    assert xy[:, 0] == pytest.approx([167.5, 312.5])
    assert height == 596.0
    xy, height = frame(np.zeros((2, 2)))  # one place
    assert xy.tolist() == [[240.0, 52.0]] * 2
    assert height == 60.0
