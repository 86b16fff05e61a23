/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of lto-callees.c. */
#ifdef __cplusplus
extern "C" {
#endif

/** size_of() - the size of the file @name, or the negative errno */
long size_of(const char *name);

/** size_by_pointer() - the same; counts in @calls, and in @errors failures */
void size_by_pointer(const char *name, long *size, unsigned char *calls, int errors[3]);

/** parents() - 10 times @n, from a separate region */
int parents(int n);

/** parents_native() - the same; its region is for debugging */
int parents_native(int n);

/** sum() - the sum of @n numbers, which a compiler would compute by vectors */
unsigned int sum(const unsigned int *p, int n);

/** overridden() - 1; defined weak, and in lto.c again */
int overridden(void);

/** depth() - @n by recursion */
int depth(int n);

/** own_id() - the program's own getppid(), see lto-own.c */
int own_id(void);

extern int counter;

#ifdef __cplusplus
}
#endif
