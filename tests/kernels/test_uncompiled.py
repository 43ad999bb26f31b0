"""Kernels as plain Python."""

import os
import subprocess
import sys

import numpy as np


def test_kernels_run_uncompiled():
    """One switch turns compiling off; kernels with hand-made vector code use their fallback."""
    code = (
        "from lookalike.kernels._jit import COMPILED; assert not COMPILED\n"
        "import numpy as np\n"
        "from lookalike.measures import Vector\n"
        "x = np.random.default_rng(0).random((30, 9))\n"
        "print(Vector().fit(x).kneighbors(n_neighbors=2)[1].tolist())\n"
    )
    plain = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"LOOKALIKE_COMPILE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    x = np.random.default_rng(0).random((30, 9))
    from lookalike.measures import Vector

    compiled = Vector().fit(x).kneighbors(n_neighbors=2)[1]
    assert plain.stdout.strip() == str(compiled.tolist())
