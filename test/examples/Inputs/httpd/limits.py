#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The limits of examples/httpd: slow clients, many clients, clients that vanish, no descriptors.

usage: limits.py HTTPD [PART...]
"""

import os
import resource
import signal
import sys
import threading
import time

from server import Server, check, until

LARGE = bytes(range(251)) * 40000
MEDIUM = bytes(range(250)) * 8


def check_times(server):
    """Clients that wait are disconnected after a second or two, and others are served meanwhile."""
    server.start("--header-timeout=1", "--idle-timeout=1", "--send-timeout=1")
    server.get("/small")
    silent, half = server.client(), server.client()
    half.send("GET /small HTTP/1.1\r\nHo")
    idle = served(server, "/small")
    slow = served(server, "/large", receive_buffer=4096)
    check(silent.ended(), "a connection without a request is closed")
    check(half.answer().status == 408 and half.ended(), "half a request is answered with 408")
    check(idle.ended(), "an idle connection is closed")
    # The client takes less than the file and then nothing.
    until(lambda: f'"GET /large HTTP/1.1" 200 ' in read(server.log), "a slow client is disconnected")
    slow.close()
    check(f'200 {len(LARGE)} ' not in read(server.log), "it has not got everything")
    server.stop()


def served(server, target, **options):
    """Return a client that has received the beginning of an answer with status 200.

    On a busy machine, more than a second may pass before a new client sends its request.
    """
    while True:
        client = server.client(**options)
        try:
            client.send(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")
            if client.more() and client.data.startswith(b"HTTP/1.1 200 "):
                break
        except ConnectionError:
            pass
        client.close()
    if target == "/small":
        check(client.answer().body == b"small", "it is served before it is idle")
    return client


def read(name):
    with open(name) as file:
        return file.read()


def check_drip(server):
    """A client that sends a byte now and then does not keep a connection for ever."""
    server.start("--header-timeout=1")
    client = server.client()
    client.socket.settimeout(0.2)
    for _ in range(100):
        client.send("G" if not client.data else "")
        try:
            if not client.more() or b"408" in client.data or b"400" in client.data:
                break
        except TimeoutError:
            pass
    check(client.data, "a slow header is answered with an error")
    server.stop()


def check_connections(server):
    """Connections beyond the limit wait until others end."""
    server.start("--connections=8", "--requests=3")
    clients = [server.client() for _ in range(40)]
    for client in clients:
        client.send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
    for client in clients[:8]:
        check(client.answer().body == b"small" and client.answer().body == b"small",
              "the first are served")
    check(server.descriptors() < 8 + 8 + 16, "others are not connections yet")
    for client in clients[:8]:
        check(client.get("/small").fields["connection"] == "close", "the third is the last one")
        check(client.ended(), "and the connection ends")
    for client in clients[8:]:
        check(client.answer().body == b"small", "the others are served then")
        client.close()
    server.stop()


def check_last_answers(server):
    """The answers before the end of a connection arrive, although the client has sent more than is answered."""
    good, odd = "GET /medium HTTP/1.1\r\nHost: x\r\n\r\n", "GET /medium HTTP/1.1\r\n\r\n"
    for options, requests, statuses in [
        (["--requests=10"], good * 200, [200] * 10),
        ([], good * 9 + odd + good * 200, [200] * 9 + [400]),
        ([], good * 9 + "x" + good * 200, [200] * 9 + [400]),
    ]:
        lines = read(server.log).count("\n") if os.path.exists(server.log) else 0
        server.start(*options)
        # The answers wait in the server's kernel, and a reset would remove them.
        client = server.client(receive_buffer=4096)
        client.send(requests)
        until(lambda: read(server.log).count("\n") == lines + 10, "ten answers are sent")
        until(lambda: idle(server), "the server has closed the connection")
        for i, status in enumerate(statuses):
            answer = client.answer()
            check(answer.status == status, f"answer {i}: {status}, but {answer.status}")
            check(status != 200 or answer.body == MEDIUM, f"answer {i} is whole")
        check(answer.fields["connection"] == "close" and client.ended(), "the tenth is the last one")
        client.close()
        server.stop()


def check_rate(server):
    server.start("--rate=5")
    client = server.client()
    start, statuses = int(time.monotonic()), []
    while 429 not in statuses:
        # At once, so that they belong to a second on most machines.
        client.send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n" * 12)
        statuses += [client.answer().status for _ in range(12)]
        # The server counts whole seconds, and the five of the first second may be saved.
        seconds = int(time.monotonic()) - start + 1
        check(statuses.count(200) <= 5 + 5 * seconds, f"five a second: {statuses} in {seconds} s")
    check(statuses[:5] == [200] * 5, f"the first five requests are served: {statuses}")
    until(lambda: client.get("/small").status == 200, "later ones are")
    check(server.client().get("/small").status in (200, 429), "it counts for all connections")
    server.stop()


def check_buffers(server):
    """The server has 128 buffers of 2 KiB to receive into; no client keeps one."""
    server.start()
    worker = server.workers()[0]
    request = "GET /small HTTP/1.1\r\nHost: x\r\n\r\n"
    clients = [server.client() for _ in range(300)]
    for client in clients:
        check(client.get("/small").body == b"small", "each has a connection")
    os.kill(worker, signal.SIGSTOP)
    for i, client in enumerate(clients):
        client.send(request * (60 if i < 10 else 1))
    os.kill(worker, signal.SIGCONT)
    for i, client in enumerate(clients):
        for _ in range(60 if i < 10 else 1):
            check(client.answer().body == b"small", "all that were sent at once are answered")
    for client in clients:
        client.send(request[:-3])
    check(server.get("/small").body == b"small", "others are served while 300 requests are not complete")
    for client in clients:
        client.send(request[-3:])
    for client in clients:
        check(client.answer().body == b"small", "they are answered once they are")
    server.stop()


def check_stopped(server):
    """A worker that does nothing, as in a call that does not return, has no new connections."""
    server.start("--workers=2")
    until(lambda: len(server.workers()) == 2, "two workers run")
    clients = [server.client() for _ in range(40)]
    for client in clients:
        check(client.get("/small").body == b"small", "all are served")
    for worker in server.workers():
        os.kill(worker, signal.SIGSTOP)
        for _ in range(40):
            check(server.get("/small").body == b"small", "the other worker serves new connections")
        os.kill(worker, signal.SIGCONT)
    for client in clients:
        check(client.get("/small").body == b"small", "a worker that goes on serves its own")
    server.stop()


def check_stuck(server):
    """A worker whose callback does not return is reported, with the request: its log is not read here."""
    fifo = os.path.join(server.directory, "fifo")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    server.start(f"--access-log={fifo}")
    client = server.client()
    client.send(f"GET /small HTTP/1.1\r\nHost: x\r\nReferer: {1000 * chr(34)}\r\n\r\n" * 100)
    name = f'worker {server.workers()[0]} is stuck: 127.0.0.1 "GET /small HTTP/1.1"\n'
    until(lambda: server.messages() == name, "the callback is named")
    os.set_blocking(reader, True)
    threading.Thread(target=lambda: all(iter(lambda: os.read(reader, 65536), b"")), daemon=True).start()
    for _ in range(100):
        check(client.answer().body == b"small", "the worker goes on")
    server.stop()
    check(server.messages() == name, "it is reported once")
    os.truncate(server.errors, 0)


def check_descriptors(server):
    """Without descriptors the server waits; it does not spin, and it serves again."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))

    server.start(setup=limit)
    worker = server.workers()[0]
    clients = [server.client() for _ in range(40)]
    served = 0
    clients[0].send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
    check(clients[0].answer().status in (200, 503), "the first one gets an answer")
    until(lambda: server.descriptors() >= 24, "all descriptors are used")
    before = os.times().elapsed, cpu_time(worker)
    until(lambda: os.times().elapsed - before[0] > 0.5, "time passes")
    check(cpu_time(worker) - before[1] < 0.25, "it does not use the processor meanwhile")
    for client in clients[:20]:
        client.close()
    for client in clients[20:]:
        answer = client.get("/small")
        served += answer.status == 200
        client.close()
    check(served > 0, "requests are served again")
    check(server.get("/small").status == 200, "and all are, once there are descriptors")
    server.stop()


