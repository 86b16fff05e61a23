#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: lines-entries.py SERVER LIBRARY

Connects more clients at once with a server of examples/lines than its loop has entries, by the library of
few-entries.c. Each is answered, or its connection ends. After they have closed, a new one is served.
"""

import os
import socket
import subprocess
import sys

CLIENTS = 200


def connect(port):
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(300)
    client.sendall(b"abc\n")
    return client


def answer(client):
    """The four bytes of an answer, or fewer if the connection ends."""
    data = b""
    try:
        while len(data) < 4 and (part := client.recv(4 - len(data))):
            data += part
    except ConnectionResetError:
        pass
    return data


def main():
    server = subprocess.Popen([sys.argv[1], "0"], stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, LD_PRELOAD=os.path.abspath(sys.argv[2])))
    port = int(server.stdout.readline().split()[-1])
    clients = [connect(port) for _ in range(CLIENTS)]
    answers = [answer(client) for client in clients]
    if answers[0] != b"cba\n" or b"" not in answers:
        sys.exit(f"some are served, and not all: {answers}")
    for client in clients:
        client.close()
    # The server may not have seen yet that they have.
    for _ in range(CLIENTS):
        client = connect(port)
        if answer(client) == b"cba\n":
            break
        client.close()
    else:
        sys.exit("no later client is served")
    client.close()
    server.terminate()
    print(server.stdout.read(), end="")
    if server.wait():
        sys.exit(f"the server has ended with {server.returncode}")


main()
