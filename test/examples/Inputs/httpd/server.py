# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Start examples/httpd, and speak HTTP with it byte by byte."""

import atexit
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

LIMIT = 600  # seconds, of what takes less than one unless the machine is busy


def check(condition, claim):
    if not condition:
        raise SystemExit(f"{os.path.basename(sys.argv[0])}: not so: {claim}")


def until(condition, claim):
    """Wait until `condition` is true."""
    end = time.monotonic() + LIMIT
    while not condition():
        check(time.monotonic() < end, claim)
        select.select([], [], [], 0.01)


class Answer:
    """A status, fields with names in lower case, and the body."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body


class Client:
    """A connection."""

    def __init__(self, address, receive_buffer=None):
        family = (socket.AF_UNIX if not isinstance(address, tuple) else
                  socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
        self.socket = socket.socket(family)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(LIMIT)
        self.socket.connect(address)
        self.data = b""

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))

    def more(self):
        """Receive; return False at the end."""
        got = self.socket.recv(1 << 20)
        self.data += got
        return got != b""

    def answer(self, head=False):
        """Receive one answer."""
        while b"\r\n\r\n" not in self.data:
            check(self.more(), f"an answer has a whole header: {self.data[:200]}")
        header, self.data = self.data.split(b"\r\n\r\n", 1)
        lines = header.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.1 (\d{3}) [A-Za-z ]+", lines[0])
        check(match, f"a status line: {lines[0]}")
        fields = dict((name.lower(), value) for name, value in
                      (line.split(": ", 1) for line in lines[1:]))
        check(len(fields) == len(lines) - 1, f"no field is repeated: {lines}")
        status = int(match[1])
        size = 0 if head or status == 304 else int(fields["content-length"])
        while len(self.data) < size:
            check(self.more(), f"a body is complete, {len(self.data)} of {size} bytes")
        body, self.data = self.data[:size], self.data[size:]
        return Answer(status, fields, body)

    def ended(self):
        """Return True once the server has ended the connection, False if it sends more."""
        try:
            return self.data == b"" and not self.more()
        except ConnectionResetError:
            return True

    def get(self, target, *fields, method="GET"):
        lines = [f"{method} {target} HTTP/1.1", "Host: x", *fields, "", ""]
        self.send("\r\n".join(lines))
        return self.answer(head=method == "HEAD")

    def close(self, reset=False):
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()


class Site:
    """
    A server: its process, whose number is self.pid, at self.address, and the files that it serves, below
    self.root.
    """

    def enter_cgroup(self):
        """Called in the new process: put it into self.cgroup, if that is not None."""
        if self.cgroup:
            with open(f"{self.cgroup}/cgroup.procs", "w") as processes:
                processes.write("0")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, contents):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(contents)
        # A file that has just changed has no Last-Modified.
        before = time.time() - 10
        os.utime(self.path(name), (before, before))

    def client(self, **options):
        return Client(self.address, **options)

    def get(self, target, *fields, **options):
        """Send one request over a connection of its own."""
        client = self.client()
        answer = client.get(target, *fields, **options)
        client.close()
        return answer

    def workers(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as children:
            return [int(child) for child in children.read().split()]

    def descriptors(self):
        """The number of descriptors of the worker."""
        return len(os.listdir(f"/proc/{self.workers()[0]}/fd"))


class Server(Site):
    """The program, with a directory of its own for its files."""

    def __init__(self, program):
        self.program = program
        self.directory = tempfile.mkdtemp()
        os.chmod(self.directory, 0o755)
        self.root = os.path.join(self.directory, "www")
        self.log = os.path.join(self.directory, "log")
        self.errors = os.path.join(self.directory, "errors")
        os.mkdir(self.root)
        self.process = self.cgroup = None

    def begin(self, setup):
        """Called in the new process."""
        self.enter_cgroup()
        if setup:
            setup()

    def start(self, *options, listen="127.0.0.1:0", setup=None):
        user = ["--user", "nobody"] if os.geteuid() == 0 else []
        # Only tests of these limits may reach them, on any machine.
        limits = [f"--{kind}-timeout={LIMIT}" for kind in ("header", "idle", "send")]
        command = [self.program, "--workers=1", f"--listen={listen}", f"--access-log={self.log}",
                   *user, *limits, *options, self.root]
        with open(self.errors, "ab") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors,
                                            preexec_fn=lambda: self.begin(setup), text=True,
                                            close_fds=False, start_new_session=True)
        self.pid = self.process.pid
        atexit.register(self.kill)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"listening on (.+)\n", line)
        check(match, f"it listens: {line}{self.messages()}")
        host, port = match[1].rsplit(":", 1) if ":" in match[1] else (match[1], None)
        self.address = (host.strip("[]"), int(port)) if port else host
        return self

    def messages(self):
        with open(self.errors) as errors:
            return errors.read()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.ended()

    def ended(self):
        check(self.process.wait(LIMIT) == 0, f"exit status 0: {self.messages()}")
        self.process.stdout.close()

    def kill(self):
        """End all processes that are left, for a test that has failed."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def remove(self):
        shutil.rmtree(self.directory)


