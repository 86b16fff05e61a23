#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server that is ended and started again while clients use it: no client gets a wrong answer, and nothing is left.

usage: end.py KIND PROGRAM [TIMES]

KIND is memcached, nginx, httpd or cryptserve. It is ended by SIGTERM, so clients may be disconnected. Restarts that
disconnect no client are in ports/nginx/test.py, and test/examples/Inputs/httpd/restart.py.
"""

import os
import random
import select
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from memory import KINDS, Client, check_serves, connect
from restart import KernelMemory
from server import until

CLIENTS = 20


def interrupt(target, chance):
    """
    End the server while clients send requests, and check what they have received. Return how many have all answers:
    those of whom the server had everything before it saw the signal.
    """
    clients = []
    for number in range(CLIENTS):
        connected = connect(target.addresses()[-1])
        if connected:
            clients.append(Client(connected, *target.demand(number, chance)))
    last = chance.randrange(len(clients))
    for number, client in enumerate(clients):
        if number == last:
            target.process.terminate()
        client.step()

    def disconnected():
        going = [client for client in clients if not client.ended]
        select.select([client.socket for client in going], [], [], 0.01)
        for client in going:
            client.step()
        return not going
    until(disconnected, "the server's end disconnects all clients")
    target.end()
    for client in clients:
        target.judge(client)
        client.socket.close()
    return sum(target.complete(client) for client in clients)


def main():
    kind, program = sys.argv[1:3]
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    target, chance, complete = KINDS[kind](program), random.Random(1), 0
    memory = KernelMemory(target)
    try:
        target.begin()
        check_serves(target)
        target.learn()
        for _ in range(times):
            complete += interrupt(target, chance)
            target.begin()
            check_serves(target)
        target.end()
        target.remove()
    finally:
        if target.process and target.process.poll() is None:
            target.process.kill()
    print(f"{complete} of {times * CLIENTS} clients have all answers")
    memory.check_leaks(times + 1)
    print(f"end: {kind} is as it should be")


if __name__ == "__main__":
    main()
