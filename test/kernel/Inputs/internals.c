// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * internals.c - the code that checks the module's relied-on functions against a
 * kernel's type information, in user space.
 *
 * internals			with type information that is generated here
 * internals FILE		the functions of kernel/internals.def in FILE; then, for each
 *				function: give it another prototype, and print the fast
 *				paths that this disables
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/btf.h>
#include <sys/syscall.h>

#include "kernel/btf.h"

static int failures;

static void check(bool good, const char *what)
{
	printf("%s: %s\n", good ? "ok" : "FAILED", what);
	failures += !good;
}

/* Type information that is generated. */
static struct {
	uint32_t types[512];
	uint32_t ntypes, count;
	char strings[1024];
	uint32_t nstrings;
} made;

static void begin(void)
{
	memset(&made, 0, sizeof(made));
	made.nstrings = 1;
}

static uint32_t string(const char *s)
{
	uint32_t at = made.nstrings;

	if (!*s)
		return 0;
	made.nstrings += strlen(s) + 1;
	assert(made.nstrings <= sizeof(made.strings));
	strcpy(made.strings + at, s);
	return at;
}

static void word(uint32_t w)
{
	assert(made.ntypes < sizeof(made.types) / sizeof(*made.types));
	made.types[made.ntypes++] = w;
}

/* Begin a type; word() adds its data. Returns its number. */
static uint32_t type(const char *name, uint32_t kind, bool flag, uint32_t n,
		     uint32_t of)
{
	word(string(name));
	word((uint32_t)flag << 31 | kind << 24 | n);
	word(of);
	return ++made.count;
}

static uint32_t integer(const char *name)
{
	uint32_t id = type(name, BTF_KIND_INT, false, 0, 4);

	word(32);
	return id;
}

static uint32_t pointer(uint32_t to)
{
	return type("", BTF_KIND_PTR, false, 0, to);
}

/* A function with up to two parameters; 0 ends them. */
static uint32_t function(const char *name, uint32_t result, uint32_t a, uint32_t b)
{
	uint32_t n = !!a + (a && b);
	uint32_t proto = type("", BTF_KIND_FUNC_PROTO, false, n, result);

	if (a) {
		word(string("first"));
		word(a);
	}
	if (a && b) {
		word(string("second"));
		word(b);
	}
	return type(name, BTF_KIND_FUNC, false, 0, proto);
}

static void member(const char *name, uint32_t of, uint32_t offset)
{
	word(string(name));
	word(of);
	word(offset);
}

/* The header that all kernels have. Newer ones have more data after it. */
struct header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len, type_off, type_len, str_off, str_len;
};

static unsigned char *blob(uint32_t *size)
{
	struct header h = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h),
		.type_len = made.ntypes * 4, .str_off = made.ntypes * 4,
		.str_len = made.nstrings,
	};
	unsigned char *data;

	*size = sizeof(h) + h.type_len + h.str_len;
	/* Exactly this size, so that the sanitizer detects reads after it. */
	data = malloc(*size);
	memcpy(data, &h, sizeof(h));
	memcpy(data + sizeof(h), made.types, h.type_len);
	memcpy(data + sizeof(h) + h.type_len, made.strings, h.str_len);
	return data;
}

static int open_blob(struct cosy_btf *btf, const void *data, uint32_t size)
{
	uint32_t room = cosy_btf_room(data, size);

	btf->index = malloc(room * sizeof(*btf->index) + 1);
	return room ? cosy_btf_open(btf, data, size, btf->index) : -EINVAL;
}

