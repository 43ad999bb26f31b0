"""Run the command line inside this process, or as a person would."""

import os
import subprocess
import sys

from typer.testing import CliRunner

from lookalike.cli.app import app

# Nothing from the terminal that the tests run in.
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
UNSET = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "CLICOLOR_FORCE")


def run(*args, **env):
    """Run a command in this process; an error that is no user's error is raised here."""
    environment = PLAIN | dict.fromkeys(UNSET) | env
    words = [str(word) for word in args]
    done = CliRunner().invoke(app, words, env=environment, prog_name="lookalike")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def start(*args, **env):
    """Start the program in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key not in UNSET}
    # Tests that run in the background of a shell have no Ctrl-C to hand down: here it is again.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from lookalike.cli import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment | PLAIN | {"PYTHONIOENCODING": "utf-8"} | env,
    )


def program(*args, **env):
    """Run the program in a process of its own; return exit code, standard output and error."""
    process = start(*args, **env)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode()
