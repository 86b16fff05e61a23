#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/httpd with three times as many clients as it can serve.

usage: overload.py HTTPD LOAD SECONDS

LOAD is the program of load.c. Run this as root in a VM that counts instructions: the server has a hundredth
of its processor, so that the clients have enough, and nothing depends on the load of the machine.
"""

import os
import subprocess
import sys

from server import Server, check

CGROUP = "/sys/fs/cgroup/httpd"


def limit(pids):
    """Let processes have one per cent of a processor. Return a function that returns their time in seconds."""
    if not os.path.isdir(CGROUP):
        with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as control:
            control.write("+cpu")
        os.mkdir(CGROUP)
    with open(f"{CGROUP}/cpu.max", "w") as file:
        file.write("1000 100000")
    for pid in pids:
        with open(f"{CGROUP}/cgroup.procs", "w") as file:
            file.write(str(pid))

    def used():
        with open(f"{CGROUP}/cpu.stat") as file:
            return int(dict(line.split() for line in file)["usage_usec"]) / 1e6

    return used


def load(server, seconds, clients, rate):
    """Return a dictionary of what became of clients, and of what the server did, in a second."""
    with open(server.log) as log:
        lines = sum(1 for _ in log)
    before = server.used()
    text = subprocess.run([sys.argv[2], str(server.address[1]), str(seconds), str(clients), str(rate)],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    result = dict(zip(("came", "answered", "refused", "gave up"), (int(number) / seconds for number in text.split())))
    result["time"] = (server.used() - before) / seconds
    with open(server.log) as log:
        result["logged"] = (sum(1 for _ in log) - lines) / seconds
    print(", ".join(f"{name} {number:.4g}" for name, number in result.items()), flush=True)
    return result


def main():
    server = Server(sys.argv[1])
    server.write("small", b"small")
    server.start()
    server.used = limit(server.workers())
    seconds = int(sys.argv[3])
    load(server, 3, 32, 0)
    capacity = load(server, 10, 32, 0)["answered"]
    meanwhile = load(server, seconds, 20000, round(3 * capacity))["answered"]
    check(meanwhile >= 0.9 * capacity, f"it serves {meanwhile:.0f} of {capacity:.0f} clients in a second")
    # Clients that have left are still in the backlog.
    load(server, 5, 32, 0)
    after = load(server, 5, 32, 0)["answered"]
    check(after >= 0.95 * capacity, f"it recovers: {after:.0f} of {capacity:.0f}")
    check(not server.messages(), server.messages())
    server.stop()
    server.remove()
    print("overload: as it should be")


if __name__ == "__main__":
    main()
