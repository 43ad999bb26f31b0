"""Servers for tests: in a thread of the test, or as a process of their own."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lookalike.service import Client
from lookalike.service.limits import RequestLimits
from lookalike.service.server import Server
from lookalike.service.service import Service

SOURCE = Path(__file__).parents[2] / "src"
PETS = [
    {"name": "Tom", "weight": 4, "animal": "cat", "tags": ["tame", "small"]},
    {"name": "Rex", "weight": 30, "animal": "dog", "tags": ["tame"]},
    {"name": "Kitty", "weight": 5, "animal": "cat", "tags": ["small"]},
    {"name": "Grey", "weight": 28, "animal": "wolf", "tags": ["wild"]},
    {"name": "Mini", "weight": 3.5, "animal": None, "tags": ["tame", "small"]},
    {"name": "Otto", "weight": 90, "animal": "horse", "tags": []},
]


def run_alone(coroutine):
    """Run a coroutine in a thread: a browser of other tests may have a loop running in this one."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(asyncio.run, coroutine).result()


def free_port():
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


@contextlib.contextmanager
def running(address, **options):
    """Serve a store in a thread; gives the service and a client."""
    # The first search compiles, which may take minutes where many tests run in parallel.
    options.setdefault("limits", RequestLimits(seconds=300))
    service = Service(address, **options)
    port, listens = free_port(), threading.Event()
    server = Server(service, "127.0.0.1", port, listens.set)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not listens.wait(0.1):
            assert thread.is_alive(), "the server did not start"
        with Client(f"http://127.0.0.1:{port}", timeout=300) as client:
            yield service, client
    finally:
        server.should_exit = True
        thread.join()


class Process:
    """A server that can be killed: ``lookalike serve`` as a process."""

    def __init__(self, store, *arguments, env=None):
        self.port = free_port()
        code = "from lookalike.cli import main; main()"
        command = [sys.executable, "-c", code, "serve", "--store", str(store)]
        command += ["--port", str(self.port), *arguments]
        paths = {"PYTHONPATH": str(SOURCE)}
        self.process = subprocess.Popen(
            command,
            env=os.environ | paths | (env or {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.heard = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.client = Client(f"http://127.0.0.1:{self.port}", timeout=300)

    def _read(self):
        for line in self.process.stderr:
            self.heard.append(line)

    def wait(self, seconds=300):
        """Wait until it answers; where many tests run in parallel that may take minutes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, "".join(self.heard)
            with contextlib.suppress(OSError):
                self.client.get("/healthz")
                return self
            time.sleep(0.05)
        self.kill()
        raise AssertionError("the server did not start: " + "".join(self.heard))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._close()

    def _close(self):
        self.client.close()
        self._reader.join(300)
        self.process.stderr.close()

    def __enter__(self):
        return self.wait()

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.stop()


class Postgres:
    """A throw-away PostgreSQL server on loopback."""

    def __init__(self, folder, programs):
        self.folder, self.programs = Path(folder), Path(programs)
        self.port = free_port()
        self.data = self.folder / "data"
        self._prefix = []
        if os.geteuid() == 0:  # it refuses to run as root
            shutil.chown(self.folder, "postgres")
            self._prefix = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync", "-N")
        self.start()

    def _run(self, program, *arguments):
        command = [*self._prefix, str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        assert done.returncode == 0, done.stderr + done.stdout

    def start(self):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c fsync=off"
        log = self.folder / "log"
        command = ["pg_ctl", "-D", self.data, "-w", "-o", options, "-l", log, "start"]
        command = [*self._prefix, str(self.programs / command[0]), *map(str, command[1:])]
        subprocess.run(
            command,
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self):
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def database(self, name):
        import psycopg

        where = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{name}"
