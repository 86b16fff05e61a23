// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions that stop in the middle, in the lifetime of objects: those around the region
// are destroyed as usual, those inside it are rejected.
// RUN: %build/bin/cosy-c++ -O0 -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// RUN: %build/bin/cosy-c++ -O2 -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// RUN: %clangxx -fsyntax-only -DINSIDE -Xclang -verify %s
#include <cosy.h>
#include <fcntl.h>
#include <stdexcept>
#include <stdio.h>
#include <string>
#include <unistd.h>

struct Loud {
	const char *name;
	explicit Loud(const char *name) : name(name) { printf("begin %s\n", name); }
	~Loud() { printf("end %s\n", name); }
};

static void around(int fd)
{
	Loud outer("outer");
	char c;

	try {
		Loud inner("inner");
		COSY_START_STOP_ON_ERROR;
		for (int i = 0; i < 3; i++)
			getppid(); // unlike the others, it cannot throw
		if (read(fd, &c, 1) < 0)
			printf("not reached\n");
		close(-1);
		printf("not reached\n");
		COSY_END;
		printf("%s failed\n", cosy_last_error() ? cosy_last_error()->call : "nothing");
	} catch (const std::exception &e) {
		printf("caught\n");
	}
}

#ifdef INSIDE
void inside(int n)
{
	COSY_START_STOP_ON_ERROR; // expected-note 2 {{region starts here}}
	Loud loud("inside"); // expected-error {{a region that may stop cannot contain the variable 'loud'}}
	close(-1);
	n += std::string("temporary").size(); // expected-error {{a region that may stop cannot contain this temporary object}}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(5), COSY_AT_LIMIT(COSY_STOP)); // expected-note {{region starts here}}
	while (n++ < 1000) {
		Loud loud("inside"); // expected-error {{a region that may stop cannot contain the variable 'loud'}}
	}
	COSY_END;
	COSY_START_WITH(COSY_MAX_MS(5), COSY_AT_LIMIT(COSY_KILL));
	Loud right("all right");
	getpid();
	COSY_END;
}
#endif

int main()
{
	// CHECK: begin outer
	// CHECK-NEXT: begin inner
	// CHECK-NEXT: read failed
	// CHECK-NEXT: end inner
	// CHECK-NEXT: end outer
	around(-1);
	// CHECK-NEXT: begin outer
	// CHECK-NEXT: begin inner
	// CHECK-NEXT: close failed
	// CHECK-NEXT: end inner
	// CHECK-NEXT: end outer
	around(open("/dev/null", O_RDONLY));
	return 0;
}
