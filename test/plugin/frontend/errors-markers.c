// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Markers that are used incorrectly.
// RUN: %clang -fsyntax-only -Xclang -verify %s
// RUN: %clangxx -x c++ -fsyntax-only -Xclang -verify %s
#include <cosy.h>
#include <unistd.h>

void unclosed(void)
{
	COSY_START; // expected-error {{COSY_START without COSY_END in this function}}
	getpid();
}

void unopened(void)
{
	getpid();
	COSY_END; // expected-error {{COSY_END without COSY_START before it in this function; put COSY_START before the first statement of the region}}
}

void nested(void)
{
	COSY_START; // expected-note {{region starts here}}
	getpid();
	COSY_START; // expected-error {{regions do not nest}}
	getpid();
	COSY_END;
}

/* One error each, without further errors for the markers that follow. */
void nested_and_ended(void)
{
	COSY_START; // expected-note {{region starts here}}
	getpid();
	COSY_START; // expected-error {{regions do not nest}}
	getpid();
	COSY_END;
	COSY_END;
}

void nested_in_a_block(int n)
{
	COSY_START; // expected-note {{region starts here}}
	if (n) {
		COSY_START; // expected-error {{regions do not nest}}
		getpid();
		COSY_END;
	}
	COSY_END;
}

void parentheses(void)
{
	COSY_START(); // expected-error {{COSY_START takes no parentheses}}
	getpid();
	COSY_END(); // expected-error {{COSY_END takes no parentheses}}
	COSY_START_NATIVE(); // expected-error {{COSY_START_NATIVE takes no parentheses}}
	COSY_END;
}

#ifdef __cplusplus
template <class T> struct Member {
	void unclosed()
	{
		COSY_START; // expected-error {{COSY_START without COSY_END in this function}}
		getpid();
	}
	friend void unopened(Member &)
	{
		COSY_END; // expected-error {{COSY_END without COSY_START before it in this function}}
	}
};
#endif

void other_block(int n)
{
	COSY_START; // expected-note {{region starts here}}
	if (n) {
		getpid();
		COSY_END; // expected-error {{COSY_END is in another block than its COSY_START}}
	}
}

void not_in_a_block(int n)
{
	if (n)
		COSY_START; // expected-error {{COSY_START has to be a statement of a block}}
}

int in_an_expression(int n)
{
	return COSY_START, n; // expected-error {{COSY_START has to be a statement of a block}}
}

/* These are valid. */
void jump_out(int n)
{
again:
	COSY_START;
	getpid();
	if (n == 2)
		goto out;
	if (n == 3)
		goto again;
inside:
	if (n-- > 10)
		goto inside;
	switch (n) {
	case 1:
		getpid();
	}
	COSY_END;
out:
	getppid();
}

void in_a_case(int n)
{
	switch (n) {
	case 1:
		COSY_START;
		getpid();
		COSY_END;
		break;
	default:
		break;
	}
}
