// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * fuzz-asm.c - libFuzzer target: assemble any text. An image that results must be the same
 * after disassembling and assembling it. So must a valid image.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/asm.h>

/* Disassemble and assemble the image; it must not change. */
static void round_trip(const void *image, size_t size, unsigned int flags)
{
	struct cosy_asm_error error;
	struct cosy_diag diag;
	char *text = NULL;
	size_t len, again_size;
	void *again;
	FILE *out = open_memstream(&text, &len);

	if (!out || cosy_disassemble(image, size, flags, out, &diag) ||
	    fclose(out))
		abort();
	again = cosy_assemble(text, len, &again_size, &error);
	if (!again) {
		fprintf(stderr, "%s\n%u:%u: %s\n", text, error.line,
			error.column, error.text);
		abort();
	}
	if (again_size != size || memcmp(image, again, size)) {
		fprintf(stderr, "%s\nnot the same\n", text);
		abort();
	}
	free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cosy_asm_error error = { 0, 0, "" };
	struct cosy_diag diag;
	size_t size = n;
	void *image = malloc(n ? n : 1);

	if (!image)
		abort();
	if (n)
		memcpy(image, bytes, n);
	if (cosy_verify(image, n, &diag)) {
		free(image);
		image = cosy_assemble((const char *)bytes, n, &size, &error);
		if (!image) {
			if (!error.line || !error.column || !*error.text)
				abort();
			return 0;
		}
	}
	round_trip(image, size, COSY_DIS_PC);
	free(image);
	return 0;
}
