// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * load: the cost of loading per operation: verifying and decoding in the library and in the
 * module, and freeing. It is the slope of the costs over the number of operations.
 */

#include <stdlib.h>

#include "../common/bench.h"
#include "../common/image.h"

#define POINTS 4

static double slope(void)
{
	static const unsigned int length[POINTS] = { 10, 100, 1000, 4000 };
	double x[POINTS], y[POINTS];

	for (unsigned int point = 0; point < POINTS; point++) {
		const unsigned int n = length[point];
		struct cosy_op *ops = calloc(n, sizeof(*ops));
		struct cosy *compound;
		uint64_t start, frame[2];

		if (!ops)
			bench_die("ops");
		for (unsigned int i = 0; i < n; i++)
			ops[i] = (struct cosy_op){ .code = COSY_OP_ADD, .width = 8, .dst = 1,
						   .a = 1, .b = COSY_NONE, .imm = i };
		/* The first operation jumps to the end, so that all runs cost the same. */
		ops[0] = (struct cosy_op){ .code = COSY_OP_JMP, .target = n - 1 };
		ops[n - 1] = (struct cosy_op){ .code = COSY_OP_EXIT };

		start = bench_now();
		compound = image_load(ops, n, 2, 1);
		/* libcosy may load the compound into the module only at its first run. */
		frame[0] = 0;
		if (cosy_run(compound, frame) != 0)
			bench_die("cosy_run");
		cosy_free(compound);
		x[point] = n;
		y[point] = (double)(bench_now() - start);
		free(ops);
	}
	return bench_fit(x, y, POINTS);
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "load", .per = "operation", .measure = slope },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