static void make_example(void)
{
	uint32_t i, s, cs, ps, pcs, td, pp, v, inner, proto;

	begin();
	i = integer("int");					/* 1 */
	s = type("path", BTF_KIND_STRUCT, false, 2, 16);
	member("mnt", i, 0);
	member("dentry", i, 64);
	cs = type("", BTF_KIND_CONST, false, 0, s);
	ps = pointer(s);
	pcs = pointer(cs);
	td = type("umode_t", BTF_KIND_TYPEDEF, false, 0, i);
	pp = pointer(ps);
	function("plain", i, ps, td);
	function("with_const", i, pcs, 0);
	function("returns_pointer", pp, i, 0);
	function("nothing", 0, 0, 0);
	function("twice", i, i, 0);
	function("twice", i, td, 0);
	function("same_twice", i, i, 0);
	function("same_twice", i, i, 0);
	v = type("", BTF_KIND_FUNC_PROTO, false, 2, i);
	word(string("format"));
	word(ps);
	word(0);
	word(0);
	type("variable", BTF_KIND_FUNC, false, 0, v);
	type("outer", BTF_KIND_STRUCT, true, 3, 24);
	inner = made.count + 1;
	member("", inner, 32);
	member("bits", i, 3 << 24 | 96);
	member("last", i, 128);
	type("", BTF_KIND_UNION, false, 1, 4);
	member("in_union", i, 0);
	type("differs", BTF_KIND_STRUCT, false, 1, 8);
	member("m", i, 0);
	type("differs", BTF_KIND_STRUCT, false, 1, 16);
	member("m", i, 32);
	/* Cycles, and numbers of types that do not exist. */
	td = made.count + 1;
	type("", BTF_KIND_CONST, false, 0, td);
	function("circle", i, td, 0);
	function("nowhere", i, 0x7fffffff, 0);
	type("own", BTF_KIND_STRUCT, false, 1, 4);
	member("", made.count, 0);
	proto = type("odd", BTF_KIND_FUNC, false, 0, i);
	(void)proto;
	integer("a_type_with_a_name_that_is_so_long_that_hardly_a_prototype_can_be_written_with_it_"
		"and_still_longer_than_that_which_ends_it_somewhere_in_the_middle_of_nowhere");
	function("long_one", made.count, made.count, made.count);
}

static bool is(const struct cosy_btf *btf, const char *name, const char *prototype,
	       int expected, const char *expected_text)
{
	char found[COSY_PROTOTYPE_SIZE];
	int err = cosy_btf_function(btf, name, prototype, found);

	if (err == expected && (!expected_text || !strcmp(found, expected_text)))
		return true;
	printf("%s: %d \"%s\", not %d \"%s\"\n", name, err, found, expected,
	       expected_text ?: "");
	return false;
}

static void test_answers(void)
{
	struct cosy_btf btf;
	uint32_t size;
	unsigned char *data;

	make_example();
	data = blob(&size);
	check(!open_blob(&btf, data, size), "type information is read");
	check(is(&btf, "plain", "int (struct path *, umode_t)", 0, NULL), "the same prototype");
	check(is(&btf, "plain", "int (const struct path *, umode_t)", 0, NULL) &&
	      is(&btf, "with_const", "int (struct path *)", 0, NULL) &&
	      is(&btf, "plain", "int (const struct path __user *, umode_t)", 0, NULL),
	      "const and __user are ignored");
	check(is(&btf, "returns_pointer", "struct path ** (int)", 0, NULL) &&
	      is(&btf, "nothing", "void (void)", 0, NULL), "pointers to pointers, and nothing");
	check(is(&btf, "plain", "int (struct path *, int)", -EINVAL, "int (struct path *, umode_t)"),
	      "another type of a parameter");
	check(is(&btf, "plain", "int (struct path *)", -EINVAL, NULL) &&
	      is(&btf, "plain", "int (struct path *, umode_t, int)", -EINVAL, NULL) &&
	      is(&btf, "plain", "void (struct path *, umode_t)", -EINVAL, NULL) &&
	      is(&btf, "plain", "int (struct pat *, umode_t)", -EINVAL, NULL) &&
	      is(&btf, "plain", "int (struct path **, umode_t)", -EINVAL, NULL),
	      "a parameter less, one more, another result, another structure");
	check(is(&btf, "variable", "int (struct path *)", -EINVAL, "int (struct path *, ...)"),
	      "any number of parameters");
	check(is(&btf, "twice", "int (int)", -EINVAL, NULL) &&
	      is(&btf, "same_twice", "int (int)", 0, NULL),
	      "several of one name have to be the same");
	check(is(&btf, "absent", "int (int)", -ENOENT, "") &&
	      is(&btf, "path", "int (int)", -ENOENT, ""), "no such function");
	check(is(&btf, "circle", "int (int)", -EINVAL, NULL) &&
	      is(&btf, "nowhere", "int (int)", -EINVAL, NULL) &&
	      is(&btf, "odd", "int (int)", -EINVAL, "?") &&
	      is(&btf, "long_one", "int (int)", -EINVAL, NULL), "what is nonsense differs");
	check(cosy_btf_size(&btf, "path") == 16 && cosy_btf_size(&btf, "absent") == -ENOENT &&
	      cosy_btf_size(&btf, "differs") == -EINVAL, "sizes of structures");
	check(cosy_btf_offset(&btf, "path", "mnt") == 0 &&
	      cosy_btf_offset(&btf, "path", "dentry") == 8 &&
	      cosy_btf_offset(&btf, "path", "absent") == -ENOENT &&
	      cosy_btf_offset(&btf, "absent", "mnt") == -ENOENT &&
	      cosy_btf_offset(&btf, "differs", "m") == -EINVAL, "offsets of members");
	check(cosy_btf_offset(&btf, "outer", "in_union") == 4 &&
	      cosy_btf_offset(&btf, "outer", "last") == 16 &&
	      cosy_btf_offset(&btf, "outer", "bits") == -EINVAL &&
	      cosy_btf_offset(&btf, "own", "m") == -ENOENT,
	      "members of unnamed members, and bit fields");
	free(btf.index);
	free(data);
}

