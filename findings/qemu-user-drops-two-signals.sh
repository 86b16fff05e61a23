#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# QEMU 7.2 in user mode: of 31 real-time signals, the last two, 63 and 64 (SIGRTMAX), do not work, and sigaction() does not say
# so: it returns 0, and the handler never runs, because kill() and timer_create() with these numbers fail with EINVAL. A program
# that takes its signals from SIGRTMAX down, or asks by sigaction() which ones there are, gets none or the wrong answer.
# The guest's C library is given two signals for itself, of which the host's library has used two already. Comments in
# QEMU's code say so; nothing was found in its documentation. The guest here has the host's architecture.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack qemu-user=1:7.2+dfsg-7+deb12u18+b3
cat >signals.c <<'END'
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
	handled = number;
}

/* Print which real-time signals have a handler, and which of these can be sent, by kill() and by a timer. */
int main(void)
{
	int with_handler = 0, sent = 0, last_sent = 0, timers = 0;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		struct sigaction action = { .sa_handler = handle };
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = number };
		timer_t timer;

		if (sigaction(number, &action, NULL))
			continue;
		with_handler++;
		handled = 0;
		if (!kill(getpid(), number) && handled == number) {
			sent++;
			last_sent = number;
		}
		if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
			timers++;
	}
	printf("%d to %d: handlers %d, sent %d, the last %d, timers %d\n", SIGRTMIN, SIGRTMAX, with_handler, sent,
	       last_sent, timers);
	return 0;
}
END
cc -Wall -o signals signals.c
expect "natively" "34 to 64: handlers 31, sent 31, the last 64, timers 31" "$(./signals)"
expect "qemu-x86_64" "34 to 64: handlers 31, sent 29, the last 62, timers 29" "$(qemu-x86_64 ./signals)"
