# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the Python package cosy has the same results, exceptions and objects as os."""

import errno
import gc
import os
import pathlib
import shutil
import stat
import sys
import tempfile
import threading
import warnings

import cosy

FIELDS = [name for name in dir(os.stat_result) if name.startswith("st_")]


def same_stat(a, b):
    return type(a) is type(b) and a == b and all(
        getattr(a, name) == getattr(b, name) for name in FIELDS)


def outcome(function, *arguments, **keywords):
    """Returns the result of a call, or the contents of its OSError."""
    try:
        return function(*arguments, **keywords)
    except OSError as error:
        return type(error), error.errno, error.strerror


def error_of(error):
    return type(error), error.errno, error.strerror, error.filename


def check_entries(path):
    """Checks that cosy.scandir() and os.scandir() give the same for a directory."""
    # Following a link may change its access time, so no link is followed between the two.
    for entry in os.scandir(path):
        outcome(entry.stat)
    with cosy.scandir(path) as mine, os.scandir(path) as theirs:
        pairs = list(zip(list(mine), list(theirs), strict=True))
    for a, b in pairs:
        assert a.name == b.name and a.path == b.path, (a.path, b.path)
        assert a.inode() == b.inode() and repr(a) == repr(b)
        assert os.fspath(a) == os.fspath(b)
        for follow in (True, False):
            mine, theirs = (outcome(e.stat, follow_symlinks=follow) for e in (a, b))
            assert same_stat(mine, theirs) if isinstance(theirs, os.stat_result) \
                else mine == theirs, (a.path, mine, theirs)
            for name in ("is_dir", "is_file"):
                assert outcome(getattr(a, name), follow_symlinks=follow) == \
                    outcome(getattr(b, name), follow_symlinks=follow), (name, a.path)
        assert a.is_symlink() == b.is_symlink()
    return len(pairs)


def scan_descriptors():
    """By a descriptor of a directory: from its position, and without the right to search it."""
    directory = os.open(".", os.O_RDONLY)
    print("descriptor:", check_entries(directory))
    # A directory that is open is listed from its position, and is at its beginning afterwards.
    listings = []
    for function in (os.scandir, cosy.scandir):
        os.lseek(directory, 1 << 30, os.SEEK_SET)
        with function(directory) as entries:
            listings.append([entry.name for entry in entries])
        assert os.lseek(directory, 0, os.SEEK_CUR) == 0
    assert listings[0] == listings[1]
    os.close(directory)
    # It need not be searchable.
    os.chmod("directory", 0o444)
    root = os.geteuid() == 0
    if root:
        os.chmod(".", 0o755)
        os.seteuid(65534)
    directory = os.open("directory", os.O_RDONLY)
    with cosy.scandir(directory) as entries:
        assert [entry.name for entry in entries] == ["below"]
    os.close(directory)
    if root:
        os.seteuid(0)
    os.chmod("directory", 0o755)


def scan_errors():
    """The errors are those of os.scandir()."""
    # If a directory was opened with O_PATH, glibc may find that out at the first entry.
    opened = [os.open("file", os.O_RDONLY), os.open(".", os.O_PATH)]
    for path in ("missing", "file", "", b"missing", pathlib.Path("missing"), 99, -100, "nul\0",
                 *opened):
        try:
            list(cosy.scandir(path))
        except Exception as mine:
            try:
                list(os.scandir(path))
            except Exception as theirs:
                assert type(mine) is type(theirs), (mine, theirs)
                if isinstance(mine, OSError):
                    assert mine.errno == theirs.errno and mine.filename == theirs.filename
            else:
                raise AssertionError(path) from mine
        else:
            raise AssertionError(path)
    for descriptor in opened:
        os.close(descriptor)


def scan_status():
    """The status of entries, requested early or late."""
    # Without the status, which is then requested as with os.scandir().
    for entry in cosy.scandir(".", stat=False):
        assert outcome(entry.stat, follow_symlinks=False) == os.lstat(entry.name)
    # A failure is not stored.
    with open("back", "w"):
        pass
    entry = next(e for e in cosy.scandir(".", stat=False) if e.name == "back")
    os.rename("back", "away")
    assert outcome(entry.stat)[1] == errno.ENOENT
    os.rename("away", "back")
    assert entry.stat() == os.stat("back")
    os.unlink("back")
    # The entry of a removed file still has the status that was read with it.
    with open("gone", "w"):
        pass
    entry = next(e for e in cosy.scandir(".") if e.name == "gone")
    os.unlink("gone")
    assert stat.S_ISREG(entry.stat().st_mode)


def scan_ends():
    """Iterations that end early leave nothing open, and entries cannot be made."""
    before = len(os.listdir("/proc/self/fd"))
    entries = cosy.scandir("many")
    next(entries)
    entries.close()
    entries.close()
    assert next(entries, None) is None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        entries = cosy.scandir("many")
        next(entries)
        del entries
        gc.collect()
    assert [w.category for w in caught] == [ResourceWarning]
    assert len(os.listdir("/proc/self/fd")) == before
    for bad in (cosy.DirEntry, cosy.ScandirIterator):
        try:
            bad()
        except TypeError:
            continue
        raise AssertionError(bad)


def scan():
    print("str:", check_entries("."), check_entries("./"), check_entries(None))
    print("bytes:", check_entries(b"."))
    scan_descriptors()
    print("many:", check_entries("many"))
    scan_errors()
    scan_status()
    scan_ends()
    print("scandir: ok")


