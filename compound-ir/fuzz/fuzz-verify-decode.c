// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * fuzz-verify-decode.c - libFuzzer target: verify any bytes, decode valid images.
 *
 * The copy is exactly as large as the input, so that the sanitizer reports every access
 * outside it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/decode.h>
#include <cosy/verify.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cosy_diag diag = { NULL, 0 };
	struct cosy_code *code;
	void *image = malloc(n ? n : 1);
	unsigned int flags;

	if (!image)
		abort();
	if (n)
		memcpy(image, bytes, n);
	if (cosy_verify(image, n, &diag)) {
		if (!diag.reason || diag.offset > n)
			abort();
		free(image);
		return 0;
	}
	for (flags = 0; flags <= (COSY_DECODE_NESTED | COSY_DECODE_PARKS); flags++) {
		code = malloc(cosy_code_size(image));
		if (!code)
			abort();
		cosy_decode(image, code, flags, NULL);
		if (!cosy_pc_valid(code, 0) ||
		    cosy_pc_valid(code, code->ninsns))
			abort();
		free(code);
	}
	free(image);
	return 0;
}
