#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module is absent, loaded, and cannot be unloaded while examples/httpd uses it.

usage: module.py HTTPD MODULE

Run this as root in a VM without the module.
"""

import os
import subprocess
import sys

from server import Server, check


def unload():
    return subprocess.run(["rmmod", "cosy"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def uses_module(server):
    pid = server.workers()[0]
    return any("cosy-loop" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))


def check_server(server, with_module):
    """Serve a connection that stays, and one that is new."""
    server.start()
    kept = server.client()
    for _ in range(2):
        check(kept.get("/file").body == b"file", "it serves")
        check(uses_module(server) == with_module, f"it uses the module: {with_module}")
        check(not unload(), "the module is not unloaded" if with_module else "there is no module")
    check(server.get("/file").body == b"file", "it still accepts connections")
    check(not server.messages(), server.messages())
    server.stop()


def main():
    server = Server(sys.argv[1])
    server.write("file", b"file")
    requests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests.py")
    os.environ["COSY_EXECUTOR"] = "auto"
    check(not os.path.exists("/dev/cosy"), "there is no module")
    subprocess.run([requests, sys.argv[1]], check=True)
    check_server(server, False)
    subprocess.run(["insmod", sys.argv[2]], check=True)
    check_server(server, True)
    check(unload(), "it is unloaded after the server has ended")
    check_server(server, False)
    server.remove()
    print("module: as it should be")


if __name__ == "__main__":
    main()
