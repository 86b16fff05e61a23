#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/httpd with three times as many clients as it can serve.

usage: overload.py HTTPD LOAD SECONDS

LOAD is the program of load.c. Two servers have one per cent of a processor each, so that the clients have
enough. One is overloaded, and at the same time as many clients as it can serve come to the other one. So what else
the machine does concerns both. Run this as root in a VM that counts instructions.
"""

import os
import subprocess
import sys

from server import Server, check

CGROUP = "/sys/fs/cgroup/httpd"
FEW = (32, 0)  # Clients that come when others have been answered: the server's capacity.


def limit(name, pids):
    """Let processes have one per cent of a processor."""
    for directory in os.path.dirname(CGROUP), CGROUP:
        os.makedirs(directory, exist_ok=True)
        with open(f"{directory}/cgroup.subtree_control", "w") as control:
            control.write("+cpu")
    os.mkdir(f"{CGROUP}/{name}")
    with open(f"{CGROUP}/{name}/cpu.max", "w") as file:
        file.write("1000 100000")
    for pid in pids:
        with open(f"{CGROUP}/{name}/cgroup.procs", "w") as file:
            file.write(str(pid))


class Limited(Server):
    def __init__(self, name):
        super().__init__(sys.argv[1])
        self.name = name
        self.write("small", b"small")
        self.start()
        limit(name, self.workers())

    def lines(self):
        with open(self.log) as log:
            return sum(1 for _ in log)


def load(seconds, *pairs):
    """Let clients come to servers, and return how many of them each one has answered in a second."""
    running, answered = [], []
    for server, (clients, rate) in pairs:
        command = [sys.argv[2], str(server.address[1]), str(seconds), str(clients), str(rate)]
        running.append((server, server.lines(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
    for server, before, process in running:
        text = process.communicate()[0]
        check(process.returncode == 0, "all answers are right")
        numbers = [int(number) / seconds for number in text.split()]
        print(f"{server.name}: of {numbers[0]:.0f} clients in a second {numbers[1]:.0f} were answered, {numbers[2]:.0f} "
              f"refused, and {numbers[3]:.0f} gave up; {(server.lines() - before) / seconds:.0f} in the log", flush=True)
        answered.append(numbers[1])
    return answered


def main():
    seconds = int(sys.argv[3])
    overloaded, other = Limited("overloaded"), Limited("other")
    load(3, (overloaded, FEW), (other, FEW))
    capacity = load(10, (overloaded, FEW), (other, FEW))
    check(capacity[0] >= 10, "there is a capacity")
    meanwhile = load(seconds, (overloaded, (round(18 * capacity[0]), round(3 * capacity[0]))), (other, FEW))
    # 88 % in a minute with the module; without shedding, less than a half.
    check(meanwhile[0] >= 0.8 * meanwhile[1], "it answers 80 % of its capacity meanwhile")
    # The kernels of clients that have left send their requests for a minute or two.
    for _ in range(18):
        after = load(10, (overloaded, FEW), (other, FEW))
        if after[0] >= 0.9 * after[1]:
            break
    check(after[0] >= 0.9 * after[1], "it recovers")
    for server in overloaded, other:
        check(not server.messages(), server.messages())
        server.stop()
        server.remove()
    print("overload: as it should be")


if __name__ == "__main__":
    main()