/* Query all names. Return how many functions have another type. No other data may be read. */
static unsigned int ask(const unsigned char *data, uint32_t size)
{
	static const char * const names[] = {
		"plain", "with_const", "returns_pointer", "nothing", "twice", "variable",
		"circle", "nowhere", "odd", "long_one", "path", "outer", "own", "",
	};
	char found[COSY_PROTOTYPE_SIZE];
	unsigned int others = 0, i;
	struct cosy_btf btf;

	if (!open_blob(&btf, data, size)) {
		for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
			others += cosy_btf_function(&btf, names[i], "int (int)", found) == -EINVAL;
			cosy_btf_size(&btf, names[i]);
			cosy_btf_offset(&btf, names[i], "m");
		}
	}
	free(btf.index);
	return others;
}

static void test_broken(void)
{
	unsigned int others;
	uint32_t size, n, bit;
	unsigned char *data, *part;

	make_example();
	data = blob(&size);
	others = ask(data, size);
	for (n = 0; n < size; n++) {
		part = malloc(n ?: 1);
		memcpy(part, data, n);
		ask(part, n);
		free(part);
		for (bit = 0; bit < 8; bit++) {
			data[n] ^= 1 << bit;
			ask(data, size);
			data[n] ^= 1 << bit;
		}
	}
	check(others && ask(data, size) == others,
	      "each truncation and each changed bit was read, and the whole has the same functions again");
	free(data);
}

/* A type, as in the kernel: a macro would be expanded in the text of prototypes. */
#undef bool
typedef _Bool bool;

/* As in compat/compat.h; KERNEL is 612 for Linux 6.12. */
#if KERNEL >= 603
#define cosy_idmap		mnt_idmap
#else
#define cosy_idmap		user_namespace
#endif
#if KERNEL >= 613
#define cosy_xattr_ctx		kernel_xattr_ctx
#else
#define cosy_xattr_ctx		xattr_ctx
#endif
#if KERNEL >= 610
#define cosy_accept_arg		struct proto_accept_arg *
#else
#define cosy_accept_arg		unsigned int
#endif
#if KERNEL >= 615
#define cosy_bpf_size		unsigned int, bool
#else
#define cosy_bpf_size		unsigned int
#endif

/* The functions that the module lists. */
#define COSY_MEMBER(type, member)
enum {
#define COSY_FUNCTION(name, newer, result, args, use) INTERNAL_##name,
#define COSY_STRUCT(name, use) INTERNAL_##name,
#define COSY_OFFSET(type, member, use)
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
	NR_INTERNALS
};

