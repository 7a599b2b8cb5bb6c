# SPDX-License-Identifier: MIT
"""A recorder for tests, and what they ask of its store."""
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import sqlite3
import subprocess

import support


class Recorder:
    """A recorder inside a `with`, from its first tick on."""

    def __init__(self, test, *options, store=None, wait=True):
        self.store = store or test.path("r.db")
        self.socket = test.path(f"s{random.randrange(10**6)}")
        self.words = [support.TASKSCOPE, "record", "--store", self.store, "--socket", self.socket,
                      "--config", test.path("empty.conf"), *map(str, options)]
        pathlib.Path(test.path("empty.conf")).touch(mode=0o600)
        self.wait = wait

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        if self.wait:
            support.wait_until(lambda: self.ask("latest", alive=True) is not None)
        return self

    def reply(self, method, uid=None, **params):
        """The whole answer of the socket, as that user; None as long as there is none."""
        client = socket.socket(socket.AF_UNIX)
        with client:
            try:
                if uid is not None:
                    os.seteuid(uid)
                client.connect(self.socket)
            except OSError:
                return None
            finally:
                if uid is not None:
                    os.seteuid(0)
            client.sendall(json.dumps({"id": 5, "method": method, "params": params}).encode() + b"\n")
            reply = json.loads(client.makefile().readline())
        assert reply["id"] == 5
        return reply

    def ask(self, method, alive=False, **params):
        """The result; None as long as there is none."""
        if alive and self.process.poll() is not None:
            raise AssertionError(f"the recorder ended: {self.process.stderr.read().decode()}")
        return (self.reply(method, **params) or {}).get("result")

    def ticks(self):
        return self.ask("latest")["host"]["ts_ns"]

    def next_tick(self, count=1):
        for _ in range(count):
            before = self.ticks()
            support.wait_until(lambda: self.ticks() > before)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.said = self.process.communicate(timeout=support.HANG)[1].decode()
        return self.process.returncode

    def __exit__(self, *_):
        with contextlib.suppress(ValueError):
            self.end()


def rows(store, query, *values):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return connection.execute(query, values).fetchall()


class Case(support.TestCase):
    def read(self, *words):
        status, out, err = support.run(*words)
        self.assertEqual(status, 0, err)
        return out

    def read_json(self, *words):
        return json.loads(self.read(*words, "--format", "json"))
