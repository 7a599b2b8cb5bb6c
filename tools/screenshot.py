#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what a command prints on a terminal of 80 columns as an SVG picture:
usage: screenshot.py [--prompt TEXT] [--lines N] OUT.svg COMMAND [ARGUMENT...]

The command runs for real, in a pseudo terminal.  --prompt is what a reader would have typed, where that
is shorter than the command; --lines keeps the first N lines and says that more follow.
"""
import argparse
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import termios

COLUMNS = 80
CELL, LINE, MARGIN = 8.4, 19, 16 # of a monospaced font of 14 pixels
COLOURS = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea", 90: "#8b949e"}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


def run(command):
    """All that the command writes to its terminal, on either stream."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 200, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True)
    os.close(slave)
    written = b""
    while True:
        try:
            some = os.read(master, 65536)
        except OSError: # the last writer closed it
            break
        if not some:
            break
        written += some
    process.wait()
    return written.decode(errors="replace").replace("\r\n", "\n")


def screen(text):
    """Lines as they stand in the end: a line that was written over by a carriage return is gone."""
    return [line.rsplit("\r", 1)[-1] for line in text.rstrip("\n").split("\n")]


def pieces(line):
    """The line as (text, style) between its escapes."""
    style, at = set(), 0
    for escape in ESCAPE.finditer(line):
        yield line[at:escape.start()], frozenset(style)
        at = escape.end()
        if escape[2] != "m":
            continue
        for code in map(int, (escape[1] or "0").split(";")):
            if code == 0:
                style.clear()
            elif code == 39:
                style -= COLOURS.keys()
            else:
                style.add(code)
    yield line[at:], frozenset(style)


def attributes(style):
    colour = next((COLOURS[code] for code in style if code in COLOURS), None)
    return (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if 1 in style else "") + \
           (' opacity="0.7"' if 2 in style else "")


def drawn(line, y):
    spans, column = "", 0
    for text, style in pieces(line):
        if text:
            spans += f'<tspan x="{MARGIN + column * CELL:.1f}"{attributes(style)}>{html.escape(text)}</tspan>'
            column += len(text)
    return f'<text y="{y}" xml:space="preserve">{spans}</text>' if spans else ""


def picture(lines):
    width, height = COLUMNS * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    text = "\n".join(filter(None, (drawn(line, MARGIN + (i + 1) * LINE - 5) for i, line in enumerate(lines))))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">
{text}
</g>
</svg>
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompt")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("output")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    words = parser.parse_args()
    lines = screen(run(words.command))
    shown = lines[:words.lines] + ["\x1b[90m...\x1b[0m"] * (len(lines) > words.lines)
    prompt = "\x1b[32m$\x1b[0m \x1b[1m" + (words.prompt or " ".join(words.command)) + "\x1b[0m"
    with open(words.output, "w", encoding="utf-8") as file:
        file.write(picture([prompt, *shown]))


if __name__ == "__main__":
    main()