static const struct { const char *name, *newer, *prototype; } listed[] = {
#define TEXT(...)	#__VA_ARGS__
#define EXPANDED(...)	TEXT(__VA_ARGS__)
#define COSY_FUNCTION(name, newer, result, args, use) { #name, newer, EXPANDED(result args) },
#define COSY_STRUCT(name, use) { #name, "", NULL },
#define COSY_OFFSET(type, member, use)
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
};

#define COSY_NEEDS(name)	(1ull << INTERNAL_##name)
#define COSY_FPUT_NEEDS		0
#define COSY_HINT_BORROW	1
static const struct { const char *name; uint64_t needs; } paths[] = {
#define COSY_FAST(function, nr, hints, needs) { #function, needs },
#include "fast/paths.def"
#undef COSY_FAST
};

/* The bits of the functions whose prototypes match the list. */
static uint64_t functions_of(const struct cosy_btf *btf, bool print)
{
	char found[COSY_PROTOTYPE_SIZE];
	uint64_t has = 0;
	unsigned int i;

	for (i = 0; i < NR_INTERNALS; i++) {
		const char *name = listed[i].name;
		int err;

		if (!listed[i].prototype)
			continue;
		err = cosy_btf_function(btf, name, listed[i].prototype, found);
		if (err == -ENOENT && *listed[i].newer) {
			name = listed[i].newer;
			err = cosy_btf_function(btf, name, listed[i].prototype, found);
		}
		if (!err)
			has |= 1ull << i;
		if (print)
			printf("%s: %s %s\n", err ? err == -ENOENT ? "missing" : "different" : "has",
			       name, found);
	}
	return has;
}

/* Give the function the prototype of another one. Returns the previous one. */
static uint32_t exchange(const struct cosy_btf *btf, const char *name, uint32_t proto)
{
	uint32_t id, old = 0;

	for (id = 0; id < btf->count; id++) {
		struct btf_type *t = (void *)(btf->types + btf->index[id]);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC &&
		    !strcmp(btf->strings + t->name_off, name)) {
			old = t->type;
			t->type = proto;
		}
	}
	return old;
}

static void test_kernel(const char *path)
{
	struct cosy_btf btf;
	unsigned char *data = NULL;
	uint32_t size = 0, odd, proto;
	unsigned int i, p;
	uint64_t all;
	FILE *f = fopen(path, "rb");
	size_t n;

	/* The size of a file in sysfs is not always known. */
	do {
		data = realloc(data, size + (1 << 20));
		n = f ? fread(data + size, 1, 1 << 20, f) : 0;
		size += n;
	} while (n);
	check(f && !open_blob(&btf, data, size), "the kernel's type information is read");
	if (failures)
		return;
	fclose(f);
	all = functions_of(&btf, true);
	/* No listed function has this prototype. */
	odd = exchange(&btf, "schedule_timeout", 0);
	exchange(&btf, "schedule_timeout", odd);
	check(odd, "there is another prototype");
	for (i = 0; i < NR_INTERNALS; i++) {
		const char *name = listed[i].name;

		if (!(all & 1ull << i))
			continue;
		proto = exchange(&btf, name, odd);
		if (!proto) {
			name = listed[i].newer;
			proto = exchange(&btf, name, odd);
		}
		if (functions_of(&btf, false) != (all & ~(1ull << i)))
			check(false, name);
		printf("without %s:", name);
		for (p = 0; p < sizeof(paths) / sizeof(*paths); p++)
			if (paths[p].needs & (1ull << i))
				printf(" %s", paths[p].name + strlen("cosy_fast_"));
		printf("\n");
		exchange(&btf, name, proto);
	}
	check(functions_of(&btf, false) == all, "with their prototypes again, all are there");
	free(btf.index);
	free(data);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		test_kernel(argv[1]);
	} else {
		test_answers();
		test_broken();
	}
	puts(failures ? "FAILED" : "all good");
	return failures != 0;
}
