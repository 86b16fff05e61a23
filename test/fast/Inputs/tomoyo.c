// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * tomoyo.c - TOMOYO's view of a program that uses each kind of fast path: what it learns, what it
 * logs, and what it denies.
 *
 *	tomoyo DIRECTORY
 *
 * The kernel has to be booted with TOMOYO_loader=/bin/true TOMOYO_trigger=/tmp/start-tomoyo.
 */
#include "security.h"

#include <stdarg.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define POLICY "/sys/kernel/security/tomoyo/"

__attribute__((format(printf, 2, 3))) static void put(const char *name, const char *format, ...)
{
	char path[100], text[2000];
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), POLICY "%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("%s: %s: %s\n", name, text, strerror(errno));
	close(fd);
}

/* Enable it, which is possible only once. This program may change the policy later. */
static void start(void)
{
	char self[200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (access(POLICY, F_OK) && mount("none", "/sys/kernel/security", "securityfs", 0, NULL)) {
		printf("securityfs: %s\n", strerror(errno));
		exit(1);
	}
	self[n > 0 ? n : 0] = '\0';
	if (access("/tmp/start-tomoyo", F_OK) == 0)
		return;
	put("manager", "%s\n", self);
	put("profile",
	    "PROFILE_VERSION=20150505\n"
	    "0-PREFERENCE={ max_audit_log=100000 max_learning_entry=100000 }\n"
	    "0-CONFIG={ mode=disabled grant_log=no reject_log=no }\n"
	    "1-PREFERENCE={ max_audit_log=100000 max_learning_entry=100000 }\n"
	    "1-CONFIG={ mode=learning grant_log=yes reject_log=yes }\n"
	    "3-PREFERENCE={ max_audit_log=100000 max_learning_entry=100000 }\n"
	    "3-CONFIG={ mode=enforcing grant_log=yes reject_log=yes }\n");
	if (symlink("/bin/true", "/tmp/start-tomoyo") || system("/tmp/start-tomoyo"))
		printf("TOMOYO does not start\n");
}

/* The policy of a domain. */
static void print_policy(const char *domain)
{
	FILE *file = fopen(POLICY "domain_policy", "r+");
	char line[4000];

	if (!file || fprintf(file, "select %s\n", domain) < 0 || fflush(file)) {
		printf("domain_policy: %s\n", strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "file ", 5))
			print_line("", line);
	}
	fclose(file);
}

/* The log of permitted and denied operations. Each open returns one entry, of three lines. */
static void print_log(void)
{
	char entry[8000];
	ssize_t n;

	do {
		int fd = must_open(POLICY "audit", O_RDONLY);
		char *line = entry;

		n = read(fd, entry, sizeof(entry) - 1);
		close(fd);
		entry[n > 0 ? n : 0] = '\0';
		for (int i = 0; line && i < 2; i++) {
			line = strchr(line, '\n');
			line += line != NULL;
		}
		if (line && strstr(entry, "<kernel> /domain-")) {
			line[strcspn(line, "\n")] = '\0';
			print_line(strstr(entry, "granted=yes") ? "" : "refused: ", line);
		}
	} while (n > 0);
}

/* A child in a separate domain, with these rules. */
static void in_domain(int profile, const char *rules)
{
	char domain[100];
	int ready[2], status;
	pid_t child;
	char c;

	if (pipe(ready))
		exit(1);
	fflush(stdout);
	child = fork();
	if (!child) {
		if (read(ready[0], &c, 1) != 1)
			exit(1);
		put("self_domain", "<kernel> /domain-%d", getpid());
		all_regions();
		exit(0);
	}
	snprintf(domain, sizeof(domain), "<kernel> /domain-%d", child);
	put("domain_policy", "select pid=%d\ntask manual_domain_transition %s\n", child, domain);
	put("domain_policy", "%s\nuse_profile %d\nfile read/write /dev/cosy\nfile getattr /dev/cosy\n"
	    "file ioctl /dev/cosy 0-4294967295\n%s", domain, profile, rules);
	if (write(ready[1], "", 1) != 1)
		exit(1);
	waitpid(child, &status, 0);
	printf("ended with %d; what it may do:\n", status);
	print_policy(domain);
	printf("what it did:\n");
	print_log();
	put("domain_policy", "delete %s\n", domain);
	close(ready[0]);
	close(ready[1]);
}

int main(int argc, char **argv)
{
	static const char *const allowed[] = {
		"file read/write %s/from10001\nfile create %s/to 0-07777\nfile read/write %s/to\n"
		"file read %s/from65536\nfile getattr %s/from4096\nfile read %s/\n",
		"file create/read/write/append %s/made 0-07777\nfile read/write/append %s/made\n"
		"file read %s/\nfile getattr %s/\nfile getattr %s/from1\nfile chmod %s/from4096 0-07777\n",
		"file symlink/unlink %s/a-link\nfile rename %s/a-link %s/b-link\nfile unlink %s/b-link\n"
		"file link %s/from4096 %s/hard\nfile mkdir %s/dir/ 0-07777\n"
		"file read %s/\n",
	};
	char rules[2000];

	if (argc != 2)
		return 2;
	if (geteuid() != 0)
		return 0;
	directory = argv[1];
	start();
	printf("learning\n");
	in_domain(1, "");
	printf("nothing allowed\n");
	in_domain(3, "");
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		printf("some allowed, %zu\n", i);
		snprintf(rules, sizeof(rules), allowed[i], directory, directory, directory, directory,
			 directory, directory, directory, directory);
		in_domain(3, rules);
	}
	return 0;
}
