"""The program ``lookalike``: its commands, its exit codes, and how errors are shown.

Commands that are verbs are made of the functions in ``lookalike.verbs``; the others are functions
of this package. Heavy imports are inside functions, so that ``lookalike --help`` is fast.

Exit codes: 0; 1 for an error the user can fix (one red line, no traceback); 2 for wrong usage;
130 after Ctrl-C.
"""

import _thread
import io
import os
import signal
import sys
import threading
import time
import warnings
from types import FrameType
from typing import Annotated, Any

import typer

from lookalike._version import __version__
from lookalike.cli import demo_command, index_command, serving
from lookalike.cli.build import Group, add_command, add_verb
from lookalike.cli.output import complain, speaks_unicode, warn
from lookalike.cli.spelling import spell_option
from lookalike.errors import LookalikeError, LookalikeWarning, Param
from lookalike.verbs import VERBS as QUESTIONS
from lookalike.verbs import module_of

INTERRUPTED = 130  # the exit code after Ctrl-C
GRACE_SECONDS = 1.0  # that a command has after Ctrl-C to clean up; chosen by hand

# Commands that are not verbs: a module with a function (or, for a command with subcommands, a
# typer.Typer) of that name, and EXAMPLES for its help; and the heading in the help of the program.
COMMANDS: dict[str, tuple[Any, str]] = {
    "demo": (demo_command, "Look at a table"),
    "explore": (serving, "Look at a table"),
    "index": (index_command, "Keep and serve it"),
    **dict.fromkeys(("serve", "mcp", "token", "warm"), (serving, "Keep and serve it")),
}
# The order of the help: the demo, the verbs by their rank, the other commands.
VERBS = ("demo", *sorted(QUESTIONS, key=lambda name: module_of(name).RANK), *[*COMMANDS][1:])


class Verbs(Group):
    """All commands; the one place where errors and warnings become lines."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept ``--debug`` after the verb as well, where people add it to a failed command."""
        # It is an option of the program, which click wants before the command.
        if "--debug" in args:
            args = ["--debug", *(word for word in args if word != "--debug")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; print errors and warnings of the library in one line each."""
        shown: set[str] = set()

        def spell(param: Param) -> str:
            name = ctx.invoked_subcommand or "lookalike"
            command: Any = self.get_command(ctx, name)
            # Of a command with subcommands the options of all of them.
            commands = getattr(command, "commands", {name: command}).values()
            options = {word for one in commands for param in one.params for word in param.opts}
            return spell_option(param, name, options)

        def show(message: Warning | str, *where: Any, **more: Any) -> None:
            if not isinstance(message, LookalikeWarning):
                usual(message, *where, **more)
            elif str(message) not in shown:  # one line, however many calls have warned
                shown.add(str(message))
                warn(message.text(spell))

        with warnings.catch_warnings():
            usual = warnings.showwarning
            warnings.showwarning = show
            warnings.simplefilter("always", LookalikeWarning)
            try:
                return super().invoke(ctx)
            except BrokenPipeError:
                raise  # the reader has closed the pipe, as `| head` does: typer exits silently
            except (LookalikeError, OSError) as error:
                if ctx.params.get("debug"):
                    raise
                text = error.text(spell) if isinstance(error, LookalikeError) else str(error)
                complain(text or type(error).__name__)
                raise typer.Exit(1) from error


app = typer.Typer(name="lookalike", cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lookalike {__version__}")
        raise typer.Exit


@app.callback()
def lookalike(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        # Eager, so that it works without a command.
        typer.Option(
            "--version", help="Print the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Find the rows of a table that are alike, and say why."""


for _name in VERBS:
    if _name in QUESTIONS:
        add_verb(app, _name)
        continue
    _module, _panel = COMMANDS[_name]
    _command = getattr(_module, _name)
    # A group of commands is added as a whole, a function with the options of all commands.
    if isinstance(_command, typer.Typer):
        app.add_typer(_command, name=_name, rich_help_panel=_panel)
    else:
        add_command(app, _name, _command, _module.EXAMPLES[_name], _panel)


def main() -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not speaks_unicode():
        # Without it a character that the terminal cannot encode would end in a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    # Only where Python's own handler is set: a program that embeds us may have another.
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        app(prog_name="lookalike")
    except Exception:
        # Ctrl-C during an import may surface as an error about a partially initialized module.
        if _interrupts:
            sys.exit(INTERRUPTED)
        raise


_interrupts: list[int] = []


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Note a Ctrl-C, besides its usual effect, and see to it that the program ends."""
    if not _interrupts:
        # threading.Thread takes a lock that the code interrupted here may hold.
        _thread.start_new_thread(_leave, ())
        # Inside a callback of the compiler it cannot be raised: Python would print a traceback and
        # go on until ``_leave`` ends the program.
        sys.unraisablehook = lambda found: None
    _interrupts.append(number)
    signal.default_int_handler(number, frame)


def _leave() -> None:
    """Force exit if SIGINT was not handled within a second, as while the compiler runs."""
    # No file is damaged by it: files are written under another name, and renamed when complete.
    time.sleep(GRACE_SECONDS)
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        os.write(sys.__stderr__.fileno(), b"\x1b[?25h\n")  # a progress bar hides the cursor
    os._exit(INTERRUPTED)
