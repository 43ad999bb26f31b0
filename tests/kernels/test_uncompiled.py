"""Kernels as plain Python."""

import os
import subprocess
import sys

import pytest

CODE = """
from lookalike.kernels._jit import COMPILED
import numpy as np
from lookalike.measures import ForestProximity, Vector
from lookalike.trees import SyntheticForest
assert COMPILED == {compiled}
x = np.random.default_rng(0).random(({n}, 4))
print({measure}.fit(x).kneighbors(n_neighbors=2)[1].tolist())
"""


@pytest.mark.parametrize(
    ("measure", "n"),
    [
        ("Vector()", 30),
        # Whole numbers of a byte, which plain Python does not widen.
        ("ForestProximity('gap', SyntheticForest(8), random_state=0)", 300),
    ],
)
def test_kernels_run_uncompiled(measure, n):
    """One switch turns compiling off; kernels with hand-made vector code use their fallback."""
    plain, compiled = (
        subprocess.run(
            [sys.executable, "-c", CODE.format(compiled=switch == "1", measure=measure, n=n)],
            env=os.environ | {"LOOKALIKE_COMPILE": switch, "NUMBA_DISABLE_JIT": "0"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for switch in "01"
    )
    assert plain == compiled
