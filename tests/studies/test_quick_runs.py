"""Every paper's quick run: all its parts, its headline findings, a cause for every difference."""

import os

import pytest

from studies import find_paper, run_paper

ASKED = os.environ.get("LOOKALIKE_STUDIES", "0") not in ("", "0")
# The fewest headline findings that must hold. Where all of them do, none may be lost.
HEADLINES = {"order": 3, "hubs": 5, "forests": 3, "similarity": 3, "gower": 3, "beyond": 2}
ALL_HOLD = ("forests", "similarity")


@pytest.mark.timeout(0)
@pytest.mark.skipif(not ASKED, reason="takes minutes for each paper: LOOKALIKE_STUDIES=1 runs it")
@pytest.mark.parametrize("name", HEADLINES)
def test_the_quick_run_bears_out_the_headlines(data_folder, tmp_path, name):
    paper = find_paper(name)
    done = list(run_paper(paper, data_folder, "quick", tmp_path))
    assert [one.part.name for one in done] == [part.name for part in paper.parts]
    headlines = [one for part in done for one in part.result.findings if one.headline]
    held = [one for one in headlines if one.holds]
    assert len(held) >= HEADLINES[name]
    if name in ALL_HOLD:
        assert held == headlines
    for part in done:
        for sheet in part.result.sheets:
            assert [where for *where, _, cause in sheet.differences() if not cause] == []
