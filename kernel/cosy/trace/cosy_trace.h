/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cosy_trace.h - the tracepoints of the module, see docs/tracing.md.
 *
 * <trace/define_trace.h> includes this file by its name.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cosy

#if !defined(COSY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define COSY_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include <cosy/status.h>
#include <linux/cosy_async.h>

TRACE_DEFINE_ENUM(COSY_DONE);
TRACE_DEFINE_ENUM(COSY_UPCALL);
TRACE_DEFINE_ENUM(COSY_AGAIN);
TRACE_DEFINE_ENUM(COSY_LIMIT);
TRACE_DEFINE_ENUM(COSY_STEP);
TRACE_DEFINE_ENUM(COSY_RESULT);
TRACE_DEFINE_ENUM(COSY_FAILED);

TRACE_DEFINE_ENUM(COSY_ENTRY_DONE);
TRACE_DEFINE_ENUM(COSY_ENTRY_USER);
TRACE_DEFINE_ENUM(COSY_ENTRY_LEFT);

/* A compound was loaded. If loading failed, @handle is 0 and @error is the error. */
TRACE_EVENT(load,
	TP_PROTO(u64 handle, u64 size, long error),
	TP_ARGS(handle, size, error),
	TP_STRUCT__entry(
		__field(u64, handle)
		__field(u64, size)
		__field(long, error)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->size = size;
		__entry->error = error;
	),
	TP_printk("handle=%llu size=%llu error=%ld",
		  __entry->handle, __entry->size, __entry->error)
);

/* A compound is entered: it begins at slot 0, or resumes at another one. */
TRACE_EVENT(run,
	TP_PROTO(u64 handle, u32 pc),
	TP_ARGS(handle, pc),
	TP_STRUCT__entry(
		__field(u64, handle)
		__field(u32, pc)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->pc = pc;
	),
	TP_printk("handle=%llu pc=%u", __entry->handle, __entry->pc)
);

/* A compound is left with a status of <cosy/status.h>. The pc is valid unless it is done. */
TRACE_EVENT(leave,
	TP_PROTO(u64 handle, u32 pc, enum cosy_status status, u64 value),
	TP_ARGS(handle, pc, status, value),
	TP_STRUCT__entry(
		__field(u64, handle)
		__field(u32, pc)
		__field(u32, status)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->pc = status == COSY_DONE ? 0 : pc;
		__entry->status = status;
		__entry->value = value;
	),
	TP_printk("handle=%llu pc=%u status=%s value=%lld",
		  __entry->handle, __entry->pc,
		  __print_symbolic(__entry->status,
				   { COSY_DONE, "DONE" },
				   { COSY_UPCALL, "UPCALL" },
				   { COSY_AGAIN, "AGAIN" },
				   { COSY_LIMIT, "LIMIT" },
				   { COSY_STEP, "STEP" },
				   { COSY_RESULT, "RESULT" },
				   { COSY_FAILED, "FAILED" }),
		  (long long)__entry->value)
);

/* The system call @nr was made by its fast path. */
TRACE_EVENT(fast,
	TP_PROTO(u32 nr, long result),
	TP_ARGS(nr, result),
	TP_STRUCT__entry(
		__field(u32, nr)
		__field(long, result)
	),
	TP_fast_assign(
		__entry->nr = nr;
		__entry->result = result;
	),
	TP_printk("nr=%u result=%ld", __entry->nr, __entry->result)
);

/* A loop has taken an entry from its page. */
TRACE_EVENT(submit,
	TP_PROTO(u64 loop, u32 index, u32 nr),
	TP_ARGS(loop, index, nr),
	TP_STRUCT__entry(
		__field(u64, loop)
		__field(u32, index)
		__field(u32, nr)
	),
	TP_fast_assign(
		__entry->loop = loop;
		__entry->index = index;
		__entry->nr = nr;
	),
	TP_printk("loop=%llu index=%u nr=%u",
		  __entry->loop, __entry->index, __entry->nr)
);

DECLARE_EVENT_CLASS(entry_event,
	TP_PROTO(u64 loop, u32 index),
	TP_ARGS(loop, index),
	TP_STRUCT__entry(
		__field(u64, loop)
		__field(u32, index)
	),
	TP_fast_assign(
		__entry->loop = loop;
		__entry->index = index;
	),
	TP_printk("loop=%llu index=%u", __entry->loop, __entry->index)
);

/* The call of an entry is made, or its compound begins or resumes. */
DEFINE_EVENT(entry_event, start,
	TP_PROTO(u64 loop, u32 index),
	TP_ARGS(loop, index)
);

/* The file of a parked entry has had an event, or a thread has made its call. In any context. */
DEFINE_EVENT(entry_event, wake,
	TP_PROTO(u64 loop, u32 index),
	TP_ARGS(loop, index)
);

/*
 * A thread sleeps in the call of an entry, and wakes the next one for the queued entries. Emitted
 * by the thread that sleeps, under the lock of the run queue.
 */
DEFINE_EVENT(entry_event, handover,
	TP_PROTO(u64 loop, u32 index),
	TP_ARGS(loop, index)
);

/* An entry waits for a descriptor. */
TRACE_EVENT(park,
	TP_PROTO(u64 loop, u32 index, int fd),
	TP_ARGS(loop, index, fd),
	TP_STRUCT__entry(
		__field(u64, loop)
		__field(u32, index)
		__field(int, fd)
	),
	TP_fast_assign(
		__entry->loop = loop;
		__entry->index = index;
		__entry->fd = fd;
	),
	TP_printk("loop=%llu index=%u fd=%d",
		  __entry->loop, __entry->index, __entry->fd)
);

/* An entry was given back to the process, with a status of <linux/cosy_async.h>. */
TRACE_EVENT(complete,
	TP_PROTO(u64 loop, u32 index, u8 status, s64 result),
	TP_ARGS(loop, index, status, result),
	TP_STRUCT__entry(
		__field(u64, loop)
		__field(u32, index)
		__field(u8, status)
		__field(s64, result)
	),
	TP_fast_assign(
		__entry->loop = loop;
		__entry->index = index;
		__entry->status = status;
		__entry->result = result;
	),
	TP_printk("loop=%llu index=%u status=%s result=%lld",
		  __entry->loop, __entry->index,
		  __print_symbolic(__entry->status,
				   { COSY_ENTRY_DONE, "DONE" },
				   { COSY_ENTRY_USER, "USER" },
				   { COSY_ENTRY_LEFT, "LEFT" }),
		  __entry->result)
);

#endif /* COSY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE cosy_trace
#include <trace/define_trace.h>
