#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of nginx as a server of files, written against the unpatched program.

usage: test.py NGINX [TIMES]
       With TIMES, at least 2, only that many reloads and restarts under load, by each kind of socket.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../test/examples/Inputs/httpd"))
sys.dont_write_bytecode = True

from restart import KernelMemory, Load, alive, check_leaks, leaks
from server import Site, check, until

SMALL = bytes(range(256)) * 5
EDGE = b"e" * 16384
OTHER = b"f" * 16384
OVER = b"o" * 16385
LARGE = bytes(range(251)) * 20000


class Nginx(Site):
    """A server of one worker, with three locations that differ in what they cache and include."""

    def __init__(self, program):
        self.program = program
        # Not below $TMPDIR, which the user nobody cannot enter when lit has set it.
        self.directory = tempfile.mkdtemp(dir="/tmp")
        os.chmod(self.directory, 0o777)
        self.root = os.path.join(self.directory, "www")
        self.pid = self.cgroup = None
        for name, contents in {
                "small.bin": SMALL, "edge": EDGE, "other": OTHER, "over": OVER, "large": LARGE, "empty": b"", "small": b"small",
                "index.html": b"root", "d/index.html": b"d", "denied": b"denied", "404.txt": b"none",
                "tested/small": SMALL, "tested/large": LARGE, "tested/denied": b"", "tested/d/index.html": b"d",
                "cached/small": SMALL, "cached/large": LARGE, "direct/small": SMALL,
                "included/page": b'begin <!--#include virtual="/other" --> end',
                "links/file": b"f", "a b": b"space"}.items():
            self.write(name, contents)
        for name in "denied", "tested/denied":
            os.chmod(self.path(name), 0)
        os.symlink("file", self.path("links/link"))
        os.mkfifo(self.path("fifo"))

    def configure(self, listen, lines="", user="nobody"):
        group = "nogroup" if user == "nobody" else ""
        user = f"user {user} {group};" if os.geteuid() == 0 else ""
        directory = self.directory
        with open(os.path.join(directory, "nginx.conf"), "w") as file:
            file.write(f"""{user}
worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log;
events {{ worker_connections 512; }}
http {{
    types {{ text/html html; text/plain txt; }}
    default_type application/octet-stream;
    client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
    uwsgi_temp_path {directory}; scgi_temp_path {directory};
    access_log {directory}/access.log;
    sendfile on; tcp_nopush on; keepalive_timeout 60; client_header_timeout 60;
    server {{
        listen {listen}; root {self.root}; {lines}
        error_page 403 /404.txt;
        location /cached/ {{ open_file_cache max=10; }}
        location /direct/ {{ directio 100; }}
        location /links/ {{ disable_symlinks on; }}
        location /included/ {{ ssi on; ssi_types *; }}
        location /try/ {{ try_files /none$uri /small.bin =404; }}
        location /tested/ {{ try_files $uri $uri/ =404; }}
        location /tries/ {{ try_files /none /none/ =404; }}
        location /full/ {{ access_log /dev/full; alias {self.root}/; }}
        location /both/ {{ access_log {directory}/access.log; access_log {directory}/other.log; alias {self.root}/; }}
    }}
}}
""")

    def start(self, listen):
        self.address = listen[5:] if listen.startswith("unix:") else ("127.0.0.1", int(listen))
        self.configure(listen)
        self.call()
        self.find()

    def find(self):
        """Wait until the first process, or the one after self.pid, serves, and set self.pid to it."""
        old, name = self.pid, os.path.join(self.directory, "nginx.pid")

        def found():
            try:
                with open(name) as file:
                    self.pid = int(file.read())
            except (FileNotFoundError, ValueError):
                return False
            return self.pid != old
        until(found, "it has started")
        until(lambda: len(self.workers()) == 1, "a worker runs")

    def call(self, *arguments):
        subprocess.run([self.program, "-c", os.path.join(self.directory, "nginx.conf"), "-p",
                        self.directory, "-e", os.path.join(self.directory, "error.log"),
                        *arguments], check=True, preexec_fn=self.enter_cgroup)

    def stop(self, number):
        if self.pid and os.path.exists(f"/proc/{self.pid}"):
            os.kill(self.pid, number)
            until(lambda: not os.path.exists(f"/proc/{self.pid}"), "it ends")


