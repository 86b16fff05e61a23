// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The descriptor for loading programs is only for users who may load them. */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <sys/wait.h>

#define USER	65531

int main(void)
{
	struct cosy_yield yield = { .size = sizeof(yield) };
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		int dev = open_device();

		if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
			die("setresuid");
		_exit(ioctl(dev, COSY_IOC_YIELD, &yield) ? errno : 0);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && (WEXITSTATUS(status) == EPERM ||
				    WEXITSTATUS(status) == EOPNOTSUPP),
	      "no descriptor of the kernel's type information without CAP_BPF");
	return finish();
}
