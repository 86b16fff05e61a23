// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * symbols.c - look a symbol up in a library.
 *
 * Its hash table is searched as the dynamic linker does it.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

#define HIDDEN_VERSION	0x8000

/**
 * struct symbols - the dynamic symbols of a library
 * @symtab:   they
 * @strtab:   their names, and that of the library
 * @versym:   their versions, NULL if there are none
 * @gnu_hash: the hash table, NULL if there is none
 * @soname:   offset of the library's name
 * @jmprel:   relocations of its procedure linkage table, NULL if there are none
 * @pltrelsz: their size
 */
struct symbols {
	const ElfW(Sym) *symtab;
	const char *strtab;
	const ElfW(Half) *versym;
	const uint32_t *gnu_hash;
	size_t soname;
	const ElfW(Rela) *jmprel;
	size_t pltrelsz;
};

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The dynamic linker has made addresses of them, except in read-only tables. */
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
		case DT_SONAME:
			symbols->soname = d->d_un.d_val;
			break;
		case DT_JMPREL:
			symbols->jmprel = address(map, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			symbols->pltrelsz = d->d_un.d_val;
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

static bool is_function(const struct symbols *symbols, uint32_t i,
			const char *name)
{
	const ElfW(Sym) *symbol = &symbols->symtab[i];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       equal(symbols->strtab + symbol->st_name, name);
}

/*
 * The version of the symbol that a reference without a version means; or one that
 * is there for old programs only.
 */
static const ElfW(Sym) *look_up(const struct symbols *symbols, const char *name,
				uint32_t hash)
{
	const uint32_t *table = symbols->gnu_hash;
	uint32_t nbuckets, first, nwords, shift, i, found;
	const uint32_t *buckets, *chains;
	const ElfW(Sym) *old = NULL;
	const uint64_t *bloom;
	uint64_t word;

	if (!table || !symbols->symtab || !symbols->strtab)
		return NULL;
	nbuckets = table[0];
	first = table[1];
	nwords = table[2];
	shift = table[3];
	bloom = (const uint64_t *)&table[4];
	buckets = (const uint32_t *)(bloom + nwords);
	chains = buckets + nbuckets;

	word = bloom[hash / 64 % nwords];
	if (!(word >> (hash % 64) & word >> ((hash >> shift) % 64) & 1))
		return NULL;
	i = buckets[hash % nbuckets];
	if (i < first)
		return NULL;
	do {
		found = chains[i - first];
		if ((found | 1) == (hash | 1) && is_function(symbols, i, name)) {
			if (!symbols->versym ||
			    !(symbols->versym[i] & HIDDEN_VERSION))
				return &symbols->symtab[i];
			old = &symbols->symtab[i];
		}
		i++;
	} while (!(found & 1));
	return old;
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
	symbol = look_up(&symbols, name, gnu_hash(name));
	return symbol ? value_of(map, symbol) : NULL;
}

bool cosy_is_libc(const struct link_map *map)
{
	struct symbols symbols;

	find_symbols(map, &symbols);
	return symbols.soname && symbols.strtab &&
	       equal(symbols.strtab + symbols.soname, "libc.so.6");
}

bool cosy_is_slot(const struct link_map *map, const char *name,
		  void *const *slot)
{
	ElfW(Addr) offset = (ElfW(Addr))slot - map->l_addr;
	const ElfW(Rela) *rela, *end;
	struct symbols symbols;

	find_symbols(map, &symbols);
	rela = symbols.jmprel;
	if (!rela)
		return false;
	end = rela + symbols.pltrelsz / sizeof(*rela);
	while (rela < end && rela->r_offset != offset)
		rela++;
	return rela < end &&
	       equal(symbols.strtab +
		     symbols.symtab[ELF64_R_SYM(rela->r_info)].st_name, name);
}
