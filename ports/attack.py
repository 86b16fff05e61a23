#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clients that mean harm, for a server and for the same server as it was: both give the same answers, and go on.

usage: attack.py [--streams N] [--seed N] KIND PROGRAM [REFERENCE]

KIND is memcached, nginx, httpd or cryptserve. REFERENCE is the program that is compared: by default PROGRAM with
COSY_EXECUTOR=native. N streams of requests, most of them not valid, are sent in pieces, and the answers compared. Then
clients vanish at each byte of requests, and many at once; no descriptor is left of them, and others are served.
"""

import argparse
import fcntl
import importlib.util
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "test/examples/Inputs/httpd"))
sys.dont_write_bytecode = True

from server import LIMIT, Site, check, until

LARGE = bytes(range(251)) * 4000
FILES = {"small.bin": bytes(range(256)) * 5, "edge": b"e" * 16384, "over": b"o" * 16385, "large": LARGE, "empty": b"",
         "index.html": b"root", "d/index.html": b"d", "a b": b"space", "404.txt": b"none"}
TIME = 1_500_000_000


def connect(address):
    client = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX)
    client.connect(address)  # With a timeout it would fail where the queue of a unix socket is full.
    client.settimeout(LIMIT)
    return client


class Exchange:
    """
    A connection by a unix socket, over which pieces are sent. Each is sent when the server has taken the one before, and
    the direction is ended when the server waits: what it receives at a time does not depend on the machine's load.
    """

    def __init__(self, target, pieces):
        self.target, self.received, self.ended = target, b"", False
        self.client = connect(target.unix)
        self.client.setblocking(False)
        try:
            for piece in pieces:
                self.send(piece)
                if self.ended:
                    break
            else:
                self.until(self.quiet)
                self.client.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # What it has sent before is still there.
        while not self.ended:
            check(self.receive(LIMIT), f"the server ends a connection: {self.received[-200:]}")
        self.client.close()

    def receive(self, seconds):
        """Return whether something, or the end, was received."""
        if not select.select([self.client], [], [], seconds)[0]:
            return False
        try:
            got = self.client.recv(1 << 20)
        except ConnectionResetError:
            got = b""
        self.received += got
        self.ended = not got
        return True

    def until(self, condition):
        """Receive until the condition is true, or the server has ended the connection."""
        end = time.monotonic() + LIMIT
        while not self.ended and not condition():
            check(time.monotonic() < end, "the server takes requests")
            self.receive(0.0005)

    def taken(self):
        return not struct.unpack("i", fcntl.ioctl(self.client, termios.TIOCOUTQ, bytes(4)))[0]

    def quiet(self):
        return self.taken() and self.target.sleeps() and not self.receive(0)

    def send(self, piece):
        while piece and not self.ended:
            try:
                piece = piece[self.client.send(piece):]
            except BlockingIOError:
                self.receive(0.0005)
        self.until(self.taken)


def exchange(target, pieces):
    """Return what the server sends when it receives the pieces."""
    return Exchange(target, pieces).received


def cut(chance, data):
    """Cut the bytes into pieces, sometimes very small ones."""
    # Of a unix socket, more than this may be received in parts.
    size = chance.choice((16384, 1000, 100, 3) if len(data) < 3000 else (16384, 1000))
    pieces = []
    while data:
        at = chance.randint(1, size)
        pieces.append(data[:at])
        data = data[at:]
    return pieces


def change(chance, data):
    """Change, remove or add some bytes."""
    data = bytearray(data)
    for _ in range(chance.choice((0, 0, 0, 0, 1, 1, 2, 10))):
        at = chance.randrange(len(data)) if data else 0
        data[at:at + chance.randrange(2)] = chance.choice((b"", b"\0", b"\r", b"\n", b" ", b"\xff", b"0", b"-", b":"))
    return bytes(data)


class Http:
    """Requests of HTTP, and what a request is known by."""

    good = b"GET /small.bin HTTP/1.1\r\nHost: x\r\n\r\n"

    def request(self, chance):
        def one_of(usual, *others):
            return usual if chance.random() < 0.7 else chance.choice(others)

        name = one_of(f"/{chance.choice(list(FILES))}", "/none", "*", "http://x/edge", "//edge", "/%2e%2e/etc/passwd", "/a%00b",
                      "/%", "/d", "/d/", "/d/../edge", "/./edge", "/../edge", "/edge?" + "q" * 900, "/a%20b", "/edge#x",
                      "/" + "a" * chance.randrange(9000), "edge", "/d//index.html", "/edge/")
        size = chance.randrange(40)
        fields = [one_of("Host: x", "Host: x\r\nHost: y", "Host:", "Host: a b", "X: y", f"Host: {'x' * 3000}")]
        fields += chance.sample((
            f"Range: bytes={chance.randrange(-9, 20000)}-{chance.randrange(20000)}", "Range: bytes=-5", "Range: bytes=0-0,2-3",
            "Range: bytes=x", "If-None-Match: *", 'If-None-Match: "x"', "If-Match: *", 'If-Match: "x"',
            "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT", "If-Modified-Since: never",
            "If-Unmodified-Since: Thu, 01 Jan 1998 00:00:00 GMT", "Connection: close", "Connection: keep-alive",
            "Connection: upgrade\r\nUpgrade: h2c", f"Content-Length: {size}", "Content-Length: -1",
            "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked", "Transfer-Encoding: x",
            "Expect: 100-continue", " folded: x", f"X-Long: {'y' * chance.randrange(9000)}", "no colon", ": x", "a b: c",
            "Accept: */*", "Cookie: " + "; ".join("a=b" for _ in range(100))),
            chance.choice((0, 0, 1, 1, 2, 3, 6)))
        end = one_of("\r\n", "\n", "\r")
        body = chance.choice(("", "", "", "b" * size, f"{size:x}\r\n{'c' * size}\r\n0\r\n\r\n", "zz\r\n"))
        line = " ".join((one_of("GET", "HEAD", "POST", "PUT", "OPTIONS", "get", "G T", "", "X" * 300), name,
                         one_of("HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.", "http/1.1", "HTTP/1.10", "")))
        return (end.join([line, *fields]) + end + end + body).encode("latin-1")

    def stream(self, chance):
        count = chance.choice((1, 1, 2, 5, 40))
        return b"".join(change(chance, self.request(chance)) if chance.random() < 0.5 else self.good for _ in range(count))

    def oversized(self):
        yield b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n"
        yield b"G" * (1 << 20)
        yield b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100000 + b"\r\n"
        yield b"GET / HTTP/1.1\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n"
        yield b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n" + b"b" * 2000000
        yield self.good * 5000
        yield b"\r\n" * 500000

    @staticmethod
    def known(answers):
        answers = re.sub(rb"\r\nDate: [^\r]*", b"", answers)
        return re.sub(rb"\b[0-9]{20}\b", b"boundary", answers)

    def served(self, address):
        client = connect(address)
        client.sendall(self.good)
        return client.recv(12) == b"HTTP/1.1 200"

    def whole(self):
        """Requests at each byte of which a client vanishes."""
        return [self.good, b"HEAD /large HTTP/1.0\r\nRange: bytes=1-2\r\n\r\n", b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 2]


class Memcached:
    """Commands of memcached: text, meta and binary."""

    good = b"set good 0 0 4\r\ngood\r\nget good\r\n"
    keys = ("a", "b", "good", "k" * 250, "k" * 251, "", "a b", "\1")

    def text(self, chance):
        key, number = chance.choice(self.keys), chance.choice((0, 1, 2, 10, -1, 1 << 32, 1 << 64, "x", ""))
        # Nothing expires while the streams are sent.
        time_left = chance.choice((0, -1, "x", ""))
        size = chance.choice((0, 1, 2, 4, 100, 5000, 200000))
        value = chance.choice(("7" * size, "v" * size, "v" * (size + 1)))
        noreply = chance.choice(("", "", " noreply", " more"))
        return chance.choice((
            lambda: f"{chance.choice(('set', 'add', 'replace', 'append', 'prepend'))} {key} {number} "
                    f"{chance.choice((0, 0, 0, -1))} {chance.choice((size, size, size, -1, 'x', 3000000))}{noreply}\r\n{value}\r\n",
            lambda: f"cas {key} 0 0 {size} {number}{noreply}\r\n{value}\r\n",
            lambda: f"{chance.choice(('get', 'gets'))} {' '.join(chance.choices(self.keys, k=chance.choice((1, 2, 30, 300))))}\r\n",
            lambda: f"{chance.choice(('incr', 'decr'))} {key} {number}{noreply}\r\n",
            lambda: f"delete {key}{chance.choice(('', ' 0', ' 5'))}{noreply}\r\n",
            lambda: f"touch {key} {time_left}{noreply}\r\n",
            lambda: f"gat {time_left} {key} b\r\n",
            lambda: f"mg {key} {chance.choice(('v', 's v', 'k f s v q', 'O1 v k', 'N0 v', 'v v v', 'z'))}\r\n",
            lambda: f"ms {key} {chance.choice((size, size, -1, 'x'))} {chance.choice(('', 'F5', 'q', 'MA', 'MX', 'I'))}\r\n{value}\r\n",
            lambda: f"md {key} {chance.choice(('', 'q', 'C5', 'I T0'))}\r\n",
            lambda: f"ma {key} {chance.choice(('', 'v', 'D5 v', 'MD D1', 'N0 J3 v'))}\r\n",
            lambda: chance.choice(("mn\r\n", "verbosity 0\r\n", "version\r\n", "quit\r\n", "nothing\r\n", "\r\n", "get\r\n",
                                   "flush_all -1\r\n", "flush_all 0\r\n", "x" * 3000 + "\r\n", "cache_memlimit x\r\n"))))().encode("latin-1")

    @staticmethod
    def binary(chance):
        """A request of the binary protocol; some have sizes that are not those of what follows."""
        key, extras, value = b"k" * chance.choice((0, 1, 5, 250)), b"\0" * chance.choice((0, 4, 8, 20)), b"v" * chance.choice((0, 1, 900))
        opcode = chance.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 28, 29, 30, 36, 200))
        body = len(key) + len(extras) + len(value)
        body = chance.choice((body, body, body, body, 0, body + 1, 1 << 31))
        return (bytes((0x80, opcode)) + len(key).to_bytes(2, "big") + bytes((len(extras), 0, 0, 0)) + body.to_bytes(4, "big") +
                b"oooo" + bytes(8) + extras + key + value)

    def stream(self, chance):
        make = self.binary if chance.random() < 0.3 else self.text
        return b"".join(change(chance, make(chance)) for _ in range(chance.choice((1, 3, 10, 60))))

    def oversized(self):
        yield b"get " + b"a" * (1 << 20) + b"\r\n"
        yield b"g" * (1 << 20)
        yield b"set good 0 0 2000000\r\n" + b"v" * 2000000 + b"\r\nget good\r\n"
        yield b"set good 0 0 1000000\r\n" + b"v" * 1000000 + b"\r\n" + b"get good\r\n" * 20
        yield b"set good 0 0 4\r\ngood\r\nget " + b"good " * 30000 + b"\r\n"
        yield self.good * 20000
        yield b"\x80" * (1 << 20)

    @staticmethod
    def known(answers):
        return answers

    def served(self, address):
        answer = b"STORED\r\nVALUE good 0 4\r\ngood\r\nEND\r\n"
        client = connect(address)
        client.sendall(self.good)
        return client.recv(len(answer), socket.MSG_WAITALL) == answer

    def whole(self):
        return [self.good, b"set long 0 0 300\r\n" + b"v" * 300 + b"\r\nget long long\r\n", bytes((0x80, 11)) + bytes(22)]


class Crypt:
    """What cryptserve receives. Without the client's keys no request is valid, so these are only bytes."""

    size = 32 + 24 + 1024 + 17

    def stream(self, chance):
        return chance.randbytes(chance.choice((0, 1, self.size - 1, self.size, self.size + 1, 100000)))

    def oversized(self):
        yield bytes(1 << 20)

    @staticmethod
    def known(answers):
        return answers

    def served(self, address):
        path = address if isinstance(address, str) else str(address[1])
        answer = subprocess.run([self.get, self.public, path, "large"], stdout=subprocess.PIPE, timeout=LIMIT, check=True)
        return answer.stdout == LARGE

    def whole(self):
        return [bytes(range(256)) * 5]


