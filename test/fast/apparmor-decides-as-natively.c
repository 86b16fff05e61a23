// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AppArmor allows, denies and logs the same for fast paths as for plain calls, in the same order:
// with profiles that only complain, that log all allowed operations, and that allow little.
// REQUIRES: root
// Kernels that are built here have no AppArmor.
// UNSUPPORTED: kernel-debug, kernel-kcsan, kernel-rt
// RUN: test -e %build/fetched/apparmor_parser || { echo "get it with: ./cosy setup"; exit 1; }
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE -DPARSER='"%build/fetched/apparmor_parser"' %s -o %t
// RUN: %vm %S/Inputs/ways --on "tmpfs overlayfs" --as root %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]}} lines
#include "Inputs/security.h"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define LAST "the-last-one"

/* Accesses of libcosy; and a last operation, whose log entry comes after all others. */
#define ALWAYS "/dev/cosy rwm,\n/proc/*/task/ r,\naudit deny @{DIR}/" LAST "/ w,\n"

static const struct profile {
	const char *what, *flags, *rules;
} profiles[] = {
	{ "complaining", "flags=(complain)", "" },
	{ "logging", "flags=(audit)", "/** rwlk,\ncapability,\n" },
	{ "refusing", "", "" },
	{ "allowing some to be read", "",
	  "@{DIR}/from10001 rw,\n@{DIR}/to rw,\n@{DIR}/{,from65536,from4096} r,\n" },
	{ "allowing some to be written", "flags=(audit)",
	  "@{DIR}/{made,from*} rw,\n@{DIR}/ r,\ndeny @{DIR}/to w,\n@{DIR}/a-link w,\n" },
	{ "allowing some to be linked", "",
	  "@{DIR}/{a-link,from10001,to} rw,\n@{DIR}/b-link wl,\n@{DIR}/hard l -> @{DIR}/b-link,\n"
	  "@{DIR}/dir/ w,\n@{DIR}/ r,\n" },
	{ "allowing some to be renamed", "flags=(audit)",
	  "@{DIR}/{a-link,dir/,from*,other-name,to} rwl,\naudit @{DIR}/b-link wl,\n"
	  "deny @{DIR}/hard wl,\n@{DIR}/ r,\n" },
};
#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

static char *profile_name(size_t i)
{
	static char name[60];

	snprintf(name, sizeof(name), "cosy-apparmor-%d-%zu", getpid(), i);
	return name;
}

static void load_profiles(void)
{
	FILE *parser = popen(PARSER " --add --skip-cache --quiet", "w");

	if (parser)
		fprintf(parser, "@{DIR}=%s\n", directory);
	for (size_t i = 0; parser && i < PROFILES; i++)
		fprintf(parser, "profile %s %s {\n" ALWAYS "%s}\n", profile_name(i),
			profiles[i].flags, profiles[i].rules);
	if (!parser || pclose(parser)) {
		printf("the profiles were not loaded\n");
		exit(1);
	}
}

static void unload_profile(const char *name)
{
	int fd = open("/sys/kernel/security/apparmor/.remove", O_WRONLY);

	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		printf("%s was not removed: %s\n", name, strerror(errno));
	close(fd);
}

/* Read the log from now on. */
static int open_log(void)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1u << (AUDIT_NLGRP_READLOG - 1),
	};
	struct {
		struct nlmsghdr header;
		struct audit_status status;
	} no_limit = {
		{ .nlmsg_len = sizeof(no_limit),
		  .nlmsg_type = AUDIT_SET,
		  .nlmsg_flags = NLM_F_REQUEST },
		{ .mask = AUDIT_STATUS_BACKLOG_LIMIT, .backlog_limit = 0 },
	};
	int log = socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT), size = 4 << 20;

	setsockopt(log, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	/* AppArmor loses a message instead of waiting. */
	if (bind(log, (struct sockaddr *)&address, sizeof(address)) ||
	    send(log, &no_limit, sizeof(no_limit), 0) < 0)
		printf("no log: %s\n", strerror(errno));
	return log;
}

/* Remove text that differs from run to run: "NAME..." up to the next blank. */
static void cut(char *text, const char *name)
{
	char *at = strstr(text, name);

	if (at)
		memmove(at, at + strcspn(at, " "), strlen(at + strcspn(at, " ")) + 1);
}

/* Read all messages about a profile, up to the last operation. */
static void print_log(int log, const char *profile)
{
	struct {
		struct nlmsghdr header;
		char text[8192];
	} message;
	struct pollfd ready = { .fd = log, .events = POLLIN };
	ssize_t n;

	do {
		if (poll(&ready, 1, 200000) != 1) {
			printf("the log ends early\n");
			return;
		}
		n = recv(log, &message, sizeof(message) - 1, 0);
		if (n < (ssize_t)sizeof(message.header)) {
			printf("log: %s\n", strerror(errno));
			return;
		}
		((char *)&message)[n] = '\0';
		/* The number of libcosy's descriptor is also omitted. */
		if (!strstr(message.text, profile) || strstr(message.text, "setrlimit"))
			continue;
		cut(message.text, "audit(");
		cut(message.text, "profile=");
		cut(message.text, "pid=");
		print_line("", message.text);
	} while (!strstr(message.text, LAST));
}

static void ask_last(void)
{
	mkdir(LAST, 0700);
}

/* Run a child with a profile. Its output goes through a pipe, to which no rule applies. */
static void confined(const char *profile)
{
	int log = open_log(), out[2], status;
	static char text[65536];
	size_t length = 0;
	pid_t child;
	ssize_t n;

	fflush(stdout);
	if (pipe(out))
		exit(1);
	child = fork();
	if (!child) {
		FILE *current = fopen("/proc/self/attr/current", "w");

		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		if (!current || fprintf(current, "changeprofile %s", profile) < 0 ||
		    fclose(current))
			exit(2);
		atexit(ask_last);
		all_regions();
		exit(0);
	}
	close(out[1]);
	while ((n = read(out[0], text + length, sizeof(text) - length)) > 0)
		length += (size_t)n;
	close(out[0]);
	waitpid(child, &status, 0);
	rmdir(LAST);
	printf("%.*sended with %d\n", (int)length, text, status);
	print_log(log, profile);
	close(log);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (geteuid() != 0)
		return 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	directory = argv[1];
	if (access("/sys/kernel/security/apparmor", F_OK) &&
	    mount("none", "/sys/kernel/security", "securityfs", 0, NULL))
		printf("securityfs: %s\n", strerror(errno));
	load_profiles();
	for (size_t i = 0; i < PROFILES; i++) {
		printf("%s\n", profiles[i].what);
		confined(profile_name(i));
		unload_profile(profile_name(i));
	}
	return 0;
}
