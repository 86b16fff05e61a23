#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/cryptserve: files of all sizes arrive as they are, and nothing that was changed does.

usage: check-cryptserve.py EXAMPLES
"""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

SERVE, GET = (os.path.join(sys.argv[1], name) for name in ("cryptserve", "cryptget"))
CHUNK = 32 * 1024
HELLO, HEADER, SEAL = 32 + 24 + 1024 + 17, 24, 17
directory = tempfile.mkdtemp()
atexit.register(shutil.rmtree, directory)


def path(name):
    return os.path.join(directory, name)


def check(condition, claim):
    if not condition:
        sys.exit(f"check-cryptserve: not so: {claim}")


def make_key(name):
    return subprocess.run([SERVE, "--make-key", path(name)], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


def start(*options):
    server = subprocess.Popen([SERVE, *options, path("key"), path("socket"), path("files")],
                              stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    check(server.stdout.readline().startswith("listening on "), "it listens")
    return server


def stop(server):
    server.terminate()
    text = server.communicate(timeout=600)[0]
    check(server.returncode == 0, "it ends with status 0")
    return text


def get(name, key=None, address="socket"):
    return subprocess.run([GET, key or public, path(address), name], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)


def check_files(sizes):
    for size in sizes:
        with open(path(f"files/{size}"), "wb") as file:
            file.write(os.urandom(size))
        with open(path(f"files/{size}"), "rb") as file:
            answer = get(str(size))
            check(answer.returncode == 0 and answer.stdout == file.read(), f"{size} bytes: {answer.stderr}")
    os.mkdir(path("files/d"))
    os.symlink("../../outside", path("files/d/out"))
    os.mkfifo(path("files/fifo"))
    with open(path("outside"), "w") as file:
        file.write("outside")
    for name, message in [("none", "No such file"), ("../outside", "cross-device"), ("d", "denied"),
                          ("d/out", "cross-device"), (path("outside"), "cross-device"), ("", "No such"),
                          ("fifo", "denied"), ("a" * 1023, "too long"), ("a" * 1024, "longer than")]:
        answer = get(name)
        check(answer.returncode == 1 and message in answer.stderr.decode() and not answer.stdout,
              f"{name[:20]}: {answer.stderr}")


# Each name has two addresses, of which the server has only the second one.
TWO_ADDRESSES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>

typedef int getaddrinfo_function(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
	getaddrinfo_function *real = (getaddrinfo_function *)dlsym(RTLD_NEXT, "getaddrinfo");
	int err = real("::1", port, hints, found);

	return err ? err : real("127.0.0.1", port, hints, &(*found)->ai_next);
}
"""