class Target:
    """A server that listens by TCP, at self.tcp, and by a unix socket, at self.unix."""

    user = "nobody"

    def __init__(self, program, executor=None):
        self.program = program
        self.directory = tempfile.mkdtemp(dir="/tmp")
        os.chmod(self.directory, 0o777)
        self.unix = os.path.join(self.directory, "socket")
        self.tcp = ("127.0.0.1", free_port())
        self.environment = {**os.environ, **({"COSY_EXECUTOR": executor} if executor else {})}
        self.errors = os.path.join(self.directory, "errors")
        self.process = self.cgroup = None
        for name, contents in FILES.items():
            path = os.path.join(self.directory, "www", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(contents)
            os.utime(path, (TIME, TIME))

    def start(self, *command):
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([self.program, *command], env=self.environment, stdout=subprocess.DEVNULL,
                                            stderr=errors, preexec_fn=lambda: Site.enter_cgroup(self))
        for address in self.addresses():
            until(lambda: listens(address) or self.process.poll() is not None, "it listens")
        check(self.process.poll() is None, f"it runs: {self.complaints()[:1000]}")

    def addresses(self):
        return [self.unix, self.tcp]

    def server(self):
        """The process with the connections."""
        return self.process.pid

    def sleeps(self):
        """Return whether no thread of it runs."""
        states = []
        for task in os.listdir(f"/proc/{self.server()}/task"):
            with open(f"/proc/{self.server()}/task/{task}/stat") as stat:
                states.append(stat.read().rsplit(")", 1)[1].split()[0])
        return set(states) == {"S"}

    def sockets(self):
        """The descriptors of clients and of files. One of those may be closed meanwhile."""
        directory, count = f"/proc/{self.server()}/fd", 0
        for fd in os.listdir(directory):
            try:
                link = os.readlink(os.path.join(directory, fd))
            except FileNotFoundError:
                continue
            count += link.startswith(("socket:", os.path.join(self.directory, "www")))
        return count

    def complaints(self):
        """What it has said that it should not."""
        with open(self.errors, encoding="utf-8", errors="replace") as errors:
            return errors.read()

    def end_of_comparison(self):
        pass

    def end(self):
        self.process.terminate()
        check(self.process.wait(LIMIT) in (0, -signal.SIGTERM), f"it ends as it should: {self.process.returncode}")
        check(not self.complaints(), f"it does not complain: {self.complaints()[:1000]}")

    def remove(self):
        shutil.rmtree(self.directory)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(address):
    try:
        connect(address).close()
    except OSError:
        return False
    return True


class MemcachedTarget(Target, Memcached):
    """It listens at one kind of address only: first by a unix socket."""

    by_tcp = False

    def begin(self):
        user = ["-u", self.user] if os.geteuid() == 0 else []
        listen = ["-l", f"127.0.0.1:{self.tcp[1]}"] if self.by_tcp else ["-s", self.unix, "-a", "777"]
        self.start("-t", "1", "-m", "64", "-c", "1024", "-U", "0", *listen, *user)

    def addresses(self):
        return [self.tcp if self.by_tcp else self.unix]

    def complaints(self):
        # It does so of a client that has left.
        return super().complaints().replace("getpeername: Transport endpoint is not connected\n", "")

    def end_of_comparison(self):
        self.end()
        self.by_tcp = True
        self.begin()


class HttpdTarget(Target, Http):
    def begin(self):
        user = [f"--user={self.user}"] if os.geteuid() == 0 else []
        limits = [f"--{kind}-timeout={LIMIT}" for kind in ("header", "idle", "send")]
        self.start("--workers=1", "--no-chroot", f"--listen={self.unix}", f"--listen=127.0.0.1:{self.tcp[1]}", *user, *limits,
                   os.path.join(self.directory, "www"))

    def server(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            return int(children.read())


class NginxTarget(HttpdTarget):
    def begin(self):
        specification = importlib.util.spec_from_file_location("nginx", os.path.join(ROOT, "ports/nginx/test.py"))
        nginx = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(nginx)
        self.root = os.path.join(self.directory, "www")
        nginx.Nginx.configure(self, f"unix:{self.unix}", f"listen {self.tcp[1]};", self.user)
        self.start("-c", f"{self.directory}/nginx.conf", "-p", self.directory, "-e", f"{self.directory}/error.log", "-g",
                   "daemon off;")

    def complaints(self):
        with open(f"{self.directory}/error.log", encoding="utf-8", errors="replace") as log:
            return "".join(line for line in log if "[alert]" in line or "[emerg]" in line or "[crit]" in line)


class CryptTarget(Target, Crypt):
    def begin(self):
        key = os.path.join(self.directory, "key")
        if not os.path.exists(key):
            made = subprocess.run([self.program, "--make-key", key], check=True, stdout=subprocess.PIPE, text=True)
            self.public = made.stdout.strip()
        self.get = os.path.join(os.path.dirname(self.program), "cryptget")
        # It listens at one address only.
        self.tcp = self.unix
        self.start("--threads=2", key, self.unix, os.path.join(self.directory, "www"))


KINDS = {"memcached": MemcachedTarget, "nginx": NginxTarget, "httpd": HttpdTarget, "cryptserve": CryptTarget}


def differing(one, other):
    """The place where two answers begin to differ."""
    at = len(os.path.commonprefix((one, other)))
    return f"{len(one)} and {len(other)} bytes, at {at}:\n{one[max(at - 100, 0):at + 100]}\n{other[max(at - 100, 0):at + 100]}"


def check_same(targets, streams, seed):
    """Both servers give the same answers to the same bytes, however they are cut."""
    for number in range(streams):
        chance = random.Random(f"{seed} {number}")
        data = targets[0].stream(chance)
        pieces = cut(chance, data)
        answers = [target.known(exchange(target, pieces)) for target in targets]
        check(answers[0] == answers[1], f"stream {number} of seed {seed} has the same answers: {differing(*answers)}\n"
              f"{data[:3000]}")
    for number, data in enumerate(targets[0].oversized()):
        answers = [target.known(exchange(target, [data])) for target in targets]
        check(answers[0] == answers[1], f"oversized {number}: {differing(*answers)}")


def vanish(client, reset):
    if reset:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()


def check_vanishing(target):
    """Clients vanish at each byte of a request, and of an answer."""
    for request in target.whole():
        for size in range(len(request) + 1):
            for address in target.addresses():
                for reset in False, True:
                    client = connect(address)
                    client.sendall(request[:size])
                    vanish(client, reset)
        for received in 0, 1, 5000, 70000:
            for reset in False, True:
                client = connect(target.addresses()[-1])
                client.sendall(request * 50)
                client.settimeout(0.05)
                try:
                    client.recv(received, socket.MSG_WAITALL)
                except (TimeoutError, ConnectionResetError):
                    pass
                vanish(client, reset)
    check(target.served(target.addresses()[0]), "others are served")


def check_crowd(target, chance):
    """Thousands of clients come, send a part of a request, and vanish, in any order."""
    clients = []
    request = target.whole()[0]
    for number in range(3000):
        client = connect(target.addresses()[-1])
        try:
            client.sendall(request[:chance.randrange(len(request) + 1)] * chance.choice((1, 1, 5)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # What was sent is not a request.
        clients.append(client)
        if len(clients) >= 400:
            chance.shuffle(clients)
            while len(clients) > 100:
                vanish(clients.pop(), chance.random() < 0.5)
        if number % 500 == 0:
            check(target.served(target.addresses()[-1]), "others are served meanwhile")
    while clients:
        vanish(clients.pop(), chance.random() < 0.5)
    check(target.served(target.addresses()[-1]), "and after it")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("program")
    parser.add_argument("reference", nargs="?")
    options = parser.parse_args()
    kind = KINDS[options.kind]
    targets = [kind(options.program), kind(options.reference or options.program, None if options.reference else "native")]
    try:
        for target in targets:
            target.begin()
        check_same(targets, options.streams, options.seed)
        for target in targets:
            target.end_of_comparison()
            check(target.served(target.addresses()[0]), "it serves")
        target = targets[0]
        # The server may not have closed the last connection yet.
        before = min(target.sockets() for _ in range(20))
        check_vanishing(target)
        check_crowd(target, random.Random(options.seed))
        until(lambda: target.sockets() <= before, "no descriptor is left")
        for target in targets:
            check(target.served(target.addresses()[0]), "it serves at the end")
            target.end()
            target.remove()
    finally:
        for target in targets:
            if target.process and target.process.poll() is None:
                target.process.kill()
    print(f"attack: {options.kind} is as it should be")


if __name__ == "__main__":
    main()
