#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/httpd with clients that people use: curl, and ab, wrk and h2load with many connections.

usage: clients.py HTTPD
"""

import os
import re
import subprocess
import sys

from server import Server, check

LARGE = bytes(range(251)) * 20000


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def check_curl(server, url):
    check(run("curl", "-sSf", f"{url}/large") == LARGE, "curl gets a large file")
    check(run("curl", "-sSf", "-r", "10-19", f"{url}/large") == LARGE[10:20], "and a range")
    check(run("curl", "-sSfL", f"{url}/d") == b"index", "and follows a redirection")
    # It continues a file that it has got in part.
    part = os.path.join(server.directory, "part")
    with open(part, "wb") as file:
        file.write(LARGE[:100000])
    run("curl", "-sSf", "-C", "-", "-o", part, f"{url}/large")
    with open(part, "rb") as file:
        check(file.read() == LARGE, "and continues")
    tag = os.path.join(server.directory, "tag")
    run("curl", "-sSf", "--etag-save", tag, "-o", part, f"{url}/d/")
    answer = run("curl", "-sSf", "--etag-compare", tag, "-w", "%{http_code}", "-o", "/dev/null", f"{url}/d/")
    check(answer == b"304", "and gets nothing if it has the file")


def check_ab(url):
    for options in ["-k"], []:
        for name in "d/", "large":
            text = run("ab", "-q", *options, "-c", "16", "-n", "2000" if name == "d/" else "100",
                       f"{url}/{name}").decode()
            check(re.search(r"Failed requests: +0\n", text) and "Non-2xx" not in text, text)


def check_wrk(url):
    """Connections that stay, and new ones for each request."""
    for fields in [], ["-H", "Connection: close"]:
        text = run("wrk", "-t", "2", "-c", "64", "-d", "1s", *fields, f"{url}/d/").decode()
        check("Non-2xx" not in text and re.search(r"\n *[1-9]\d* requests in", text), text)
        # A connection that ends after an answer is not an error; one that cannot be made, or has no answer, is.
        errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
        check(not errors or errors.groups() == ("0",) * 4, text)


def check_h2load(url):
    """Requests of HTTP/1.1 that are sent before the answers to others have come."""
    text = run("h2load", "--h1", "-m", "8", "-c", "16", "-n", "2000", f"{url}/d/").decode()
    check(re.search(r"2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout", text), text)
    check("status codes: 2000 2xx" in text, text)


def main():
    server = Server(sys.argv[1])
    server.write("large", LARGE)
    server.write("d/index.html", b"index")
    server.start("--workers=2")
    url = "http://127.0.0.1:%d" % server.address[1]
    check_curl(server, url)
    check_ab(url)
    check_wrk(url)
    check_h2load(url)
    server.stop()
    server.remove()
    print("clients: as they should be")


if __name__ == "__main__":
    main()
