/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * short.h - the programs that `cosy run` executes without its library: exec.c tells why.
 *
 * cosy-profile predicts by the same lists. NAME(name) is a program.
 */
#ifndef COSY_SHORT_H
#define COSY_SHORT_H

/* With more arguments that are not options, the library may pay. */
#define COSY_SHORT_MAX_FILES	32

#define COSY_SHORT_PROGRAMS(NAME) \
	NAME("[") NAME("as") NAME("awk") NAME("basename") NAME("c++") NAME("cat") NAME("cc") \
	NAME("cc1") NAME("cc1plus") NAME("cksum") NAME("cmp") NAME("collect2") NAME("comm") \
	NAME("cpp") NAME("cut") NAME("date") NAME("dirname") NAME("echo") NAME("expand") \
	NAME("expr") NAME("false") NAME("fold") NAME("g++") NAME("gawk") NAME("gcc") \
	NAME("getopt") NAME("head") NAME("hostname") NAME("id") NAME("install") NAME("join") \
	NAME("ld") NAME("ld.bfd") NAME("ln") NAME("lto1") NAME("mawk") NAME("md5sum") \
	NAME("mkdir") NAME("mktemp") NAME("mv") NAME("nl") NAME("nproc") NAME("od") \
	NAME("paste") NAME("printf") NAME("pwd") NAME("readlink") NAME("realpath") NAME("rev") \
	NAME("rmdir") NAME("sed") NAME("seq") NAME("sha1sum") NAME("sha256sum") NAME("sleep") \
	NAME("sort") NAME("stty") NAME("tac") NAME("tail") NAME("tee") NAME("test") \
	NAME("touch") NAME("tput") NAME("tr") NAME("true") NAME("tty") NAME("uname") \
	NAME("uniq") NAME("wc") NAME("which") NAME("whoami") NAME("yes")

/* Programs that descend into directories with -r, -R, -a or a long option. */
#define COSY_SHORT_UNLESS_DESCENDING(NAME) \
	NAME("chgrp") NAME("chmod") NAME("chown") NAME("cp") NAME("egrep") NAME("fgrep") \
	NAME("grep") NAME("rm")

#endif /* COSY_SHORT_H */