def check_names():
    library = path("two.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=TWO_ADDRESSES, text=True, check=True)
    server = subprocess.Popen([SERVE, path("key"), "127.0.0.1:0", path("files")], stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    port = server.stdout.readline().rsplit(":", 1)[1].strip()
    command = [GET, public, f"name:{port}", "1"]
    answer = subprocess.run(command, capture_output=True, timeout=600, env={**os.environ, "LD_PRELOAD": library})
    check(answer.returncode == 0 and len(answer.stdout) == 1, f"all addresses are tried: {answer.stderr}")
    stop(server)
    answer = subprocess.run(command, capture_output=True, timeout=600, env={**os.environ, "LD_PRELOAD": library})
    check(answer.returncode == 1 and b"refused" in answer.stderr, f"the last error is told: {answer.stderr}")


def check_keys():
    answer = get("1", key=make_key("other"))
    check(answer.returncode == 1 and b"another key" in answer.stderr, "a server with another key")
    for key in "zz", "00" * 31, "00" * 32:
        check(get("1", key=key).returncode == 1, f"{key}: no key")
    os.chmod(path("other"), 0o644)
    answer = subprocess.run([SERVE, path("other"), path("s"), directory], stderr=subprocess.PIPE)
    check(answer.returncode == 1 and b"chmod 600" in answer.stderr, "a key that others may read")


def between(change, name):
    """Get a file through a process that changes what the server sends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path("between"))
    listener.listen()

    def forward():
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(path("socket"))
        server.sendall(client.recv(HELLO, socket.MSG_WAITALL))
        data = b""
        while part := server.recv(1 << 20):
            data += part
        client.sendall(change(data))
        client.close()
        server.close()

    thread = threading.Thread(target=forward)
    thread.start()
    answer = get(name, address="between")
    thread.join()
    listener.close()
    os.unlink(path("between"))
    return answer


def check_changes():
    name, block = str(2 * CHUNK + 5), CHUNK + SEAL
    check(between(lambda data: data, name).returncode == 0, "what was not changed")

    def flip(at):
        return lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]

    for what, change in [
            ("a bit of the header", flip(3)), ("a bit of the contents", flip(HEADER + 100)),
            ("a bit of the last message", flip(HEADER + 2 * block + 1)),
            ("a message is missing", lambda data: data[:HEADER] + data[HEADER + block:]),
            ("messages are exchanged", lambda data: data[:HEADER] + data[HEADER + block:HEADER + 2 * block] +
             data[HEADER:HEADER + block] + data[HEADER + 2 * block:]),
            ("the last message is missing", lambda data: data[:HEADER + 2 * block]),
            ("a byte is missing", lambda data: data[:-1]), ("a byte more", lambda data: data + b"x"),
            ("nothing", lambda data: b"")]:
        answer = between(change, name)
        check(answer.returncode == 1 and answer.stderr, f"changed: {what}")


def clients_and_files(server):
    """Count the descriptors of clients and files: those of a loop are made when a worker first uses it."""
    count = 0
    for fd in os.listdir(f"/proc/{server.pid}/fd"):
        try:
            link = os.readlink(f"/proc/{server.pid}/fd/{fd}")
        except FileNotFoundError:
            continue
        count += link.startswith(("socket:", path("files/")))
    return count


def check_clients(server):
    """Clients that vanish, send something else, or wait; and many at once."""
    for data in b"", b"x", b"\0" * HELLO, os.urandom(HELLO), os.urandom(2 * HELLO):
        client = socket.socket(socket.AF_UNIX)
        client.connect(path("socket"))
        client.sendall(data)
        if len(data) >= HELLO:
            try:
                check(client.recv(1) == b"", "a wrong request is not answered")
            except ConnectionResetError:
                pass
        client.close()
    with open(path("files/big"), "wb") as file:
        file.write(os.urandom(3000000))
    big = open(path("files/big"), "rb").read()
    clients = [subprocess.Popen([GET, public, path("socket"), "big"], stdout=subprocess.PIPE)
               for _ in range(10)]
    clients[0].kill()
    results = [client.communicate(timeout=600)[0] for client in clients]
    check(all(result == big for result in results[1:]), "clients at the same time get the same")
    end = time.monotonic() + 600
    while clients_and_files(server) > descriptors:
        check(time.monotonic() < end, "no descriptor is left")
        time.sleep(0.01)


def check_silent():
    """Clients that send nothing are disconnected."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for one in silent:
        one.connect(path("socket"))
        one.settimeout(600)
    check(all(one.recv(1) == b"" for one in silent), "clients that wait, or are too many, are disconnected")
    # On a busy machine, more than a second may pass before a client sends its request.
    end = time.monotonic() + 600
    while get("1").returncode != 0:
        check(time.monotonic() < end, "others are served")


def slow_client():
    """Return what a client has got that stops for three seconds. At first it may be too slow to be served."""
    end, first = time.monotonic() + 600, b""
    while not first:
        check(time.monotonic() < end, "a client is served")
        client = subprocess.Popen([GET, public, path("socket"), "big"], bufsize=0, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        first = client.stdout.read(1)
        if first:
            time.sleep(3)
        rest = client.communicate(timeout=600)[0]
    return first + rest


os.mkdir(path("files"))
public = make_key("key")
running = start("--threads=2")
get("none")
descriptors = clients_and_files(running)
check_files([0, 1, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK + 5, 1000000])
check_names()
check_keys()
check_changes()
check_clients(running)
check(" files\n" in stop(running), "it counts files")
for options in ["--timeout=1"], ["--request-timeout=1"]:
    running = start("--threads=2", "--sessions=2", *options)
    check_silent()
    # A client that has sent its request may take longer, unless its whole time is limited.
    whole = slow_client() == open(path("files/big"), "rb").read()
    check(whole == (options != ["--timeout=1"]), f"a slow client with {options} has the whole file: {whole}")
    stop(running)
print("cryptserve: as it should be")
