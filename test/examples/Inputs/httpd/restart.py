#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reload, restart and end examples/httpd while clients send requests.

usage: restart.py HTTPD [TIMES]
"""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading

from server import LIMIT, Client, Server, check, until

LARGE = bytes(range(251)) * 20000


class Load(threading.Thread):
    """A client with a new connection for every second request; counts what gets no answer.

    A server may close a connection that is idle, also at the moment at which the next request is
    sent (RFC 9112, 9.5). Then the client sends it again, over a new connection.
    """

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.going, self.answers, self.failed = address, True, 0, []

    def request(self, client):
        answer = client.get("/small")
        if answer.body != b"small":
            self.failed.append(answer.status)
        self.answers += 1
        return answer.fields.get("connection") != "close"

    def run(self):
        while self.going:
            try:
                client = Client(self.address)
                kept = self.request(client)
            except (OSError, SystemExit) as error:
                self.failed.append(repr(error))
                continue
            try:
                if kept:
                    self.request(client)
            except (OSError, SystemExit) as error:
                if client.data:
                    self.failed.append(repr(error))
            client.close()

    def finish(self):
        self.going = False
        self.join()
        check(self.answers, "clients are served")
        check(not self.failed, f"each request has an answer: {self.failed[:5]}")


def status(pid):
    """The fields of /proc/PID/stat from the state on, or None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields if fields[0] != "Z" else None


def alive(pid):
    """Return True if the process has not ended. It may be a child of another one."""
    return status(pid) is not None


def masters(server):
    """The processes of the server whose parents are not of it."""
    found = {int(name): status(name) for name in os.listdir("/proc") if name.isdigit()}
    group = {pid: int(fields[1]) for pid, fields in found.items()
             if fields and int(fields[2]) == server.process.pid}
    return [pid for pid, parent in group.items() if parent not in group]


def leaks(pid):
    """What a process would have more of if it were lost each time: descriptors, variables, and memory in KiB."""
    with open(f"/proc/{pid}/environ") as environment, open(f"/proc/{pid}/status") as text:
        variables = environment.read().count("\0")
        memory = int(re.search(r"RssAnon:\s+(\d+)", text.read())[1])
    return len(os.listdir(f"/proc/{pid}/fd")), variables, memory


def check_leaks(before, pid):
    after = leaks(pid)
    check(after[:2] == before[:2] and after[2] <= before[2] + 256, f"nothing leaks: {before}, and then {after}")


def check_reload(server, times):
    server.start()
    pid = server.process.pid
    load = [Load(server.address) for _ in range(2)]
    for thread in load:
        thread.start()
    for i in range(times):
        old = server.workers()
        os.rename(server.log, server.log + ".old")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: not any(alive(pid) for pid in old), "the old workers end")
        until(lambda: len(server.workers()) == 1, "one new worker runs")
        check(os.path.exists(server.log), "there is a new log")
        if i == 0:
            before = leaks(pid)
    check_leaks(before, pid)
    # The directory may be another one: deployments exchange symbolic links.
    os.rename(server.root, server.root + ".old")
    os.mkdir(server.root)
    server.write("small", b"small")
    server.write("new", b"new")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: server.get("/new").status == 200, "the new directory is served")
    for thread in load:
        thread.finish()
    # A reload that fails changes nothing.
    until(lambda: len(server.workers()) == 1, "the old worker has ended")
    worker = server.workers()
    os.rename(server.root, server.root + ".gone")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: "cannot open" in server.messages(), "it says what is missing")
    check(server.workers() == worker and server.get("/new").body == b"new", "the worker goes on")
    os.rename(server.root + ".gone", server.root)
    os.kill(worker[0], signal.SIGKILL)
    until(lambda: server.workers() not in ([], worker), "a worker that was killed is replaced")
    check("was ended by signal 9" in server.messages(), "and reported")
    check(server.get("/new").body == b"new", "the new worker serves")
    server.stop()


def check_upgrade(server, times):
    """A program of the same name takes over, by TCP and by a unix socket."""
    for listen in "127.0.0.1:0", os.path.join(server.directory, "socket"):
        server.start(listen=listen)
        load = Load(server.address)
        load.start()
        master = server.process.pid
        for i in range(times):
            os.kill(master, signal.SIGUSR2)
            until(lambda: not alive(master), "the old server ends")
            until(lambda: len(masters(server)) == 1, "there is one new server")
            master = masters(server)[0]
            if i == 0:
                before = leaks(master)
        check_leaks(before, master)
        load.finish()
        server.ended()
        check(server.get("/small").body == b"small", "the new server serves")
        os.kill(master, signal.SIGTERM)
        until(lambda: not alive(master), "it ends")
        check(not listen.startswith("/") or not os.path.exists(listen), "the path is removed")


