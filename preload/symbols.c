// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * symbols.c - looks up a symbol in a library.
 *
 * The search is that of the dynamic linker. A library has a hash table of one of two forms,
 * and a symbol need not have the type of a function.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"
#include "symbols.h"

#define HIDDEN_VERSION	0x8000

/**
 * struct symbols - the dynamic symbols of a library
 * @symtab:   the symbols
 * @strtab:   their names, and that of the library
 * @versym:   their versions, NULL if there are none
 * @gnu_hash: the hash table, NULL if there is none
 * @old_hash: the hash table of the older form, NULL if there is none
 * @soname:   offset of the library's name
 * @jmprel:   relocations of its procedure linkage table, NULL if there are none
 * @pltrelsz: their size
 * @rela:     the other relocations, NULL if there are none
 * @relasz:   their size
 * @relacount: number of those at its beginning that refer to no symbol
 */
struct symbols {
	const ElfW(Sym) *symtab;
	const char *strtab;
	const ElfW(Half) *versym;
	const uint32_t *gnu_hash;
	const uint32_t *old_hash;
	size_t soname;
	const ElfW(Rela) *jmprel;
	size_t pltrelsz;
	const ElfW(Rela) *rela;
	size_t relasz;
	size_t relacount;
};

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Return the address of a dynamic section's value, which is an offset in read-only sections. */
static const void *address(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static void find_symbols(const struct link_map *map, struct symbols *symbols)
{
	*symbols = (struct symbols){ 0 };
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			symbols->symtab = address(map, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			symbols->strtab = address(map, d->d_un.d_ptr);
			break;
		case DT_VERSYM:
			symbols->versym = address(map, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			symbols->gnu_hash = address(map, d->d_un.d_ptr);
			break;
		case DT_HASH:
			symbols->old_hash = address(map, d->d_un.d_ptr);
			break;
		case DT_SONAME:
			symbols->soname = d->d_un.d_val;
			break;
		case DT_JMPREL:
			symbols->jmprel = address(map, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			symbols->pltrelsz = d->d_un.d_val;
			break;
		case DT_RELA:
			symbols->rela = address(map, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			symbols->relasz = d->d_un.d_val;
			break;
		case DT_RELACOUNT:
			symbols->relacount = d->d_un.d_val;
			break;
		}
	}
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

static uint32_t old_hash(const char *name)
{
	uint32_t hash = 0;

	while (*name) {
		hash = (hash << 4) + (unsigned char)*name++;
		hash ^= hash >> 24 & 0xf0;
		hash &= 0x0fffffff;
	}
	return hash;
}

/* Return true if symbol @i defines @name. Symbols from assembler sources may have no type. */
static bool is_definition(const struct symbols *symbols, uint32_t i,
			  const char *name)
{
	const ElfW(Sym) *symbol = &symbols->symtab[i];

	return symbol->st_shndx != SHN_UNDEF &&
	       ELF64_ST_TYPE(symbol->st_info) != STT_TLS &&
	       equal(symbols->strtab + symbol->st_name, name);
}

static bool is_hidden(const struct symbols *symbols, uint32_t i)
{
	return symbols->versym && symbols->versym[i] & HIDDEN_VERSION;
}

/*
 * Return the version of the symbol that a reference without a version means; otherwise a version
 * that only old programs use; otherwise NULL.
 */
static const ElfW(Sym) *look_up_gnu(const struct symbols *symbols,
				    const char *name)
{
	const uint32_t *table = symbols->gnu_hash;
	uint32_t hash = gnu_hash(name);
	uint32_t nbuckets = table[0], first = table[1], nwords = table[2];
	uint32_t shift = table[3], i, found;
	const uint64_t *bloom = (const uint64_t *)&table[4];
	const uint32_t *buckets = (const uint32_t *)(bloom + nwords);
	const uint32_t *chains = buckets + nbuckets;
	const ElfW(Sym) *old = NULL;
	uint64_t word = bloom[hash / 64 % nwords];

	if (!(word >> (hash % 64) & word >> ((hash >> shift) % 64) & 1))
		return NULL;
	i = buckets[hash % nbuckets];
	if (i < first)
		return NULL;
	do {
		found = chains[i - first];
		if ((found | 1) == (hash | 1) &&
		    is_definition(symbols, i, name)) {
			if (!is_hidden(symbols, i))
				return &symbols->symtab[i];
			old = &symbols->symtab[i];
		}
		i++;
	} while (!(found & 1));
	return old;
}

static const ElfW(Sym) *look_up_old(const struct symbols *symbols,
				    const char *name)
{
	uint32_t nbuckets = symbols->old_hash[0];
	const uint32_t *buckets = &symbols->old_hash[2];
	const uint32_t *chains = buckets + nbuckets;
	const ElfW(Sym) *old = NULL;
	uint32_t i;

	if (!nbuckets)
		return NULL;
	for (i = buckets[old_hash(name) % nbuckets]; i; i = chains[i]) {
		if (!is_definition(symbols, i, name))
			continue;
		if (!is_hidden(symbols, i))
			return &symbols->symtab[i];
		old = &symbols->symtab[i];
	}
	return old;
}

static const ElfW(Sym) *look_up(const struct symbols *symbols, const char *name)
{
	if (!symbols->symtab || !symbols->strtab)
		return NULL;
	if (symbols->gnu_hash)
		return look_up_gnu(symbols, name);
	return symbols->old_hash ? look_up_old(symbols, name) : NULL;
}

static void *value_of(const struct link_map *map, const ElfW(Sym) *symbol)
{
	void *value = (void *)(map->l_addr + symbol->st_value);

	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))value)();
	return value;
}

void *cosy_symbol(const struct link_map *map, const char *name)
{
	const ElfW(Sym) *symbol;
	struct symbols symbols;

	find_symbols(map, &symbols);
	symbol = look_up(&symbols, name);
	return symbol ? value_of(map, symbol) : NULL;
}

const unsigned char *cosy_symbol_range(const struct link_map *map, const char *name,
				       size_t *size)
{
	const ElfW(Sym) *symbol;
	struct symbols symbols;

	find_symbols(map, &symbols);
	symbol = look_up(&symbols, name);
	if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
		return NULL;
	*size = symbol->st_size;
	return (const unsigned char *)(map->l_addr + symbol->st_value);
}

bool cosy_is_libc(const struct link_map *map)
{
	struct symbols symbols;

	find_symbols(map, &symbols);
	return symbols.soname && symbols.strtab &&
	       equal(symbols.strtab + symbols.soname, "libc.so.6");
}

void cosy_find_cancellation(const struct link_map *libc)
{
	__atomic_store_n(&cosy_single_threaded, cosy_symbol(libc, "__libc_single_threaded"),
			 __ATOMIC_RELAXED);
	/* Both this function and the exact cancellation are new in 2.41. */
	__atomic_store_n(&cosy_exact_cancellation, cosy_symbol(libc, "sched_getattr") != NULL,
			 __ATOMIC_RELAXED);
}

/* Return true if one of the relocations stores the address of the function at @offset. */
static bool has_slot(const struct symbols *symbols, const ElfW(Rela) *rela,
		     const ElfW(Rela) *end, ElfW(Addr) offset, const char *name)
{
	uint32_t type;

	while (rela < end && rela->r_offset != offset)
		rela++;
	if (rela >= end)
		return false;
	type = ELF64_R_TYPE(rela->r_info);
	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
	       equal(symbols->strtab +
		     symbols->symtab[ELF64_R_SYM(rela->r_info)].st_name, name);
}

bool cosy_is_slot(const struct link_map *map, const char *name,
		  void *const *slot)
{
	ElfW(Addr) offset = (ElfW(Addr))slot - map->l_addr;
	struct symbols symbols;

	find_symbols(map, &symbols);
	if (!symbols.symtab || !symbols.strtab)
		return false;
	return (symbols.jmprel &&
		has_slot(&symbols, symbols.jmprel,
			 symbols.jmprel +
				 symbols.pltrelsz / sizeof(*symbols.jmprel),
			 offset, name)) ||
	       (symbols.rela &&
		has_slot(&symbols, symbols.rela + symbols.relacount,
			 symbols.rela + symbols.relasz / sizeof(*symbols.rela),
			 offset, name));
}
