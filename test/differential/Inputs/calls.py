# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random programs whose regions make system calls over a scratch directory.
#
# source(seed) is a program whose main is main_SEED. Each result is recorded (batch.h), and also the
# memory that calls have written. calls.h is the common code of all programs. Programs wait only
# where ticks of a timer end the wait, and use only names in the scratch directory.

import random
import re

HEADER = '#include "batch.h"\n#include "calls.h"\n'
FLAGS = ["-w", "-fwrapv", "-D_GNU_SOURCE"]
NATIVE_CPU_MS = 20000


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.indent = 0
        self.loops = []       # counters of the enclosing loops
        self.in_loop = 0      # of the region: break and continue stay inside it
        self.exit = None      # how this region can end early
        self.helpers = []
        self.labels = 0
        self.in_region = False

    # Text

    def emit(self, *lines):
        for line in lines:
            self.lines.append("\t" * self.indent + line if line else "")

    def open(self, line):
        self.emit(line + " {")
        self.indent += 1

    def close(self, line="}"):
        self.indent -= 1
        self.emit(line)

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *values):
        return self.rng.choice(values)

    def flags(self, *values):
        """A random subset of them."""
        chosen = [v for v in values if self.chance(.35)]
        return " | ".join(chosen) or "0"

    # Arguments

    def number(self):
        if self.loops and self.chance(.3):
            return f"{self.pick(*self.loops)} * {self.pick(1, 3, 16, 100)}"
        if self.chance(.2):
            return f"({self.pick('x', 'y')} & {self.pick(7, 63, 511)})"
        return str(self.pick(0, 1, 2, 7, 64, 100, 511, 512, 1000, 4096))

    def index(self):
        if self.loops and self.chance(.25):
            return f"{self.pick(*self.loops)} % NR_FDS"
        return str(self.rng.randrange(8))

    def fd(self):
        if self.chance(.06):
            return self.pick("-1", "99", "200", "(int)y | 128")
        return f"fd[{self.index()}]"

    def at(self):
        """A directory for the …at() calls."""
        return self.pick("AT_FDCWD", "AT_FDCWD", "home", self.fd())

    def path(self):
        if self.chance(.05):
            return self.pick("NULL", "(char *)8", "(char *)-4096", "buf[0]")
        if self.loops and self.chance(.25):
            return f"name[{self.pick(*self.loops)} % NAMES]"
        if self.chance(.12):
            return "name[(unsigned long)x % NAMES]"
        return f"name[{self.rng.randrange(16)}]"

    def memory(self):
        """An address in the buffers, with 4096 bytes after it."""
        if self.chance(.05):
            return self.pick("NULL", "(void *)16", "(void *)-4096")
        return f"buf[{self.pick(0, 1)}] + ({self.number()})"

    def size(self):
        if self.chance(.3):
            return f"({self.number()}) % 4097"
        return str(self.pick(0, 1, 3, 8, 26, 100, 512, 1000, 4096))

    def offset(self):
        return self.pick(self.number(), self.number(), "-1", "1L << 33", "-(" + self.number() + ")")

    def mode(self):
        return self.pick("0644", "0600", "0755", "0400", "0")

    def open_flags(self):
        return " | ".join([self.pick("O_RDONLY", "O_RDWR", "O_RDWR", "O_WRONLY"), "O_NONBLOCK",
                           self.pick("0", "O_CREAT", "O_CREAT", "O_CREAT | O_TRUNC",
                                     "O_CREAT | O_EXCL", "O_APPEND", "O_CREAT | O_APPEND",
                                     "O_DIRECTORY", "O_NOFOLLOW", "O_PATH", "O_TRUNC",
                                     "O_CLOEXEC")])

    # Calls: expressions with a result that can be recorded

    def simple_call(self):
        p, f, m, n, o = self.path, self.fd, self.memory, self.size, self.offset
        calls = [
            lambda: f"read({f()}, {m()}, {n()})",
            lambda: f"read({f()}, {m()}, {n()})",
            lambda: f"write({f()}, {m()}, {n()})",
            lambda: f"write({f()}, {m()}, {n()})",
            lambda: f"pread({f()}, {m()}, {n()}, {o()})",
            lambda: f"pwrite({f()}, {m()}, {n()}, {self.number()})",
            lambda: f"lseek({f()}, {o()}, {self.pick('SEEK_SET', 'SEEK_CUR', 'SEEK_END', 'SEEK_DATA', 'SEEK_HOLE', '77')})",
            lambda: f"sum_of_stat(fstat({f()}, &st))",
            lambda: f"sum_of_stat(stat({p()}, &st))",
            lambda: f"sum_of_stat(lstat({p()}, &st))",
            lambda: f"sum_of_stat(fstatat({self.at()}, {p()}, &st, {self.flags('AT_SYMLINK_NOFOLLOW', 'AT_EMPTY_PATH')}))",
            lambda: f"rename({p()}, {p()})",
            lambda: f"renameat2({self.at()}, {p()}, {self.at()}, {p()}, {self.pick('0', 'RENAME_NOREPLACE', 'RENAME_EXCHANGE')})",
            lambda: f"link({p()}, {p()})",
            lambda: f"symlink({p()}, {p()})",
            lambda: f"unlink({p()})",
            lambda: f"unlink({p()})",
            lambda: f"unlinkat({self.at()}, {p()}, {self.pick('0', 'AT_REMOVEDIR')})",
            lambda: f"mkdir({p()}, 0755)",
            lambda: f"mkdirat({self.at()}, {p()}, 0755)",
            lambda: f"rmdir({p()})",
            lambda: f"access({p()}, {self.pick('F_OK', 'R_OK', 'X_OK')})",
            lambda: f"chmod({p()}, {self.mode()})",
            lambda: f"truncate({p()}, {self.number()})",
            lambda: f"ftruncate({f()}, {self.number()})",
            lambda: f"fallocate({f()}, {self.flags('FALLOC_FL_KEEP_SIZE')}, {self.number()}, {self.number()})",
            lambda: f"fsync({f()})",
            lambda: f"fcntl({f()}, {self.pick('F_GETFL', 'F_GETFD', 'F_GETPIPE_SZ', '4444')}) & ~O_LARGEFILE",
            lambda: f"fcntl({f()}, F_SETFL, O_NONBLOCK | {self.pick('0', 'O_APPEND')})",
            lambda: f"fcntl({f()}, F_SETFD, FD_CLOEXEC)",
            lambda: f"fcntl({f()}, F_SETPIPE_SZ, {self.pick('4096', '8192', '65536')})",
            lambda: f"flock({f()}, {self.pick('LOCK_SH', 'LOCK_EX', 'LOCK_UN')} | LOCK_NB)",
            lambda: f"sendfile({f()}, {f()}, NULL, {n()})",
            lambda: f"splice({f()}, NULL, {f()}, NULL, {n()}, SPLICE_F_NONBLOCK)",
            lambda: f"tee({f()}, {f()}, {n()}, SPLICE_F_NONBLOCK)",
            lambda: f"copy_file_range({f()}, NULL, {f()}, NULL, {n()}, 0)",
            lambda: f"send({f()}, {m()}, {n()}, MSG_DONTWAIT | {self.pick('0', 'MSG_NOSIGNAL')})",
            lambda: f"recv({f()}, {m()}, {n()}, MSG_DONTWAIT | {self.pick('0', 'MSG_PEEK', 'MSG_TRUNC')})",
            lambda: f"shutdown({f()}, {self.pick('SHUT_RD', 'SHUT_WR', 'SHUT_RDWR', '9')})",
            lambda: f"poll(&(struct pollfd){{ {f()}, POLLIN | POLLOUT }}, 1, 0)",
            lambda: f"getsockopt({f()}, SOL_SOCKET, SO_TYPE, &option, &length)",
            lambda: f"setxattr({p()}, \"user.cosy\", {m()}, {self.pick(1, 8, 20)}, 0)",
            lambda: f"getxattr({p()}, \"user.cosy\", {m()}, {self.pick(0, 8, 100)})",
            lambda: f"ioctl({f()}, FIONREAD, &option)",
            lambda: f"umask({self.pick('022', '077', '0')})",
            lambda: f"sched_yield()",
            lambda: f"syscall(SYS_lseek, {f()}, {o()}, SEEK_SET)",
            lambda: f"dup2({f()}, {self.pick(40, 41)})",
            lambda: f"close({self.pick(40, 41, 77)})",
            lambda: f"getpid() - getpid()",
            lambda: f"fchdir(home)",
            lambda: f"chdir({self.pick(*['name[3]'] * 2, 'name[6]', 'name[13]')})",
            lambda: f"read_entries({f()}, buf[1], {self.pick(100, 512, 4096)})",
            lambda: f"read_events({f()}, buf[1], 512)",
            lambda: f"inotify_add_watch({f()}, {p()}, IN_ALL_EVENTS)",
            lambda: f"faccessat({self.at()}, {p()}, F_OK, 0)",
            lambda: f"fdatasync({f()})",
            lambda: f"utimensat({self.at()}, {p()}, NULL, 0)",
            lambda: f"utimensat({f()}, (r & {self.pick(1, 2)}) ? NULL : {p()}, NULL, 0)",
            lambda: f"futimens(r & 1 ? {self.at()} : {f()}, NULL)",
            lambda: f"fchmodat({self.at()}, {p()}, {self.mode()}, r & 1 ? AT_SYMLINK_NOFOLLOW : 0)",
            lambda: f"fcntl({f()}, r & {self.pick(1, 2)} ? F_GETOWN : F_GETFD, 0)",
            lambda: f"readahead({f()}, 0, 4096)",
        ]
        return self.pick(*calls)()

    def new_descriptor(self):
        """Lines that put something into one or two places of fd[]."""
        k = self.index()
        kind = self.rng.randrange(20)
        if kind < 10:
            opener = self.pick(
                lambda: f"open({self.path()}, {self.open_flags()}, {self.mode()})",
                lambda: f"openat({self.at()}, {self.path()}, {self.open_flags()}, {self.mode()})",
                lambda: f"creat({self.path()}, {self.mode()})",
                lambda: f"dup({self.fd()})",
                lambda: f"fcntl({self.fd()}, F_DUPFD_CLOEXEC, {self.pick(0, 10, 30)})",
                lambda: f"open({self.path()}, {self.open_flags()}, {self.mode()})")()
            return [f"close(fd[{k}]);", f"fd[{k}] = note({opener});"]
        if kind < 13:
            opener = self.pick("eventfd(3, EFD_NONBLOCK)", "epoll_create1(0)",
                               "inotify_init1(IN_NONBLOCK)",
                               "memfd_create(\"memory\", 0)", "memfd_create(\"memory\", MFD_CLOEXEC)")
            return [f"close(fd[{k}]);", f"fd[{k}] = note({opener});"]
        pair = self.pick("pipe2(pair, O_NONBLOCK)", "pipe2(pair, O_NONBLOCK)",
                         "socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair)",
                         "socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair)",
                         "pipe2((int *)8, O_NONBLOCK)")
        k = self.rng.randrange(7)
        return [f"close(fd[{k}]);", f"close(fd[{k + 1}]);",
                f"if (note({pair}) == 0) {{", f"\tfd[{k}] = pair[0];", f"\tfd[{k + 1}] = pair[1];",
                "} else {", f"\tfd[{k}] = fd[{k + 1}] = -1;", "}"]

    # Statements

    def statement(self, depth):
        kinds = [(self.call_statement, 30), (self.open_statement, 14), (self.observe, 10),
                 (self.compute, 5), (self.call_helper, 4 if self.helpers else 0),
                 (self.library, 4), (self.send_signal, 2), (self.fork_statement, 1)]
        if depth:
            kinds += [(self.if_statement, 10), (self.for_loop, 7), (self.while_loop, 3),
                      (self.switch, 3), (self.copy_loop, 3), (self.vector, 2), (self.map_file, 2),
                      (self.fill_pipe, 2), (self.epoll, 2)]
        if self.in_loop:
            kinds.append((self.leave_loop, 4))
        if self.exit and self.in_region:
            kinds.append((self.leave_region, 1))
        chosen = self.rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        if chosen in (self.if_statement, self.for_loop, self.while_loop, self.switch):
            chosen(depth)
        else:
            chosen()

    def block(self, depth, low=1, high=4):
        for _ in range(self.rng.randint(low, high)):
            self.statement(depth - 1)

    def condition(self):
        simple = [
            lambda: f"r {self.pick('<', '>', '==', '>=')} {self.pick(0, 0, 1, 100)}",
            lambda: f"(x ^ y) & {self.pick(1, 2, 4, 16)}",
            lambda: f"note({self.simple_call()}) {self.pick('<', '>', '>=')} 0",
            lambda: f"errno {self.pick('==', '!=')} {self.pick('ENOENT', 'EBADF', 'EEXIST', 'EAGAIN')}",
            lambda: f"fd[{self.index()}] >= 0",
        ]
        one = self.pick(*simple)()
        if self.chance(.25):
            return f"({one}) {self.pick('&&', '||')} ({self.pick(*simple)()})"
        return one

    def call_statement(self):
        call = self.simple_call()
        self.emit(self.pick(f"r = note({call});", f"r = note({call});", f"note({call});",
                            f"x += note({call});",
                            f"if ((r = note({call})) < 0)\n" + "\t" * (self.indent + 1) +
                            f"y {self.pick('^=', '+=', '-=')} errno;"))

    def open_statement(self):
        self.emit(*self.new_descriptor())

    def observe(self):
        f, b = self.fd(), self.pick(0, 1)
        self.emit(*self.pick(
            [f"r = note(read({f}, buf[{b}], {self.size()}));", f"note(sum_of(buf[{b}], r));"],
            [f"r = note(pread({f}, buf[{b}], {self.size()}, 0));",
             f"for (long k = 0; k < r; k++)", f"\tx = x * 5 + buf[{b}][k];"],
            [f"r = note(readlink({self.path()}, buf[{b}], {self.pick(3, 100)}));",
             f"note(sum_of(buf[{b}], r));"],
            [f"memset(&st, 0, sizeof(st));",
             f"note(sum_of_stat(fstatat(home, {self.path()}, &st, AT_SYMLINK_NOFOLLOW)));"],
            [f"note(lseek({f}, 0, SEEK_SET));", f"note(read_entries({f}, buf[{b}], 1024));"],
            [f"note(sum_of(buf[{b}], {self.pick(64, 512)}));"]))

    def compute(self):
        self.emit(self.pick(
            f"x = x * {self.pick(3, 5, 31)} + r;", "y ^= x >> 3;", "x = (int)y * 7 % 1000;",
            f"buf[0][(unsigned long)x % 4096] = y;", f"y += buf[1][{self.number()}];",
            f"memcpy(buf[1] + {self.pick(0, 5, 64)}, buf[0] + ({self.number()}), {self.size()});",
            f"memset(buf[1], 'A' + (x & 15), {self.pick(1, 64, 4096)});",
            f"memmove(buf[0] + {self.pick(1, 9)}, buf[0], {self.size()});",
            "r = x < y ? x : y;"))

    def library(self):
        n = self.rng.randrange(3)
        if n == 0:
            self.emit(f"snprintf(buf[1], 64, \"file-%d\", (int)({self.number()}));",
                      f"close(fd[{self.rng.randrange(8)}]);"
                      if self.chance(.2) else f"note(strlen(buf[1]));")
        elif n == 1:
            k = self.rng.randrange(8)
            self.emit(f"snprintf(buf[1], 64, \"f%ld\", x & 3);", f"close(fd[{k}]);",
                      f"fd[{k}] = note(open(buf[1], O_RDWR | O_CREAT | O_NONBLOCK, 0644));")
        else:
            self.emit("errno = 0;", "note(strtol(buf[0], NULL, 36) & 0xffff);")

    def send_signal(self):
        self.emit("kill(getpid(), SIGUSR1);", "note(signals);")

    def fork_statement(self):
        self.emit(f"note(child_of({self.rng.randrange(200)}));")

    def call_helper(self):
        name = self.pick(*self.helpers)
        self.emit(f"r = note({name}({self.pick('x', 'y', 'r', self.number())}, "
                  f"{self.rng.randrange(4)}));")

    def if_statement(self, depth):
        self.open(f"if ({self.condition()})")
        self.block(depth)
        if self.chance(.4):
            self.indent -= 1
            self.emit("} else {")
            self.indent += 1
            self.block(depth, 1, 2)
        self.close()

    def loop_body(self, depth, counter):
        self.loops.append(counter)
        self.in_loop += 1
        self.block(depth, 1, 4)
        self.in_loop -= 1
        self.loops.pop()

    def for_loop(self, depth):
        i = f"i{len(self.loops)}"
        self.open(f"for (int {i} = 0; {i} < {self.rng.randint(2, 6)}; {i}++)")
        self.loop_body(depth, i)
        self.close()

    def while_loop(self, depth):
        i = f"i{len(self.loops)}"
        self.emit("{")
        self.indent += 1
        self.emit(f"int {i} = 0;", "")
        self.open("do")
        self.loop_body(depth, i)
        self.close(f"}} while (++{i} < {self.rng.randint(2, 5)} && ({self.condition()}));")
        self.close()

    def leave_loop(self):
        self.emit(f"if ({self.condition()})", f"\t{self.pick('break', 'continue')};")

    def leave_region(self):
        self.emit(f"if (r == {self.rng.randrange(20)})", f"\t{self.exit};")

    def switch(self, depth):
        outer, self.in_loop = self.in_loop, 0     # a break would leave only the switch
        self.open(f"switch ({self.pick('r', 'x', 'errno')} & {self.pick(3, 7)})")
        for case in self.rng.sample(range(8), self.rng.randint(1, 4)):
            self.emit(f"case {case}:")
            self.indent += 1
            self.block(depth, 1, 2)
            self.emit("break;" if self.chance(.7) else "/* fallthrough */;")
            self.indent -= 1
        self.emit("default:")
        self.indent += 1
        self.block(depth, 1, 1)
        self.indent -= 1
        self.close()
        self.in_loop = outer

    def copy_loop(self):
        a, b = self.index(), self.index()
        size = self.pick(64, 1000, 4096)
        self.emit(f"note(lseek(fd[{a}], 0, SEEK_SET));")
        self.open(f"for (int k = 0; k < {self.rng.randint(2, 8)}; k++)")
        self.emit(f"r = note(read(fd[{a}], buf[1], {size}));", "if (r <= 0)", "\tbreak;",
                  f"if (note(write(fd[{b}], buf[1], r)) != r)", "\tbreak;")
        self.close()

    def vector(self):
        call = self.pick("readv", "writev")
        self.emit("{")
        self.indent += 1
        self.emit("struct iovec parts[3] = {",
                  f"\t{{ buf[0] + 100, {self.size()} }},", f"\t{{ {self.memory()}, {self.pick(0, 10)} }},",
                  f"\t{{ buf[1] + ({self.number()}), {self.size()} }},", "};", "",
                  f"r = note({call}({self.fd()}, parts, {self.pick(1, 2, 3, 3, 0, -1)}));",
                  "note(sum_of(buf[0], 200));")
        self.close()

    def map_file(self):
        """A mapping of a file that is then truncated."""
        self.emit("{")
        self.indent += 1
        self.emit(f"char *map;",
                  f"int file = note(open({self.pick('name[0]', 'name[1]', 'name[4]')}, O_RDWR | O_CREAT, 0644));",
                  "", "ftruncate(file, 8192);",
                  "map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);",
                  "if (note(map != MAP_FAILED)) {")
        self.indent += 1
        self.emit(f"map[{self.pick(0, 100, 4095)}] += {self.pick(1, 'x', 'y')};",
                  f"*(long *)(map + {self.pick(8, 4093, 5000)}) = {self.pick('x', 'y', 'r', 77)};",
                  f"note(pwrite(file, \"written\", 7, {self.pick(0, 4090)}));",
                  f"note(sum_of(map, {self.pick(300, 8192)}));")
        if self.chance(.5):
            self.emit(f"note(mprotect(map, 4096, {self.pick('PROT_READ', 'PROT_NONE')}));",
                      f"note(read(file, map, 10));")
        self.emit(f"note(msync(map, 8192, MS_SYNC));", "note(munmap(map, 8192));")
        self.close()
        self.emit("close(file);")
        self.close()

    def fill_pipe(self):
        self.emit("if (note(pipe2(pair, O_NONBLOCK)) == 0) {")
        self.indent += 1
        size = self.pick(1000, 4096)
        self.emit(f"fcntl(pair[1], F_SETPIPE_SZ, {self.pick(4096, 16384)});",
                  f"while ((r = write(pair[1], buf[0], {size})) == {size})", "\ty++;",
                  "note(r);", "note(y);")
        if self.chance(.5):
            self.emit("close(pair[0]);", "note(write(pair[1], buf[0], 10));", "note(signals);",
                      "close(pair[1]);")
        else:
            self.emit(f"note(read(pair[0], buf[1], {self.pick(1, 4096, 5000)}));",
                      f"note(write(pair[1], buf[0], {self.pick(1, 4096)}));",
                      "close(pair[0]);", "close(pair[1]);")
        self.close()

    def epoll(self):
        k = self.index()
        self.emit(f"if ((r = note(epoll_create1(0))) >= 0) {{")
        self.indent += 1
        self.emit("struct epoll_event event = { EPOLLIN | EPOLLOUT | EPOLLET, { .u32 = 5 } }, got[4];", "",
                  f"note(epoll_ctl(r, EPOLL_CTL_ADD, fd[{k}], &event));",
                  f"event.data.u32 = 6;",
                  f"note(epoll_ctl(r, {self.pick('EPOLL_CTL_ADD', 'EPOLL_CTL_MOD', 'EPOLL_CTL_DEL')}, {self.fd()}, &event));",
                  "y = note(epoll_wait(r, got, 4, 0));",
                  "for (long k = 0; k < y; k++)", "\tnote(got[k].events + got[k].data.u32);",
                  "close(r);")
        self.close()

    # Scenarios: regions of a special form

    def interrupted(self):
        """A wait that a timer's ticks end."""
        restart = self.chance(.5)
        wait, after = self.pick(
            ("read(pair[0], buf[1], 10)", True), ("read(pair[0], buf[1], 10)", True),
            ("poll(&(struct pollfd){ pair[0], POLLIN }, 1, -1)", False),
            ("nanosleep(&(struct timespec){ 1000 }, NULL)", False),
            ("recv(pair[0], buf[1], 10, 0)", True),
            ("epoll_wait(epoll, &event, 1, -1)", False))
        sockets = "recv" in wait
        self.emit("/* Ticks interrupt a wait. */",
                  f"note({'socketpair(AF_UNIX, SOCK_STREAM, 0, pair)' if sockets else 'pipe(pair)'});")
        if "epoll" in wait:
            self.emit("epoll = note(epoll_create1(0));",
                      "note(epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event));")
        # With SA_RESTART a signal must arrive. Otherwise the wait would never end.
        ticks = self.rng.randint(1, 3)
        ends = restart and after
        self.emit(f"start_ticks({'SA_RESTART' if restart else '0'}, {ticks}, "
                  f"{'pair[1]' if ends else '-1'}, 0);", "COSY_START;")
        if not ends and self.chance(.5):
            self.emit(f"for (int k = 0; k < {self.rng.randint(1, 4)}; k++)",
                      f"\tnote({wait});")
        else:
            self.emit(f"r = note({wait});", "x += r;")
        self.emit("COSY_END;", "stop_ticks();", f"note(ticks >= {ticks if ends else 1});",
                  "close(pair[0]);", "close(pair[1]);")
        if "epoll" in wait:
            self.emit("close(epoll);")

    def jumped_out(self):
        self.emit("/* A handler jumps out of a wait. */", "note(pipe(pair));",
                  "if (!sigsetjmp(tick_env, 1)) {")
        self.indent += 1
        # This is in the region, so that the region has begun.
        self.emit("COSY_START;",
                  f"start_ticks({self.pick('SA_RESTART', '0')}, {self.rng.randint(1, 3)}, -1, 1);")
        self.open("while (1)")
        self.emit(f"{self.pick('read(pair[0], buf[1], 1)', 'poll(NULL, 0, 1000)')};")
        self.close()
        self.emit("COSY_END;")
        self.close()
        # The times of the ticks determine whether a read() has failed before.
        self.emit("stop_ticks();", "errno = 0;", "close(pair[0]);", "close(pair[1]);")

    def wild(self):
        """An access that faults, in a region."""
        kind = self.rng.randrange(4)
        self.emit("/* A wild access. */")
        if kind == 0:
            self.emit("map = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);")
        elif kind == 1:
            self.emit("epoll = note(memfd_create(\"short\", 0));",
                      "map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, epoll, 0);")
        elif kind == 2:
            self.emit("map = NULL;")
        else:
            self.emit("map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);",
                      "mprotect(map + 4096, 4096, PROT_NONE);")
        self.emit("catch_faults(map);", "if (!sigsetjmp(fault_env, 1)) {")
        self.indent += 1
        self.emit("COSY_START;", f"note({self.simple_call()});")
        self.open(f"for (int k = {self.pick(0, 4090, 4096)}; k < 8000; k += {self.pick(1, 3, 64)})")
        self.emit(self.pick("map[k] = k;", "note(map[k]);", "*(int *)(map + k) += 3;",
                            "memset(map + (k & ~63), 1, 50);", "note(strlen(map + k));"))
        if self.chance(.3):
            self.emit("note(getppid() > 0);")
        self.close()
        self.emit(f"note({self.simple_call()});", "COSY_END;")
        self.close()
        # Locals that changed between sigsetjmp() and siglongjmp() have undefined values.
        self.emit("x = y = r = 9;", "signal(SIGSEGV, SIG_DFL);", "signal(SIGBUS, SIG_DFL);")

    def few_descriptors(self):
        # At its first region, a program gets a descriptor whose number is the limit
        # (docs/limits.md). This must not be the lower limit.
        self.emit("/* Descriptors run out. */",
                  "COSY_START;", "note(getpid() == getppid());", "COSY_END;",
                  f"setrlimit(RLIMIT_NOFILE, &(struct rlimit){{ {self.pick(12, 20)}, 1024 }});",
                  "COSY_START;")
        self.open(f"for (int k = 0; k < {self.rng.randint(8, 20)}; k++)")
        self.emit(self.pick("note(dup(home));", "note(open(\".\", O_RDONLY));",
                            "note(pipe2(pair, O_NONBLOCK));", "note(eventfd(0, 0));"))
        self.close()
        self.emit("note(close_range(6, 30, 0));", "COSY_END;",
                  "for (int k = 0; k < NR_FDS; k++)", "\tif (fd[k] >= 6)", "\t\tfd[k] = -1;",
                  "setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 1024, 1024 });")

    def plain_region(self, size):
        self.in_region = True
        if self.chance(.6):
            self.labels += 1
            self.exit = f"goto out{self.labels}"
        self.emit("COSY_START;")
        # A loop around a region: break and continue leave it.
        for _ in range(size):
            self.statement(3)
        self.emit("COSY_END;")
        if self.exit:
            # The label needs a statement that is not the target of a jump into the region.
            self.indent -= 1
            self.emit(f"out{self.labels}:")
            self.indent += 1
            self.emit(f"note({self.labels});")
        self.in_region, self.exit = False, None

    def helper(self, n):
        """A function that regions call."""
        name = f"helper{n}"
        self.emit(f"static long {name}(long a, int depth)")
        self.emit("{")
        self.indent = 1
        self.emit("long x = a, y = depth, r = 0;", "int pair[2], option = 0;",
                  "socklen_t length = sizeof(option);",
                  f"char local[{self.pick(16, 200)}] = \"local\";", "")
        recursive = self.chance(.25)
        if recursive:
            self.emit("if (depth > 0)", f"\tx += {name}(a + 1, depth - 1);")
        self.emit(f"local[(unsigned long)x % sizeof(local)] = 'l';")
        marked = self.chance(.3)
        if marked:
            self.emit("COSY_START;")
            self.in_region, self.exit = True, "return -7"
        for _ in range(self.rng.randint(1, 5)):
            self.statement(2)
        if marked:
            self.emit("COSY_END;")
            self.in_region, self.exit = False, None
        self.emit(f"note(sum_of(local, {self.pick(5, 16)}));",
                  self.pick("return x + y;", "return r;", "return x > y ? x : r;"))
        self.indent = 0
        self.emit("}", "")
        self.helpers.append(name)

    def main(self):
        for n in range(self.rng.randrange(4)):
            self.helper(n)
        self.emit("int main(void)", "{")
        self.indent = 1
        self.emit("long x = 17, y = 3, r = 0;", "int pair[2] = { -1, -1 }, option = 0, epoll = -1;",
                  "socklen_t length = sizeof(option);",
                  "struct epoll_event event = { .events = EPOLLIN };",
                  "static char *volatile map;", "", "start();")
        for k in self.rng.sample(range(7), 3):
            self.emit(*self.new_descriptor())
        for _ in range(self.rng.randint(1, 3)):
            self.emit("")
            scenario = self.rng.choices(
                [self.interrupted, self.jumped_out, self.wild, self.few_descriptors, None],
                [2, 1, 2, 1, 14])[0]
            if scenario:
                scenario()
            else:
                self.plain_region(self.rng.randint(3, 14))
            if self.chance(.5):
                self.statement(1)
        self.emit("", "note(x);", "note(y);", "return 0;")
        self.indent = 0
        self.emit("}", "")


def source(seed):
    program = Program(seed)
    program.main()
    text = "\n".join(program.lines)
    text = re.sub(r"\b(helper\d+|main)\b", rf"\1_{seed}", text)
    return f"/* calls.py, seed {seed} */\n{text}"
