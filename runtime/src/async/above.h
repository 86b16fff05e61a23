/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * above.h - what the lower files call of those above them.
 */
#ifndef COSY_LOOP_ABOVE_H
#define COSY_LOOP_ABOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"

struct cosy_async;
struct cosy_loop;

/**
 * struct cosy_above - what the files below dispatch.c call of it, and of those above
 * @made:	  a thread has made the call of an entry: cosy_thread_made()
 * @lost:	  the module was lost: cosy_dispatch_lost()
 * @again:	  the ring gives a call back: cosy_page_submit_again()
 * @reply:	  the ring gives a reply back: cosy_reply_submit()
 * @cancel_task: cosy_task_cancel()
 * @task_slot:	  cosy_task_slot()
 * @ask_tasks:	  cosy_task_ask_all()
 * @only_sends:  cosy_task_only_sends()
 * @task_done:	  cosy_task_done(), the callback of calls of functions without a colour
 * @resume:	  cosy_task_resume(), which it calls
 */
struct cosy_above {
	void (*made)(struct cosy_loop *loop, uint32_t slot, int64_t result);
	void (*lost)(struct cosy_loop *loop);
	void (*again)(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how, long nr,
		      const uint64_t args[6], uint32_t flags);
	void (*reply)(struct cosy_loop *loop, struct cosy_async *op, const uint64_t send[6],
		      int32_t sent, const uint64_t receive[6]);
	struct cosy_async *(*cancel_task)(struct cosy_loop *loop, const struct cosy_async *op);
	uint32_t (*task_slot)(const struct cosy_async *call);
	void (*ask_tasks)(struct cosy_loop *loop);
	void (*only_sends)(const struct cosy_async *call);
	void (*task_done)(struct cosy_async *call);
	bool (*resume)(struct cosy_async *call, int *error);
};

/* create.c fills it in. */
extern const struct cosy_above cosy_above;

#endif /* COSY_LOOP_ABOVE_H */