def stat_and_read():
    paths = ["file", "missing", b"large", "link", "dangling", "directory", "file/x",
             pathlib.Path("missing")]
    for follow in (True, False):
        for path, mine in zip(paths, cosy.stat_many(paths, follow_symlinks=follow), strict=True):
            try:
                assert same_stat(mine, os.stat(path, follow_symlinks=follow))
            except OSError as theirs:
                assert error_of(mine) == error_of(theirs)
    assert cosy.stat_many([]) == [] and cosy.stat_many(iter(["."]))[0] == os.stat(".")
    directory = os.open("directory", os.O_RDONLY)
    assert cosy.stat_many(["below"], dir_fd=directory)[0] == os.stat("directory/below")
    os.close(directory)
    for bad in (-1, directory):
        try:
            os.stat("below", dir_fd=bad)
        except OSError as theirs:
            assert error_of(cosy.stat_many(["below"], dir_fd=bad)[0]) == error_of(theirs)
    for bad in ("file", b"file", [1], None, ["nul\0"]):
        try:
            cosy.stat_many(bad)
        except (TypeError, ValueError):
            continue
        raise AssertionError(bad)
    for path, mine in zip(paths, cosy.read_many(paths), strict=True):
        try:
            with open(path, "rb") as file:
                assert mine == file.read()
        except OSError as theirs:
            assert error_of(mine) == error_of(theirs), (mine, theirs)
    # Contents that fit into no memory are the error of this file. Others after it are read.
    huge = os.memfd_create("huge")
    os.truncate(huge, 1 << 62)
    contents = cosy.read_many(["file", f"/proc/self/fd/{huge}", "large", "/proc/sys/kernel/ostype"])
    os.close(huge)
    assert isinstance(contents[1], OSError) and contents[1].errno == errno.ENOMEM
    assert [len(contents[i]) for i in (0, 2, 3)] == [4, 3000000, 6]
    many = [f"many/{i}" for i in range(10000)]
    many[5000] = "missing"
    contents = cosy.read_many(many)
    assert [c for c in contents if isinstance(c, OSError)] == [contents[5000]]
    assert all(c == b"x" * 200 for c in contents[:5000] + contents[5001:])
    assert sum(isinstance(r, OSError) for r in cosy.stat_many(many)) == 1
    print("stat_many, read_many: ok")


def copy_and_unlink():
    assert cosy.copy_file("large", b"copy") == 3000000
    with open("large", "rb") as a, open("copy", "rb") as b:
        assert a.read() == b.read()
    try:
        cosy.copy_file("file", "copy", exclusive=True)
    except FileExistsError as error:
        assert (error.filename, error.filename2) == ("file", "copy")
    results = cosy.unlink_many(["copy", "copy", "directory"])
    assert results[0] is None and isinstance(results[1], FileNotFoundError)
    assert isinstance(results[2], IsADirectoryError)
    assert cosy.unlink_many(["directory/below"]) == [None]
    assert cosy.unlink_many(["directory"], directories=True) == [None]
    print("copy_file, unlink_many: ok")


def threads():
    """Several threads that share an iterator get each entry once, or an error."""
    entries, names, refused = cosy.scandir("many"), [], []

    def take():
        while True:
            try:
                names.append(next(entries).name)
            except ValueError as error:
                refused.append(str(error))
            except StopIteration:
                return

    many = [threading.Thread(target=take) for _ in range(4)]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join()
    assert sorted(names, key=int) == [str(i) for i in range(10000)]

    # Threads that request the status of an entry at the same time get the same object.
    entries = list(cosy.scandir("many", stat=False))
    results = [[], []]
    turn = threading.Barrier(2)

    def request(mine):
        for start in range(0, len(entries), 100):
            turn.wait()
            mine.extend(entry.stat() for entry in entries[start:start + 100])

    both = [threading.Thread(target=request, args=(mine,)) for mine in results]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert all(a is b for a, b in zip(*results, strict=True))
    print("threads: ok")


def interpreters():
    """Each interpreter of a process has a module of its own, with the types of its own os."""
    try:
        import _interpreters
    except ImportError:
        import _xxsubinterpreters as _interpreters  # before Python 3.13
    for _ in range(3):
        other = _interpreters.create()
        failed = _interpreters.run_string(other, f"""if True:
            import sys
            sys.path[:] = {sys.path}
            import cosy, os
            assert type(cosy.stat_many(["."])[0]) is os.stat_result
            with cosy.scandir("many") as entries:
                assert type(next(entries).stat()) is os.stat_result
            """)
        assert failed is None, failed
        _interpreters.destroy(other)
    assert type(cosy.stat_many(["."])[0]) is os.stat_result
    print("interpreters: ok")


def main():
    scratch = tempfile.mkdtemp()
    os.chdir(scratch)
    try:
        with open("file", "w") as file:
            file.write("text")
        with open("large", "wb") as file:
            file.write(bytes(range(250)) * 12000)
        os.symlink("file", "link")
        os.symlink("directory", "link to a directory")
        os.symlink("nowhere", "dangling")
        os.symlink("loop", "loop")
        os.mkdir("directory")
        os.mkfifo("fifo")
        for name in ("directory/below", b"not \xff UTF-8"):
            with open(name, "w"):
                pass
        os.utime("file", ns=(1, -1))
        os.mkdir("many")
        for i in range(10000):
            with open(f"many/{i}", "w") as file:
                file.write("x" * 200)
        scan()
        stat_and_read()
        threads()
        interpreters()
        copy_and_unlink()
    finally:
        os.chdir("/")
        shutil.rmtree(scratch)


main()
