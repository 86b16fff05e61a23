#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: lines-clients.py SERVER

Starts a server of examples/lines with at most 12 descriptors, and is its clients. Six clients stay
connected, more than the server can accept; after they have closed, a new one is served.
"""

import resource
import signal
import socket
import subprocess
import sys

DESCRIPTORS = 12


def limit():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def connect(port):
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(300)
    return client


def receive(client, size):
    """Return size bytes, or fewer if the server ends the connection first."""
    data = b""
    while len(data) < size:
        part = client.recv(size - len(data))
        if not part:
            break
        data += part
    return data


def check(client, sent, expected):
    client.sendall(sent)
    answer = receive(client, len(expected))
    if answer != expected:
        sys.exit(f"the answer to {sent[:60]!r} is {answer[:60]!r}")


def check_ended(client):
    if client.recv(1) != b"":
        sys.exit("the server has not ended the connection")
    client.close()


def many(port):
    """More clients than descriptors."""
    clients = [connect(port) for _ in range(6)]
    for client in clients:
        client.sendall(b"hello\n")
    # The first is accepted.
    if receive(clients[0], 6) != b"olleh\n":
        sys.exit("the first client is not served")
    for client in clients:
        client.close()
    client = connect(port)
    check(client, b"again\n", b"niaga\n")
    client.close()


def one(port):
    client = connect(port)
    check(client, b"abc\n", b"cba\n")
    # A line in two parts, several lines at once, an empty line, the longest line.
    client.sendall(b"ab")
    check(client, b"c\ndef\n\n", b"cba\nfed\n\n")
    check(client, b"x" * 4094 + b"y\n", b"y" + b"x" * 4094 + b"\n")
    # What follows "quit" is not answered.
    check(client, b"end\nquit\nmore\n", b"dne\n")
    check_ended(client)

    # Too long a line.
    client = connect(port)
    client.sendall(b"x" * 4096)
    check_ended(client)

    # The client ends its data, and still gets the answer.
    client = connect(port)
    client.sendall(b"half\nno end")
    client.shutdown(socket.SHUT_WR)
    if receive(client, 5) != b"flah\n":
        sys.exit("no answer after the client has ended its data")
    check_ended(client)

    # It closes the connection before it has the answers. The server gets no SIGPIPE.
    client = connect(port)
    client.sendall(b"abc\n" * 1000)
    client.close()


def main():
    server = subprocess.Popen([sys.argv[1], "0"], stdout=subprocess.PIPE, text=True,
                              preexec_fn=limit)
    port = int(server.stdout.readline().split()[-1])
    many(port)
    one(port)
    # One that is connected when the server ends.
    client = connect(port)
    check(client, b"last\n", b"tsal\n")
    server.send_signal(signal.SIGTERM)
    print(server.stdout.read(), end="")
    if server.wait():
        sys.exit(f"the server has ended with {server.returncode}")


main()