def cpu_time(pid):
    fields = read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_vanishing(server):
    """Clients that vanish at any byte leave nothing."""
    server.start()
    server.get("/small")
    until(lambda: idle(server), "no connection is left")
    before = server.descriptors()
    request = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
    for size in range(0, len(request) + 1):
        for reset in False, True:
            client = server.client()
            client.send(request[:size])
            client.close(reset)
    for received in 0, 1, 300, 70000, 3000000:
        for reset in False, True:
            client = server.client()
            client.send(request)
            while len(client.data) < received:
                client.more()
            client.close(reset)
    check(server.get("/large").body == LARGE, "the others are served")
    until(lambda: idle(server) and server.descriptors() == before, "no descriptor is left")
    check(not server.messages(), f"no messages: {server.messages()}")
    server.stop()


def idle(server):
    """Return whether the listening socket is the only socket of the worker."""
    directory = f"/proc/{server.workers()[0]}/fd"
    sockets = 0
    for fd in os.listdir(directory):
        try:
            sockets += os.readlink(os.path.join(directory, fd)).startswith("socket:")
        except FileNotFoundError:
            pass  # The worker has closed it meanwhile.
    return sockets == 1


def check_files(server):
    """Files that change while they are sent."""
    server.start()
    server.write("changing", LARGE)
    client = server.client(receive_buffer=4096)
    client.send("GET /changing HTTP/1.1\r\nHost: x\r\n\r\n")
    client.more()
    os.truncate(server.path("changing"), 100)
    total = len(client.data)
    client.data = b""
    while client.more():
        total += len(client.data)
        client.data = b""
    check(total < len(LARGE), "the connection ends where the file does")
    client = server.client()
    client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    client.more()
    os.unlink(server.path("large"))
    check(client.answer().body == LARGE, "a file that is removed is sent to its end")
    server.stop()


def main():
    server = Server(sys.argv[1])
    server.write("small", b"small")
    server.write("medium", MEDIUM)
    server.write("large", LARGE)
    for part in (check_times, check_drip, check_connections, check_last_answers, check_rate, check_buffers, check_stopped,
                 check_stuck, check_descriptors, check_vanishing, check_files):
        if not sys.argv[2:] or part.__name__[6:] in sys.argv[2:]:
            part(server)
    server.remove()
    print("limits: as they should be")


if __name__ == "__main__":
    main()
