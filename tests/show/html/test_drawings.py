"""Many points in a small drawing."""

import re

import numpy as np
import pytest

from lookalike.show.html.drawings import FONT_PHONE, FONT_WIDE, LETTER_WIDTH, dots, frame, scatter
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