def check_files(server):
    for target, status, body in [
            ("/small.bin", 200, SMALL), ("/edge", 200, EDGE), ("/over", 200, OVER),
            ("/large", 200, LARGE), ("/empty", 200, b""), ("/", 200, b"root"), ("/d/", 200, b"d"),
            ("/cached/small", 200, SMALL), ("/cached/small", 200, SMALL), ("/cached/large", 200, LARGE),
            ("/direct/small", 200, SMALL), ("/a%20b", 200, b"space"), ("/small.bin?x", 200, SMALL),
            ("/try/x", 200, SMALL), ("/tries/x", 404, None), ("/none", 404, None),
            ("/tested/small", 200, SMALL), ("/tested/large", 200, LARGE), ("/tested/denied", 403, b"none"),
            ("/tested/none", 404, None), ("/tested/small/x", 404, None), ("/tested/d/", 200, b"d"),
            ("/tested/d", 301, None), ("/small.bin/x", 404, None), ("/small.bin/", 404, None), ("/denied", 403, b"none"),
            ("/links/file", 200, b"f"), ("/links/link", 403, b"none"), ("/fifo", 404, None),
            ("/" + "a" * 256, 404, None), ("/../etc/passwd", 400, None), ("/cached/", 403, b"none")]:
        answer = server.get(target)
        check(answer.status == status, f"{target[:40]}: {status}, but {answer.status}")
        check(body is None or answer.body == body, f"{target}: the right contents")
    answer = server.get("/d?q")
    check(answer.status == 301 and answer.fields["location"].endswith("/d/?q"), f"{answer.fields}")
    for target in "/small.bin", "/large", "/empty", "/cached/small":
        get, head = server.get(target), server.get(target, method="HEAD")
        for fields in get.fields, head.fields:
            fields.pop("date")
        check(get.fields == head.fields, f"{target}: HEAD has the fields of GET")
    check(server.get("/small.bin", method="POST").status == 405, "POST: 405")


def check_ranges(server):
    for name, contents in ("small.bin", SMALL), ("large", LARGE), ("cached/small", SMALL):
        size = len(contents)
        for text, first, end in [("0-0", 0, 1), ("1-9", 1, 10), ("-3", size - 3, size),
                                 ("5-", 5, size), (f"1-{size}", 1, size)]:
            answer = server.get(f"/{name}", f"Range: bytes={text}")
            check(answer.status == 206 and answer.body == contents[first:end], f"{name} {text}")
            check(answer.fields["content-range"] == f"bytes {first}-{end - 1}/{size}",
                  f"{name} {text}: {answer.fields}")
        check(server.get(f"/{name}", f"Range: bytes={size}-").status == 416, f"{name}: 416")
        answer = server.get(f"/{name}", "Range: bytes=0-1,4-6")
        check(answer.status == 206 and contents[:2] in answer.body and
              answer.body.count(b"Content-Range: bytes ") == 2, f"{name}: two ranges")
        fields = server.get(f"/{name}").fields
        for field, status in [(f"If-None-Match: {fields['etag']}", 304), ('If-None-Match: "a"', 200),
                              (f"If-Modified-Since: {fields['last-modified']}", 304),
                              ("If-Modified-Since: Sun, 09 Sep 2001 01:46:40 GMT", 200),
                              ("If-Unmodified-Since: Sun, 09 Sep 2001 01:46:40 GMT", 412),
                              ('If-Match: "a"', 412)]:
            check(server.get(f"/{name}", field).status == status, f"{name}, {field}: {status}")
        answer = server.get(f"/{name}", f"If-Range: {fields['etag']}", "Range: bytes=1-2")
        check(answer.status == 206 and answer.body == contents[1:3], f"{name}: If-Range")
        check(server.get(f"/{name}", 'If-Range: "a"', "Range: bytes=1-2").status == 200, "another tag")