def check_end(server):
    """Requests that run are completed, and idle connections closed."""
    server.write("large", LARGE)
    server.start("--drain-timeout=600")
    slow, idle, fresh = server.client(receive_buffer=4096), server.client(), server.client()
    slow.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    slow.more()
    idle.get("/small")
    fresh.send("GET /small HTTP/1.1\r\nHost: x")
    server.process.send_signal(signal.SIGTERM)
    check(idle.ended(), "an idle connection is closed")
    fresh.send("\r\n\r\n")
    answer = fresh.answer()
    check(answer.body == b"small" and answer.fields["connection"] == "close",
          "a request that has begun is answered")
    check(slow.answer().body == LARGE, "a file that is being sent is sent to its end")
    server.ended()
    # With a limit, and by a second signal.
    for options, signals in (["--drain-timeout=1"], 1), (["--drain-timeout=999"], 2):
        server.start(*options)
        slow = server.client(receive_buffer=4096)
        slow.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        slow.more()
        server.process.send_signal(signal.SIGTERM)
        if signals == 2:
            until(lambda: refused(server.address), "it does not accept")
            server.process.send_signal(signal.SIGTERM)
        server.ended()


def check_end_without_connections(server):
    """A worker ends although its last accepts fail after the signal."""
    # Limits of a process of the same user may be changed.
    server.start(*(["--user=root"] if os.geteuid() == 0 else []))
    worker = server.workers()[0]
    limits = resource.prlimit(worker, resource.RLIMIT_NOFILE)
    os.kill(worker, signal.SIGSTOP)
    # It learns of both at once, and has no descriptor for the client.
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (0, limits[1]))
    os.kill(worker, signal.SIGTERM)
    client = server.client()
    os.kill(worker, signal.SIGCONT)
    until(lambda: not alive(worker), "the worker ends")
    check(client.get("/small").body == b"small", "the next one serves the client")
    client.close()
    server.stop()


# A worker calls prctl() before it serves. While the file exists, the call does not return.
STUCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	while (!access(getenv("STUCK"), F_OK))
		usleep(10000);
	return ((int (*)(int, ...))dlsym(RTLD_NEXT, "prctl"))(option, a, b, c, d);
}
"""


def check_stuck(server):
    """Workers that do not come up are ended, and the old one goes on. So does one that cannot be replaced."""
    library, stuck = (os.path.join(server.directory, name) for name in ("stuck.so", "stuck"))
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=STUCK, text=True, check=True)
    server.start("--start-timeout=1", setup=lambda: os.environ.update(LD_PRELOAD=library, STUCK=stuck))
    old = server.workers()
    with open(stuck, "w"):
        pass
    server.process.send_signal(signal.SIGHUP)
    until(lambda: "the new workers do not serve" in server.messages(), "it does not wait without limit")
    until(lambda: server.workers() == old, "the worker that is stuck is ended")
    check(server.get("/small").body == b"small", "the old one goes on")
    os.kill(old[0], signal.SIGKILL)
    until(lambda: server.messages().count("was ended by signal 9") > 1, "a successor that is stuck is ended, too")
    os.remove(stuck)
    check(server.get("/small").body == b"small", "the next successor serves")
    server.stop()
    # A FIFO that is not read is no log, and the server does not wait for its reader.
    os.remove(server.log)
    os.mkfifo(server.log)
    user = ["--user", "nobody"] if os.geteuid() == 0 else []
    command = [server.program, "--listen=127.0.0.1:0", f"--access-log={server.log}", *user, server.root]
    failed = subprocess.run(command, capture_output=True, timeout=LIMIT, text=True)
    check(failed.returncode == 1 and "cannot open" in failed.stderr, f"a log that is not read: {failed.stderr}")
    os.remove(server.log)


def refused(address):
    """Whether the worker has seen the signal shows only in that it accepts nothing more."""
    client = socket.create_connection(address)
    client.settimeout(0.1)
    client.sendall(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
    try:
        return client.recv(100) == b""
    except (TimeoutError, ConnectionResetError):
        return True
    finally:
        client.close()


class KernelMemory:
    """What the kernel and the module keep of the servers of a cgroup. What else runs does not matter."""

    # Each CPU takes memory for its cgroup in advance. A worker's loop shares about a MiB with the module.
    MOST = 1 << 20

    def __init__(self, server):
        self.cgroup = None
        if not os.path.exists("/sys/module/cosy") or os.geteuid() != 0:
            return
        with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as control:
            control.write("+memory")
        self.cgroup = server.cgroup = f"/sys/fs/cgroup/restart.{os.getpid()}"
        os.mkdir(self.cgroup)

    def read(self, name):
        with open(f"{self.cgroup}/{name}") as text:
            return text.read()

    def kept(self):
        """Bytes without those of files on disks, which stay in the page cache."""
        sizes = dict(re.findall(r"^(\w+) (\d+)", self.read("memory.stat"), re.M))
        return int(self.read("memory.current")) - int(sizes["file"]) + int(sizes["shmem"])

    def check_leaks(self, servers):
        if not self.cgroup:
            return
        check(int(self.read("memory.peak")) > self.MOST, "the servers were in the cgroup")
        until(lambda: "populated 0" in self.read("cgroup.events"), "all servers have ended")
        until(lambda: self.kept() < self.MOST, "the kernel's memory does not leak")
        print(f"{self.kept() >> 10} KiB are kept after {servers} servers")
        os.rmdir(self.cgroup)


def main():
    server = Server(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    server.write("small", b"small")
    memory = KernelMemory(server)
    check_reload(server, times)
    check_upgrade(server, times)
    check_end(server)
    check_end_without_connections(server)
    check_stuck(server)
    server.remove()
    memory.check_leaks(3 * times)
    print("restart: as it should be")


if __name__ == "__main__":
    main()
