#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server whose memory is used up: it refuses clients, gives no wrong answer, and serves again once there is memory.

usage: memory.py KIND PROGRAM

KIND is memcached, nginx, httpd or cryptserve. Its address space is limited (RLIMIT_AS), so that its allocations fail.
With the module, as root, also the memory of its cgroup: the kernel ends the process that has the connections, or several.
Then the module keeps no memory of them.
"""

import argparse
import contextlib
import errno
import os
import pwd
import random
import re
import resource
import select
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import attack
from limits import cpu_time
from restart import KernelMemory
from server import check, until

CLIENTS = 600


class Client:
    """Sends requests, and keeps what it receives."""

    def __init__(self, connected, request, expected):
        self.received, self.ended, self.request = b"", False, request
        self.socket, self.expected = connected, expected

    def step(self):
        """Send and receive what is possible."""
        try:
            if self.request:
                self.request = self.request[self.socket.send(self.request):]
        except BlockingIOError:
            pass
        except OSError:
            self.request = b""
        try:
            got = self.socket.recv(1 << 16)
            self.received += got
            self.ended = not got
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True


def connect(address):
    """Return a connected socket that does not block, or None: the server has no room for more."""
    client = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX)
    # By TCP, the client's kernel tries for a while; a unix socket with a full queue refuses at once.
    client.setblocking(False)
    if client.connect_ex(address) in (0, errno.EINPROGRESS):
        return client
    client.close()
    return None


def check_rests(target):
    """A server that cannot go on does not try again and again: it waits."""
    def rests():
        before = time.monotonic(), cpu_time(target.server())
        time.sleep(0.2)
        return cpu_time(target.server()) - before[1] < (time.monotonic() - before[0]) / 4
    until(rests, "it does not use the processor")


def crowd(target, seconds):
    """
    Many clients that do not leave send requests, some of which need much memory. Check what they receive, until each has
    its answers or is disconnected, or the time is over: a server without memory may let clients wait.
    """
    chance, clients = random.Random(1), []
    for number in range(CLIENTS):
        request, expected = target.demand(number, chance)
        connected = connect(target.addresses()[-1])
        if connected:
            clients.append(Client(connected, request, expected))
            clients[-1].step()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not all(client.ended or target.complete(client) for client in clients):
        select.select([client.socket for client in clients if not client.ended], [], [], 0.05)
        for client in clients:
            if not client.ended:
                client.step()
    if not target.cgroup:
        check_rests(target)
    for client in clients:
        target.judge(client)
        client.socket.close()
    return sum(target.complete(client) for client in clients)


class HttpDemand:
    """Requests whose answers are files."""

    def learn(self):
        def answer(name):
            pieces = [b"GET /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % name]
            return self.known(attack.exchange(self, pieces)).replace(b"\r\nConnection: close", b"")
        self.answers = {name: answer(name) for name in (b"small.bin", b"edge", b"over")}

    def demand(self, number, chance):
        name = chance.choice((b"small.bin", b"edge", b"over"))
        fields = b"X: " + b"y" * chance.choice((0, 1000, 3000)) + b"\r\n"
        request = b"GET /" + name + b" HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n"
        return request * 3, self.answers[name]

    def answered(self, client):
        """The number of whole answers, and what follows them."""
        received = self.known(client.received).replace(b"\r\nConnection: keep-alive", b"")
        count = 0
        while received.startswith(client.expected):
            received = received[len(client.expected):]
            count += 1
        return count, received

    def complete(self, client):
        return len(client.received) >= 3 * len(client.expected) and self.answered(client)[0] == 3

    def judge(self, client):
        _, rest = self.answered(client)
        check(client.expected.startswith(rest) or re.match(rb"HTTP/1\.1 5\d\d ", rest) or
              client.expected.startswith(rest.replace(b"\r\nConnection: close", b"")), f"an answer, or a part of it: {rest[:300]}")


class MemcachedDemand:
    """Values that are stored, or not, and are what was stored, or missing."""

    def learn(self):
        pass

    def demand(self, number, chance):
        value = b"%d" % number * chance.choice((10, 20000, 100000))
        request = b"set key%d 0 0 %d\r\n%s\r\n" % (number, len(value), value) + b"get key%d\r\n" % number * 2
        return request, b"VALUE key%d 0 %d\r\n%s\r\nEND\r\n" % (number, len(value), value)

    @staticmethod
    def complete(client):
        return client.received == b"STORED\r\n" + 2 * client.expected

    @staticmethod
    def judge(client):
        rest = re.sub(rb"^(?:STORED|SERVER_ERROR [^\r]*)\r\n", b"", client.received)
        for _ in range(2):
            for whole in client.expected, b"END\r\n":
                if rest.startswith(whole):
                    rest = rest[len(whole):]
                    break
        check(rest.startswith(b"SERVER_ERROR") or
              any(whole.startswith(rest) for whole in (client.expected, b"STORED\r\n", b"SERVER_ERROR", b"END\r\n")),
              f"the value, or none: {rest[:300]}")


class CryptDemand:
    """Half a request, of each of which the server keeps 70 KiB."""

    def learn(self):
        pass

    def demand(self, number, chance):
        return bytes(100), b""

    @staticmethod
    def complete(client):
        return not client.request

    @staticmethod
    def judge(client):
        check(not client.received, "nothing is received")


# Limits of a process of the same user may be changed.
attack.Target.user = pwd.getpwuid(os.geteuid()).pw_name


class MemcachedMemory(MemcachedDemand, attack.MemcachedTarget):
    by_tcp = True

    def complaints(self):
        return super().complaints().replace("Failed to allocate connection object\n", "")


class HttpdMemory(HttpDemand, attack.HttpdTarget):
    def complaints(self):
        return re.sub(r".*: worker \d+ was ended by signal 9\n", "", super().complaints())


class NginxMemory(HttpDemand, attack.NginxTarget):
    def complaints(self):
        # Of failed allocations, and of what was ended for want of memory.
        wrong = super().complaints().splitlines()
        return "\n".join(line for line in wrong if not re.search(r"Cannot allocate memory|exited on signal 9", line))


class CryptMemory(CryptDemand, attack.CryptTarget):
    pass


KINDS = {"memcached": MemcachedMemory, "nginx": NginxMemory, "httpd": HttpdMemory, "cryptserve": CryptMemory}


def check_serves(target):
    """It serves as before: clients of the crowd may be the ones that it first has to close."""
    def serves():
        check(target.process.poll() is None, f"it has not ended: {target.process.returncode} {target.complaints()[:500]}")
        try:
            return target.served(target.addresses()[-1])
        except OSError:
            return False
    until(serves, "it serves again")


def check_address_space(target):
    """Allocations of the process with the connections fail. It goes on."""
    pid = target.server()
    with open(f"/proc/{pid}/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    for more in 64 << 10, 1 << 20, 8 << 20:
        resource.prlimit(pid, resource.RLIMIT_AS, (size + more, resource.RLIM_INFINITY))
        complete = crowd(target, 10)
        print(f"{more >> 10} KiB more: {complete} of {CLIENTS} clients have all answers")
        resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        check_serves(target)
        check(target.server() == pid, "the process is the same")


def check_cgroup(target):
    """
    The kernel has no memory for its sockets, buffers and loops, and ends a process. nginx and httpd replace it; others
    are started again.
    """
    memory = KernelMemory(target)
    if not memory.cgroup:
        return
    target.begin()
    check_serves(target)
    for more in 1 << 20, 4 << 20:
        write(f"{memory.cgroup}/memory.max", int(memory.read("memory.current")) + more)
        complete = crowd(target, 10)
        write(f"{memory.cgroup}/memory.max", "max")
        events = dict(line.split() for line in memory.read("memory.events").splitlines())
        print(f"cgroup, {more >> 10} KiB more: {complete} of {CLIENTS} clients have all answers, "
              f"{events['oom_kill']} processes were ended")
        if target.process.poll() is not None:
            check(target.process.returncode == -signal.SIGKILL, f"only the kernel ends it: {target.process.returncode}")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target.unix)
            target.begin()
        check_serves(target)
    target.end()
    memory.check_leaks(2)


def write(name, text):
    with open(name, "w") as file:
        file.write(str(text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("program")
    options = parser.parse_args()
    target = KINDS[options.kind](options.program)
    try:
        target.begin()
        # It may listen before it has all that it needs.
        check_serves(target)
        target.learn()
        before = min(target.sockets() for _ in range(20))
        check_address_space(target)
        until(lambda: target.sockets() <= before, "no descriptor is left")
        target.end()
        check_cgroup(target)
        target.remove()
    finally:
        if target.process and target.process.poll() is None:
            target.process.kill()
    print(f"memory: {options.kind} is as it should be")


if __name__ == "__main__":
    main()
