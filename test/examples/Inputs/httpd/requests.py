#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Requests to examples/httpd, correct and malformed ones, and their answers.

usage: requests.py HTTPD [PART...]
"""

import email.utils
import os
import pwd
import socket
import subprocess
import sys
import time

from server import Client, Server, check

SMALL = bytes(range(256)) * 5
LARGE = bytes(range(251)) * 20000


def make_files(server):
    server.write("small.bin", SMALL)
    server.write("large.tar", LARGE)
    server.write("edge.txt", b"e" * 16384)
    server.write("over.txt", b"o" * 16385)
    server.write("empty.css", b"")
    server.write("index.html", b"<p>root")
    server.write("d/index.html", b"<p>d")
    server.write("d/ a+\xc3\xa4.TXT".encode("latin-1").decode("utf-8"), b"odd")
    server.write("no/other.html", b"")
    server.write(".well-known/x", b"known")
    server.write(".git/config", b"hidden")
    server.write("d/.htpasswd", b"hidden")
    server.write("denied", b"denied")
    os.chmod(server.path("denied"), 0)
    server.write("etc/group", ":".join(["outsiders", "x", "4242", "nobody"]).encode() + b"\n")
    with open(os.path.join(server.directory, "outside"), "w") as file:
        file.write("outside")
    os.symlink("../../outside", server.path("d/out"))
    os.symlink("/etc/passwd", server.path("passwd"))
    os.symlink("..", server.path("up"))
    os.symlink("small.bin", server.path("link"))
    os.symlink("loop", server.path("loop"))
    os.mkfifo(server.path("fifo"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(server.path("socket"))


def check_names(server):
    for target, status, body in [
        ("/small.bin", 200, SMALL), ("/large.tar", 200, LARGE), ("/edge.txt", 200, b"e" * 16384),
        ("/over.txt", 200, b"o" * 16385), ("/empty.css", 200, b""), ("/", 200, b"<p>root"),
        ("/d/", 200, b"<p>d"), ("//d///index.html", 200, b"<p>d"), ("/link", 200, SMALL),
        ("/d/%20a+%C3%A4.TXT", 200, b"odd"), ("/d/%20a%2b%c3%a4.TXT", 200, b"odd"),
        ("/.well-known/x", 200, b"known"), ("/small.bin?a=/../b", 200, SMALL),
        ("http://other", 200, b"<p>root"), ("http://other?a=/d/", 200, b"<p>root"),
        ("http://other:80/d/?x", 200, b"<p>d"), ("HTTP://other/small.bin", 200, SMALL),
        ("/no/", 404, None), ("/none", 404, None), ("/none/x", 404, None),
        ("/small.bin/", 404, None), ("/small.bin/x", 404, None), ("/loop", 404, None),
        # Nothing leaves the root, and nothing hidden is sent.
        ("/d/out", 404, None), ("/passwd", 404, None), ("/up/outside", 404, None),
        ("/up/up/etc/passwd", 404, None), ("/../outside", 404, None),
        ("/d/../../outside", 404, None), ("/%2e%2e/outside", 404, None),
        ("/d/.%2E/small.bin", 404, None), ("/..%2foutside", 404, None),
        ("/d%2findex.html", 404, None), ("/d%2Findex.html", 404, None),
        ("/d/..", 404, None), ("/.", 404, None), ("/./small.bin", 404, None),
        ("/.git/config", 404, None), ("/d/.htpasswd", 404, None), ("/...", 404, None),
        ("/.well-known/../.git/config", 404, None), ("/.well-knownx", 404, None),
        ("/..\\outside", 404, None), ("http://other/../outside", 404, None),
        # Names that are none.
        ("/small.bin%00", 400, None), ("/%00", 400, None), ("/%", 400, None), ("/%4", 400, None),
        ("/%4g", 400, None), ("/%%41", 400, None), ("http:///d/", 400, None),
        ("http://", 400, None), ("http://?d/", 400, None),
        ("/" + "a/" * 2042, 404, None), ("/" + "a/" * 2043, 414, None), ("/" + "a" * 255, 404, None),
        ("/" + "a" * 256, 404, None), ("/" + "a/" * 2048, 414, None),
        ("/fifo", 403, None), ("/socket", 404, None),
    ]:
        answer = server.get(target)
        check(answer.status == status, f"{target[:60]}: {status}, but {answer.status}")
        check(body is None or answer.body == body, f"{target}: the right contents")
    check(server.get("/denied").status == 403, "a file that may not be read")


def check_rights(server):
    """A worker has the rights of its user, and none that a file of the directory names."""
    if os.geteuid():
        return
    user = pwd.getpwnam("nobody")
    with open(f"/proc/{server.workers()[0]}/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    for name, number in ("Uid", user.pw_uid), ("Gid", user.pw_gid):
        check(fields[name].split() == [str(number)] * 4, f"{name} is {number}: {fields[name]}")
    groups = sorted(os.getgrouplist("nobody", user.pw_gid))
    check(sorted(map(int, fields["Groups"].split())) == groups, f"groups {groups}: {fields['Groups']}")
    check(int(fields["CapEff"], 16) == 0, f"no capabilities: {fields['CapEff']}")


def check_fields(server):
    for target, kind in [("/small.bin", "application/octet-stream"), ("/d/", "text/html"),
                         ("/edge.txt", "text/plain"), ("/d/%20a+%C3%A4.TXT", "text/plain"),
                         ("/empty.css", "text/css"), ("/large.tar", "application/x-tar")]:
        head, get = server.get(target, method="HEAD"), server.get(target)
        check(get.fields["content-type"] == kind, f"{target}: {kind}, but {get.fields}")
        for fields in head.fields, get.fields:
            date = email.utils.parsedate_to_datetime(fields.pop("date")).timestamp()
            check(abs(date - time.time()) < 30, "the time is now")
        check(head.fields == get.fields, f"{target}: HEAD has the fields of GET")
        modified = email.utils.parsedate_to_datetime(get.fields["last-modified"]).timestamp()
        check(abs(modified - time.time()) < 600, f"{target} was modified now")
    for target, location in [("/d", "/d/"), ("//d?a=%2F", "/d/?a=%2F"), ("/d?", "/d/?"),
                             ("http://other/d?b", "/d/?b"), ("/%64", "/%64/")]:
        answer = server.get(target)
        check(answer.status == 301, f"{target}: a directory has a slash")
        check(answer.fields["location"] == location, f"{target}: {answer.fields}")
    client = server.client()
    client.send("HEAD /none HTTP/1.1\r\nHost: x\r\n\r\nGET /d/ HTTP/1.1\r\nHost: x\r\n\r\n")
    check(client.answer(head=True).status == 404, "HEAD of a file that does not exist")
    check(client.answer().body == b"<p>d", "the answer to HEAD has no body")


def check_ranges(server):
    large = len(LARGE)
    for name, contents in ("small.bin", SMALL), ("large.tar", LARGE):
        size = len(contents)
        for text, first, end in [
            ("0-0", 0, 1), ("1-9", 1, 10), (f"{size - 1}-", size - 1, size), ("5-", 5, size),
            ("-3", size - 3, size), (f"-{size}", 0, size), (f"-{size + 1}", 0, size),
            (f"0-{size - 1}", 0, size), (f"7-{size}", 7, size), ("9-99999999999999999999", 9, size),
            ("-99999999999999999999", 0, size), (f"1-{size - 2}", 1, size - 1),
        ]:
            answer = server.get(f"/{name}", f"Range: bytes={text}")
            check(answer.status == 206, f"{name} {text}: 206, but {answer.status}")
            check(answer.body == contents[first:end], f"{name} {text}: the right bytes")
            check(answer.fields["content-range"] == f"bytes {first}-{end - 1}/{size}",
                  f"{name} {text}: {answer.fields}")
    for text in (f"bytes={large}-", f"bytes={large}-{large + 1}", "bytes=-0",
                 "bytes=99999999999999999999-"):
        answer = server.get("/large.tar", f"Range: {text}")
        check(answer.status == 416, f"{text}: 416, but {answer.status}")
        check(answer.fields["content-range"] == f"bytes */{large}", f"{text}: {answer.fields}")
    check(server.get("/empty.css", "Range: bytes=0-").status == 416, "an empty file has no ranges")
    for text in ("bytes=", "bytes=-", "bytes=2-1", "bytes=0-1,3-4", "bytes=a-b", "bytes=0x1-2",
                 "bytes=1- 2", "lines=1-2", "bytes = 1-2", "", "bytes=--1", "bytes=1-2x"):
        answer = server.get("/small.bin", f"Range: {text}")
        check(answer.status == 200 and answer.body == SMALL, f"{text}: the whole file")
    head = server.get("/small.bin", "Range: bytes=0-1", method="HEAD")
    check(head.status == 200 and head.fields["content-length"] == str(len(SMALL)),
          "HEAD ignores ranges")


def form(moment, text):
    return time.strftime(text, time.gmtime(moment))


def check_conditions(server):
    fields = server.get("/small.bin").fields
    etag, date = fields["etag"], fields["last-modified"]
    moment = email.utils.parsedate_to_datetime(date).timestamp()
    before = email.utils.formatdate(moment - 1, usegmt=True)
    after = email.utils.formatdate(moment + 1, usegmt=True)
    for field, status in [
        (f"If-None-Match: {etag}", 304), ("If-None-Match: *", 304),
        (f"if-none-match: W/{etag}", 304), (f'If-None-Match: "a,b", {etag}', 304),
        (f'If-None-Match: "a" ,,\t{etag},"b"', 304), ('If-None-Match: "a"', 200),
        (f"If-None-Match: {etag[:-2]}", 200), (f"If-None-Match: {etag[1:-1]}", 200),
        ("If-None-Match: W/", 200), ("If-None-Match: ,", 200), ('If-None-Match: "', 200),
        (f"If-Modified-Since: {date}", 304), (f"If-Modified-Since: {after}", 304),
        (f"If-Modified-Since: {before}", 200), ("If-Modified-Since: yesterday", 200),
        ("If-Modified-Since: Sun, 99 Xxx 2026 00:00:00 GMT", 200),
        (f'If-None-Match: "a"\r\nIf-Modified-Since: {after}', 200),
        (f"If-Match: {etag}", 200), ("If-Match: *", 200), (f'If-Match: "a", {etag}', 200),
        ('If-Match: "a"', 412), (f"If-Match: W/{etag}", 412),
        (f"If-Match: {etag}\r\nIf-Unmodified-Since: {before}", 200),
        (f'If-Match: "a"\r\nIf-None-Match: {etag}', 412),
        (f'If-Match: "a"\r\nIf-Unmodified-Since: {after}', 412),
        (f"If-Unmodified-Since: {date}", 200), (f"If-Unmodified-Since: {before}", 412),
        ("If-Unmodified-Since: yesterday", 200),
        (f"If-Match: {etag}\r\nIf-None-Match: {etag}", 304),
        # Fields with the same name are one list. Those that are no lists have no valid value then.
        (f'If-None-Match: "a"\r\nIf-None-Match: {etag}', 304),
        (f'If-Match: "a"\r\nX: y\r\nif-match: {etag}', 200),
        ('If-Match: "a"\r\nIf-Match: "b"', 412),
        (f'If-Match: {etag}\r\nIf-None-Match: "a"\r\nIf-None-Match: {etag}', 304),
        (f"If-Modified-Since: {after}\r\nIf-Modified-Since: {after}", 200),
        (f"If-Unmodified-Since: {before}\r\nIf-Unmodified-Since: {before}", 200),
        ("Range: bytes=1-2\r\nRange: bytes=3-4", 200),
        # The forms that are not sent any more.
        (f"If-Modified-Since: {form(moment, '%A, %d-%b-%y %H:%M:%S GMT')}", 304),
        (f"If-Modified-Since: {form(moment - 1, '%A, %d-%b-%y %H:%M:%S GMT')}", 200),
        (f"If-Modified-Since: {form(moment, '%a %b %e %H:%M:%S %Y')}", 304),
        (f"If-Modified-Since: {form(moment - 1, '%a %b %e %H:%M:%S %Y')}", 200),
        ("If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT", 412),
    ]:
        for method in "GET", "HEAD":
            answer = server.get("/small.bin", field, method=method)
            check(answer.status == status, f"{method}, {field}: {status}, but {answer.status}")
            check(status == 412 or answer.fields["etag"] == etag, f"{field}: the tag is the file's")
    for field, status in [(etag, 206), (date, 206), (before, 200), (after, 200), ('"a"', 200),
                          (f"W/{etag}", 200), ("?", 200)]:
        answer = server.get("/small.bin", f"If-Range: {field}", "Range: bytes=1-2")
        check(answer.status == status, f"If-Range: {field}: {status}, but {answer.status}")
    check(server.get("/none", "If-None-Match: *").status == 404, "a condition needs a file")
    for count, status in (5, 412), (6, 431):
        answer = server.get("/small.bin", *['If-Match: "a"'] * count)
        check(answer.status == status, f"{count} lists: {status}, but {answer.status}")
    answer = server.get("/small.bin", "Range: bytes=1-2", *[f"If-Range: {etag}"] * 2)
    check(answer.status == 200, f"two If-Range: 200, but {answer.status}")
    # A file whose date is not before that of the answer may change again, and have the same date.
    future = int(time.time()) + 1000
    os.utime(server.path("small.bin"), (future,) * 2)
    fields = server.get("/small.bin").fields
    check("last-modified" not in fields and "etag" in fields, f"a file that changes has no date: {fields}")
    date = email.utils.formatdate(future, usegmt=True)
    for field, status in ("If-Modified-Since", 200), ("If-Unmodified-Since", 412):
        answer = server.get("/small.bin", f"{field}: {date}")
        check(answer.status == status, f"a file that changes, {field}: {status}, but {answer.status}")
    server.write("small.bin", SMALL)
    check(server.get("/small.bin").fields["etag"] != etag, "a changed file has another tag")


def check_connections(server):
    request = "GET /small.bin HTTP/1.1\r\nHost: x\r\nX: " + "y" * 300 + "\r\n\r\n"
    client = server.client()
    client.send(request * 40)
    for _ in range(40):
        check(client.answer().body == SMALL, "requests in one packet have one answer each")
    client.send("".join(f"GET /{name} HTTP/1.1\r\nHost: x\r\n\r\n"
                        for name in ("large.tar", "d/", "none", "large.tar", "small.bin")))
    for body in LARGE, b"<p>d", b"404 Not Found\n", LARGE, SMALL:
        check(client.answer().body == body, "answers are in the order of the requests")
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in "\r\nGET /d/ HTTP/1.1\r\nHost: x\r\nRange: bytes=1-1\r\n\r\n":
        client.send(byte)
    check(client.answer().body == b"p", "a request may arrive byte by byte")
    long = "GET /d/ HTTP/1.1\r\nHost: x\r\nX: " + "y" * 7000 + "\r\nRange: bytes=1-1\r\n\r\n"
    for at in range(0, len(long), 500):
        client.send(long[at:at + 500])
    check(client.answer().body == b"p", "a long request may arrive in pieces")
    client.send(long + long[:600])
    check(client.answer().body == b"p", "a long request, with the beginning of another")
    client.send(long[600:] + request)
    check(client.answer().body == b"p" and client.answer().body == SMALL, "and its end")
    for line, fields, kept in [("HTTP/1.1", "", True), ("HTTP/1.1", "Connection: close\r\n", False),
                               ("HTTP/1.0", "", False),
                               ("HTTP/1.0", "Connection: Keep-Alive\r\n", True)]:
        client = server.client()
        client.send(f"GET /d/ {line}\r\nHost: x\r\n{fields}\r\n")
        answer = client.answer()
        connection = answer.fields.get("connection")
        check(connection == ("close" if not kept else "keep-alive" if "1.0" in line else None),
              f"{line} {fields}: {answer.fields}")
        check(not kept or client.get("/d/").status == 200, f"{line} {fields}: it is kept")
        check(kept or client.ended(), f"{line} {fields}: it is closed")
    for host in "", "x:80", "[::1]:80", "a-b.example", "x \t":
        client = server.client()
        client.send(f"GET /d/ HTTP/1.1\r\nHost: {host}\r\n\r\n")
        check(client.answer().status == 200, f"Host: {host}")
    client = server.client()
    client.send("GET /d/ HTTP/1.1\r\nHost: x\r\n\r\nGET")
    client.socket.shutdown(socket.SHUT_WR)
    check(client.answer().body == b"<p>d" and client.ended(), "what is complete is answered")


def check_malformed(server):
    host = "Host: x\r\n"
    for text, status in [
        ("GET /d/ HTTP/1.1\r\n\r\n", 400), (f"GET /d/ HTTP/1.1\r\n{host}{host}\r\n", 400),
        ("GET /d/ HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("GET /d/ HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        ("GET /d/ HTTP/1.1\r\nHost: a@b\r\n\r\n", 400), ("GET /d/ HTTP/1.0\r\nHost: a\"\r\n\r\n", 400),
        (f"GET /d/ HTTP/2.0\r\n{host}\r\n", 505), (f"GET /d/ HTTP/0.9\r\n{host}\r\n", 505),
        (f"GET /d/ RTSP/1.0\r\n{host}\r\n", 505), (f"GET /d/ ICE/1.0\r\n{host}\r\n", 400),
        ("GET /d/\r\n\r\n", 505), (f"GET  HTTP/1.1\r\n{host}\r\n", 400),
        (f"GET d HTTP/1.1\r\n{host}\r\n", 400), (f"GET /a b HTTP/1.1\r\n{host}\r\n", 400),
        (f"FETCH / HTTP/1.1\r\n{host}\r\n", 400), ("\0" * 100, 400), ("\x16\x03\x01\x02\0", 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400), (f"GET /d/ HTTP/1.1\r\n{host}a\0b: c\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}a: b\0c\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}a b: c\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}Content-Length: x\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 413),
        (f"GET /d/ HTTP/1.1\r\n{host}Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n", 400),
        (f"GET /d/ HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\nabc", 413),
        # Any of them: a proxy may think that a body follows, and here the next request would begin.
        *((f"GET /d/ HTTP/1.1\r\n{host}{name}:{coding}\r\n\r\n0\r\n\r\n", 413) for name in ("Transfer-Encoding", "transfer-encoding")
          for coding in (" chunked", "", " ", "\r\n chunked", "identity", "gzip", "chunked, gzip", "chunked;q=1", "\x0bchunked", "chunked,", '"chunked"')),
        *((f"GET /d/ HTTP/1.1\r\n{host}{field}\r\n\r\n0\r\n\r\n", 400)
          for field in ("Transfer-Encoding : chunked", "X: y\rTransfer-Encoding: chunked", "Transfer-Encoding\t: chunked",
                        " Transfer-Encoding: chunked", "Content-Length: 0, 0", "Content-Length: +0", "Content-Length:",
                        "Content-Length: 0\r\n 5")),
        (f"GET /d/ HTTP/1.1\r\n{host}X: " + "y" * 9000, 431),
        (f"GET /d/ HTTP/1.1\r\n{host}" + "X: y\r\n" * 2000, 431),
        ("GET /" + "a" * 9000, 431),
    ]:
        client = server.client()
        client.send(text)
        answer = client.answer()
        check(answer.status == status, f"{text[:70]!r}: {status}, but {answer.status}")
        check(answer.fields["connection"] == "close", f"{text[:70]!r}: it is the last one")
        check(client.ended(), f"{text[:70]!r}: the connection ends")
    for method in "POST", "PUT", "DELETE", "OPTIONS", "TRACE":
        answer = server.get("/d/", method=method)
        check(answer.status == 405 and answer.fields["allow"] == "GET, HEAD", f"{method}: 405")
    client = server.client()
    client.send(f"CONNECT x:1 HTTP/1.1\r\n{host}\r\n")
    check(client.answer().status == 405, "CONNECT: 405")
    check(client.get("/d/", "Connection: Upgrade", "Upgrade: h2c").status == 200, "no upgrade")
    check(client.get("/d/", "Content-Length: 0").status == 200, "an empty body is none")


def check_log(server):
    client = server.client()
    client.get("/d/?q", "Referer: http://r/", 'User-Agent: a"b\\c\t\xe4')
    client.send("bad\r\n\r\n")
    client.answer()
    # All addresses of 127.0.0.0/8 are this machine's.
    with socket.create_connection(server.address, source_address=("127.255.9.100", 0)) as other:
        other.sendall(b"GET /d/ HTTP/1.0\r\n\r\n")
        other.recv(1)
    server.stop()
    with open(server.log) as log:
        lines = log.read().splitlines()
    check(lines.pop().startswith("127.255.9.100 - - ["), "the client's address is logged")
    check(lines[-2].endswith('"GET /d/?q HTTP/1.1" 200 4 "http://r/" '
                             '"a\\x22b\\x5cc\\x09\\xe4"'), f"fields are escaped: {lines[-2]}")
    check(lines[-1].startswith("127.0.0.1 - - [") and lines[-1].endswith('"-" 400 16 "-" "-"'),
          f"what is malformed has a line: {lines[-1]}")


def check_addresses(server):
    """A socket of IPv6 and IPv4, as systemd makes and hands on: each client has a limit of its own."""
    listener = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)

    def hand_on():
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)  # It may have been 3 already.
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")

    server.start("--rate=3", setup=hand_on)
    names = []
    for address, name in ("::1", "::1"), ("127.0.0.1", "::ffff:127.0.0.1"):
        client = Client((address, listener.getsockname()[1]))
        statuses = []
        while 429 not in statuses:
            client.send("GET /small.bin HTTP/1.1\r\nHost: x\r\n\r\n" * 12)
            statuses += [client.answer().status for _ in range(12)]
        check(statuses[:3] == [200] * 3, f"{address}: the first three are served: {statuses}")
        names += [name] * len(statuses)
    server.stop()
    listener.close()
    with open(server.log) as log:
        lines = [line.split()[0] for line in log][-len(names):]
    check(lines == names, f"the log has the addresses: {lines}")
    server.start(listen="[::1]:0")
    check(server.get("/small.bin").body == SMALL, "it listens to an address of IPv6")
    server.stop()


def check_path(server):
    """Users other than root, such as that of a proxy, may connect by a path. One that is left over is named."""
    path = os.path.join(server.directory, "listener")
    server.start(listen=path)
    check(os.stat(path).st_mode & 0o777 == 0o666, "all users may connect")
    check(server.get("/small.bin").body == SMALL, "it listens to a path")
    server.kill()
    server.process.wait()
    user = ["--user", "nobody"] if os.geteuid() == 0 else []
    other = subprocess.run([server.program, f"--listen={path}", *user, server.root], stderr=subprocess.PIPE, text=True)
    check(other.returncode == 1 and "remove the file if no server uses it" in other.stderr, f"it says why: {other.stderr}")


def main():
    server = Server(sys.argv[1])
    make_files(server)
    server.start()
    for part in (check_names, check_rights, check_fields, check_ranges, check_conditions, check_connections,
                 check_malformed, check_log):
        if not sys.argv[2:] or part.__name__[6:] in sys.argv[2:]:
            part(server)
    if server.process.poll() is None:
        server.stop()
    if os.path.exists("/proc/net/if_inet6") and (not sys.argv[2:] or "addresses" in sys.argv[2:]):
        check_addresses(server)
    if not sys.argv[2:] or "path" in sys.argv[2:]:
        check_path(server)
    # Then the kernel refuses names that lead out of the directory.
    if os.geteuid() == 0:
        server.start("--no-chroot")
        check_names(server)
        server.stop()
    check(not server.messages(), f"no messages: {server.messages()}")
    server.remove()
    print("requests: as they should be")


if __name__ == "__main__":
    main()