def check_connections(server):
    client = server.client()
    names = ["small.bin", "large", "none", "edge", "cached/small", "empty", "over", "small.bin"]
    client.send("".join(f"GET /{name} HTTP/1.1\r\nHost: x\r\n\r\n" for name in names * 3))
    for name in names * 3:
        answer = client.answer()
        body = {"small.bin": SMALL, "large": LARGE, "edge": EDGE, "cached/small": SMALL,
                "over": OVER, "empty": b""}.get(name)
        check(body is None and answer.status == 404 or answer.body == body,
              f"pipelined requests are answered in order: {name}")
    for byte in "GET /small.bin HTTP/1.1\r\nHost: x\r\n\r\n":
        client.send(byte)
    check(client.answer().body == SMALL, "a request may arrive byte by byte")
    check(client.get("/edge", "Connection: close").body == EDGE and client.ended(), "it is closed")
    client = server.client()
    client.send("GET /edge HTTP/1.0\r\n\r\n")
    check(client.answer().body == EDGE and client.ended(), "HTTP/1.0")
    for text in "GET / HTTP/1.1\r\n\r\n", "\0\r\n\r\n", "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n":
        client = server.client()
        client.send(text)
        check(client.answer().status == 400 and client.ended(), f"{text!r}: 400")
    # A client that takes little at a time, with answers that wait in the server.
    client = server.client(receive_buffer=2048)
    client.send("GET /edge HTTP/1.1\r\nHost: x\r\n\r\nGET /other HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
    for body in (EDGE, OTHER) * 100:
        check(server.get("/small.bin").body == SMALL, "another client is answered meanwhile")
        check(client.answer().body == body, "answers to a slow client are complete")
    client = server.client(receive_buffer=2048)
    client.send("GET /included/page HTTP/1.0\r\n\r\n")
    check(server.get("/small.bin").body == SMALL, "another client is answered meanwhile")
    while client.more():
        pass
    check(client.data.endswith(b"\r\n\r\nbegin " + OTHER + b" end"), "a page has the file that it includes")
    server.get("/small.bin")
    before = server.descriptors()
    for received in 0, 1, 300, 70000:
        for name in "edge", "large", "small.bin":
            for reset in False, True:
                client = server.client()
                client.send(f"GET /{name} HTTP/1.1\r\nHost: x\r\n\r\n")
                while len(client.data) < received and client.more():
                    if name != "large":
                        break
                client.close(reset)
    until(lambda: server.descriptors() <= before, "no descriptor is left of vanished clients")


def check_changes(server):
    with open(server.path("changing"), "wb") as file:
        file.write(SMALL)
    check(server.get("/changing").body == SMALL, "before a change")
    os.truncate(server.path("changing"), 10)
    check(server.get("/changing").body == SMALL[:10], "after a change")
    # The same name in two requests of a connection, each of which asks twice.
    client = server.client()
    for size in 9, 8:
        os.truncate(server.path("tested/small"), size)
        check(client.get("/tested/small").body == SMALL[:size], f"{size} bytes by the same connection")
    with open(server.path("tested/small"), "wb") as file:
        file.write(SMALL)
    os.unlink(server.path("changing"))
    check(server.get("/changing").status == 404, "after it was removed")
    os.mkdir(server.path("changing"))
    check(server.get("/changing").status == 301, "as a directory")


def check_log(server):
    log, old, other = (os.path.join(server.directory, name) for name in ("access.log", "old.log", "other.log"))

    def logged(name, part):
        with open(name) as lines:
            return [line.split()[6] for line in lines if part in line]

    client = server.client()
    targets = [f"/{'both/' if i % 3 else ''}small.bin?n={i}" for i in range(200)]
    client.send("".join(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n" for target in targets))
    for _ in targets:
        check(client.answer().body == SMALL, "the answer to a request that is logged")
    until(lambda: logged(log, "?n=") == targets, "the log has all requests in order")
    until(lambda: logged(other, "?n=") == [t for t in targets if "both" in t], "the other log has its own")
    os.rename(log, old)
    server.get("/small.bin?before")
    os.kill(server.pid, signal.SIGUSR1)
    until(lambda: os.path.exists(log), "the log is opened again")
    until(lambda: server.get("/small.bin?after").body == SMALL and logged(log, "?after"), "the new log is used")
    check(logged(old, "?before") and not logged(log, "?before"), "a line is in the log of its time")
    for name in old, other:
        os.unlink(name)

    def failed():
        check(server.get("/full/small.bin").body == SMALL, "a log that is full changes no answer")
        with open(os.path.join(server.directory, "error.log")) as lines:
            return any('"/dev/full" failed (28:' in line for line in lines)
    until(failed, "a log that is full is reported")


def check_crash(server):
    """A worker is killed while it answers: the log has the requests that were answered."""
    log = os.path.join(server.directory, "access.log")
    # At some of these moments the worker has lines that are not written.
    for number, after in ((number, after) for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
                          for after in (1, 20, 40, 60)):
        worker, = server.workers()
        client, answer, name = server.client(), b"HTTP/1.1 200 OK", f"{number.name}-{after}"
        client.send(f"GET /d/index.html?{name} HTTP/1.1\r\nHost: x\r\n\r\n" * 900)
        while client.data.count(answer) < after:
            client.more()
        os.kill(worker, number)
        try:
            while client.more():
                pass
        except ConnectionResetError:
            pass
        until(lambda: server.workers() not in ([], [worker]), "another worker runs")
        with open(log) as lines:
            logged = sum(f"?{name} " in line for line in lines)
        answered = client.data.count(answer)
        # The line of a request follows its answer.
        check(answered <= logged + 1, f"{answered} requests are answered, and {logged} logged: {name}")
    with open(os.path.join(server.directory, "error.log")) as lines:
        check(sum("exited on signal" in line for line in lines) >= 12, "the worker ends by the signal")


def check_reload(server, reloads):
    failed, reloading = [], threading.Event()

    def load():
        answers = 0
        while reloading.is_set() or answers < 100:
            try:
                if server.get("/small.bin").body != SMALL:
                    failed.append("other contents")
            except (OSError, SystemExit) as error:
                failed.append(repr(error))
            answers += 1

    threads = [threading.Thread(target=load, daemon=True) for _ in range(2)]
    slow = server.client(receive_buffer=2048)
    slow.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    slow.more()
    reloading.set()
    for thread in threads:
        thread.start()
    for i in range(reloads):
        old = server.workers()
        os.kill(server.pid, signal.SIGHUP)
        until(lambda: any(pid not in old for pid in server.workers()), "new workers run")
        # The first worker still answers the slow client. The master has two descriptors for each worker.
        if i == 1 or i == reloads - 1:
            until(lambda: len(server.workers()) == 2, "the old workers end")
        if i == 1:
            before = leaks(server.pid)
    check_leaks(before, server.pid)
    reloading.clear()
    for thread in threads:
        thread.join()
    check(not failed, f"each request has an answer: {failed[:3]}")
    os.kill(server.pid, signal.SIGQUIT)
    check(slow.answer().body == LARGE, "an answer is completed before the server ends")
    until(lambda: not os.path.exists(f"/proc/{server.pid}"), "it ends")
    with open(os.path.join(server.directory, "error.log")) as log:
        lines = [line for line in log if ("[alert]" in line or "[emerg]" in line) and "/dev/full" not in line
                 and "exited on signal" not in line]
    check(not lines, f"nothing is wrong: {lines[:3]}")


def check_upgrade(server, times):
    """The program is started again by SIGUSR2, and ends the old one, while clients send requests."""
    load = Load(server.address)
    load.start()
    for i in range(times):
        old = server.pid
        os.kill(old, signal.SIGUSR2)
        server.find()
        os.kill(old, signal.SIGQUIT)
        until(lambda: not alive(old), "the old server ends")
        if i == 1:
            before = leaks(server.pid)
    check_leaks(before, server.pid)
    load.finish()


def main():
    server = Nginx(sys.argv[1])
    only_restarts = len(sys.argv) > 2
    times = int(sys.argv[2]) if only_restarts else 5
    memory = KernelMemory(server)
    # No other process gets the port of this socket. nginx may bind it, too: this one does not listen.
    port = socket.socket()
    port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    port.bind(("127.0.0.1", 0))
    try:
        for listen in f"unix:{server.directory}/socket", str(port.getsockname()[1]):
            server.start(listen)
            if not only_restarts:
                for part in (check_files, check_ranges, check_connections, check_changes, check_log, check_crash):
                    part(server)
                os.rmdir(server.path("changing"))
            check_upgrade(server, times)
            check_reload(server, times)
    finally:
        port.close()
        server.stop(signal.SIGTERM)
        shutil.rmtree(server.directory)
    memory.check_leaks(4 * times)
    print(f"{sys.argv[1]}: as it should be")


if __name__ == "__main__":
    main()
