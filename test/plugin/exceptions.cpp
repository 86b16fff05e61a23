// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++: what has to be cleaned up when something throws cannot be in a region.
// RUN: %clangxx -O0 -S -o /dev/null -Xclang -verify %s
#include <cosy.h>
#include <unistd.h>

struct Guard { ~Guard() { close(3); } };
void may_throw();

void cleanup()
{
	COSY_START;
	{
		Guard g;
		may_throw(); // expected-error {{a cleanup or an exception handler, which is not supported in a region}}
	}
	COSY_END;
}

template <typename T> T plain(T n)
{
	COSY_START;
	for (T i = 0; i < n; i++)
		getpid();
	COSY_END;
	return n;
}
template long plain(long);

struct Reader {
	int fd;
	long size() { COSY_START; long n = lseek(fd, 0, SEEK_END); COSY_END; return n; }
};
long use(Reader &r) { return r.size(); }
