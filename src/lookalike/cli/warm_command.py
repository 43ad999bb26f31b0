"""``lookalike warm``: compile all loops now, so that no later command waits for the compiler."""

from __future__ import annotations

from lookalike.cli import output as out
from lookalike.errors import InvalidInput, UnwritableFile

EXAMPLES = ("lookalike warm", "lookalike warm --quiet")


def warm() -> None:
    """Compile all loops now, so that no later command waits: for container images.

    Compiled loops are kept for this processor, this Python and this version of lookalike. The
    folder is NUMBA_CACHE_DIR or XDG_CACHE_HOME where one of them is set, else ~/.cache.
    """
    from lookalike.kernels import COMPILED, cache_folder
    from lookalike.warming import warm as compile_all

    if not COMPILED:
        hint = "Unset LOOKALIKE_COMPILE and NUMBA_DISABLE_JIT"
        raise InvalidInput("warm", "a compiler", "none", hint, problem="compiling is turned off")
    if cache_folder() is None:  # compiling would be for nothing
        hint = "Set NUMBA_CACHE_DIR to a folder that can be written to"
        problem = "there is no folder to keep compiled loops in"
        raise UnwritableFile("warm", "a folder for compiled loops", "none", hint, problem=problem)
    out.note("compiling all loops; the first time this takes some minutes")
    done = compile_all()
    console = out.make_console()
    out.say(console, f"{done.compiled} loops compiled in {done.seconds:.0f} s", "")
    out.say(console, f"kept in {done.folder}", "")
