// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * _cosy.c - the batch functions of libcosy for Python. cosy/__init__.py documents
 * them.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cosy/batch.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <structmember.h>

/*
 * What the module refers to. Each interpreter has a module, and types, of its own.
 * @stat_result: os.stat_result
 * @entry:       cosy.DirEntry
 * @iterator:    cosy.ScandirIterator
 */
struct state {
	PyTypeObject *stat_result;
	PyTypeObject *entry;
	PyTypeObject *iterator;
};

/* The number of fields of os.stat_result on Linux. */
enum { STAT_FIELDS = 19 };

/* Make the exception for a negative errno, like that of open(). */
static PyObject *make_error(int result, PyObject *path)
{
	PyObject *text = PyUnicode_DecodeLocale(strerror(-result),
						"surrogateescape");

	if (!text)
		return NULL;
	return PyObject_CallFunction(PyExc_OSError, "iNO", -result, text, path);
}

static PyObject *raise_error(int result, PyObject *path)
{
	errno = -result;
	return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
}

/* Return seconds and nanoseconds as one integer. */
static PyObject *nanoseconds(const struct timespec *time)
{
	/* A time after the year 2262 has more than 2^63 ns. */
	if (time->tv_sec < 9000000000 && time->tv_sec > -9000000000)
		return PyLong_FromLongLong(time->tv_sec * 1000000000LL +
					   time->tv_nsec);
	PyObject *billion = PyLong_FromLong(1000000000);
	PyObject *seconds = PyLong_FromLongLong(time->tv_sec);
	PyObject *rest = PyLong_FromLong(time->tv_nsec);
	PyObject *product = NULL, *sum = NULL;

	if (billion && seconds && rest)
		product = PyNumber_Multiply(seconds, billion);
	if (product)
		sum = PyNumber_Add(product, rest);
	Py_XDECREF(billion);
	Py_XDECREF(seconds);
	Py_XDECREF(rest);
	Py_XDECREF(product);
	return sum;
}

static PyObject *make_stat(const struct state *state, const struct stat *status)
{
	const struct timespec *times[] = { &status->st_atim, &status->st_mtim,
					   &status->st_ctim };
	PyObject *result = PyStructSequence_New(state->stat_result);
	int field = 0;

	if (!result)
		return NULL;
#define SET(value) PyStructSequence_SetItem(result, field++, value)
	SET(PyLong_FromUnsignedLong(status->st_mode));
	SET(PyLong_FromUnsignedLongLong(status->st_ino));
	SET(PyLong_FromUnsignedLongLong(status->st_dev));
	SET(PyLong_FromUnsignedLong(status->st_nlink));
	/* As in os.stat(), -1 stays -1. */
	SET(status->st_uid == (uid_t)-1 ? PyLong_FromLong(-1) :
					  PyLong_FromUnsignedLong(status->st_uid));
	SET(status->st_gid == (gid_t)-1 ? PyLong_FromLong(-1) :
					  PyLong_FromUnsignedLong(status->st_gid));
	SET(PyLong_FromLongLong(status->st_size));
	for (int i = 0; i < 3; i++)
		SET(PyLong_FromLongLong(times[i]->tv_sec));
	for (int i = 0; i < 3; i++)
		SET(PyFloat_FromDouble(times[i]->tv_sec +
				       1e-9 * times[i]->tv_nsec));
	for (int i = 0; i < 3; i++)
		SET(nanoseconds(times[i]));
	SET(PyLong_FromLong(status->st_blksize));
	SET(PyLong_FromLongLong(status->st_blocks));
	SET(PyLong_FromUnsignedLongLong(status->st_rdev));
#undef SET
	if (PyErr_Occurred())
		Py_CLEAR(result);
	return result;
}

/*
 * Converter for "O&": the descriptor of a directory, or None for the working directory. As in os, a
 * negative number is a descriptor that is not open.
 */
static int convert_dir_fd(PyObject *object, void *result)
{
	PyObject *number;
	long fd;

	if (object == Py_None) {
		*(int *)result = AT_FDCWD;
		return 1;
	}
	if (!PyIndex_Check(object)) {
		*(int *)result = PyObject_AsFileDescriptor(object);
		return *(int *)result >= 0;
	}
	number = PyNumber_Index(object);
	if (!number)
		return 0;
	fd = PyLong_AsLong(number);
	Py_DECREF(number);
	if (fd == -1 && PyErr_Occurred())
		return 0;
	if (fd != (int)fd) {
		PyErr_SetString(PyExc_OverflowError,
				"fd does not fit into a C int");
		return 0;
	}
	*(int *)result = (int)fd;
	return 1;
}

/*
 * The paths of a call.
 * @given: the paths as str or bytes, for exceptions
 * @names: the bytes objects that contain the paths
 * @bytes: the paths, in the memory of @names
 */
struct paths {
	PyObject *given;
	PyObject *names;
	const char **bytes;
	Py_ssize_t count;
};

static void free_paths(struct paths *paths)
{
	Py_CLEAR(paths->given);
	Py_CLEAR(paths->names);
	PyMem_Free(paths->bytes);
	paths->bytes = NULL;
}

/* Convert the paths. Return 0, or -1 with an exception. */
static int take_paths(struct paths *paths, PyObject *iterable)
{
	PyObject *items;

	*paths = (struct paths){ 0 };
	/* A single path is also an iterable, of its characters. */
	if (PyUnicode_Check(iterable) || PyBytes_Check(iterable)) {
		PyErr_SetString(PyExc_TypeError,
				"paths must be an iterable of paths, not a path");
		return -1;
	}
	/* Make a tuple, which does not change while a path is converted. */
	items = PySequence_Tuple(iterable);
	if (!items)
		return -1;
	paths->count = PyTuple_GET_SIZE(items);
	paths->given = PyTuple_New(paths->count);
	paths->names = PyTuple_New(paths->count);
	paths->bytes = PyMem_New(const char *, paths->count);
	if (!paths->given || !paths->names || !paths->bytes) {
		PyErr_NoMemory();
		goto failed;
	}
	for (Py_ssize_t i = 0; i < paths->count; i++) {
		PyObject *path = PyOS_FSPath(PyTuple_GET_ITEM(items, i));
		PyObject *name;

		if (!path)
			goto failed;
		PyTuple_SET_ITEM(paths->given, i, path);
		if (!PyUnicode_FSConverter(path, &name))
			goto failed;
		PyTuple_SET_ITEM(paths->names, i, name);
		paths->bytes[i] = PyBytes_AS_STRING(name);
	}
	Py_DECREF(items);
	return 0;
failed:
	Py_DECREF(items);
	free_paths(paths);
	return -1;
}

static PyObject *stat_many(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "paths", "dir_fd", "follow_symlinks", NULL };
	const struct state *state = PyModule_GetState(module);
	struct stat *status = NULL;
	PyObject *iterable, *list = NULL;
	int dir_fd = AT_FDCWD, follow = 1, *results = NULL;
	struct paths paths;
	ssize_t n;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&p:stat_many",
					 names, &iterable, convert_dir_fd,
					 &dir_fd, &follow) ||
	    take_paths(&paths, iterable) < 0)
		return NULL;
	status = PyMem_New(struct stat, paths.count);
	results = PyMem_New(int, paths.count);
	if (!status || !results) {
		PyErr_NoMemory();
		goto out;
	}
	Py_BEGIN_ALLOW_THREADS
	n = cosy_stat_many(dir_fd, paths.bytes, paths.count,
			   follow ? 0 : AT_SYMLINK_NOFOLLOW, status, results);
	Py_END_ALLOW_THREADS
	if (n < 0) {
		raise_error(n, NULL);
		goto out;
	}
	list = PyList_New(paths.count);
	for (Py_ssize_t i = 0; list && i < paths.count; i++) {
		PyObject *item =
			results[i] < 0 ?
				make_error(results[i],
					   PyTuple_GET_ITEM(paths.given, i)) :
				make_stat(state, &status[i]);

		if (item)
			PyList_SET_ITEM(list, i, item);
		else
			Py_CLEAR(list);
	}
out:
	PyMem_Free(status);
	PyMem_Free(results);
	free_paths(&paths);
	return list;
}

static PyObject *unlink_many(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "paths", "dir_fd", "directories", NULL };
	PyObject *iterable, *list = NULL;
	int dir_fd = AT_FDCWD, directories = 0, *results;
	struct paths paths;
	ssize_t n;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&p:unlink_many",
					 names, &iterable, convert_dir_fd,
					 &dir_fd, &directories) ||
	    take_paths(&paths, iterable) < 0)
		return NULL;
	results = PyMem_New(int, paths.count);
	if (!results) {
		PyErr_NoMemory();
		goto out;
	}
	Py_BEGIN_ALLOW_THREADS
	n = cosy_unlink_many(dir_fd, paths.bytes, paths.count,
			     directories ? AT_REMOVEDIR : 0, results);
	Py_END_ALLOW_THREADS
	if (n < 0) {
		raise_error(n, NULL);
		goto out;
	}
	list = PyList_New(paths.count);
	for (Py_ssize_t i = 0; list && i < paths.count; i++) {
		PyObject *item = Py_NewRef(Py_None);

		if (results[i] < 0) {
			Py_DECREF(item);
			item = make_error(results[i],
					  PyTuple_GET_ITEM(paths.given, i));
		}
		if (item)
			PyList_SET_ITEM(list, i, item);
		else
			Py_CLEAR(list);
	}
out:
	PyMem_Free(results);
	free_paths(&paths);
	return list;
}

/*
 * Read a file that did not fit into @size bytes. Return its contents; as an object the OSError, if it cannot be
 * read; or NULL with an exception.
 */
static PyObject *read_large(int dir_fd, PyObject *given, const char *path, int flags,
			    size_t size)
{
	struct cosy_read_result result;
	PyObject *contents = NULL;
	struct stat status;

	do {
		Py_CLEAR(contents);
		Py_BEGIN_ALLOW_THREADS
		if (fstatat(dir_fd, path, &status, flags) < 0)
			status.st_size = 0;
		Py_END_ALLOW_THREADS
		size *= 2;
		if ((uint64_t)status.st_size > size)
			size = status.st_size;
		contents = PyBytes_FromStringAndSize(NULL, size);
		if (!contents) {
			PyErr_Clear();
			/* A file system may fail with EFBIG, however large the buffer is. */
			return make_error((size_t)status.st_size == size ? -ENOMEM : -EFBIG,
					  given);
		}
		Py_BEGIN_ALLOW_THREADS
		cosy_read_many(dir_fd, &path, 1, flags, PyBytes_AS_STRING(contents), size,
			       &result);
		Py_END_ALLOW_THREADS
	} while (result.length == -EFBIG);
	if (result.length < 0)
		Py_SETREF(contents, make_error(result.length, given));
	else
		_PyBytes_Resize(&contents, result.length);
	return contents;
}

static PyObject *read_many(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "paths", "dir_fd", "follow_symlinks", NULL };
	struct cosy_read_result *results = NULL;
	PyObject *iterable, *list = NULL;
	int dir_fd = AT_FDCWD, follow = 1, flags;
	const size_t size = 1 << 20;
	struct paths paths;
	char *buffer = NULL;
	ssize_t n;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&p:read_many",
					 names, &iterable, convert_dir_fd,
					 &dir_fd, &follow) ||
	    take_paths(&paths, iterable) < 0)
		return NULL;
	flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
	results = PyMem_New(struct cosy_read_result, paths.count);
	buffer = PyMem_Malloc(size);
	if (!results || !buffer) {
		PyErr_NoMemory();
		goto out;
	}
	list = PyList_New(paths.count);
	for (Py_ssize_t done = 0; list && done < paths.count;) {
		Py_BEGIN_ALLOW_THREADS
		n = cosy_read_many(dir_fd, paths.bytes + done,
				   paths.count - done, flags, buffer, size,
				   results);
		Py_END_ALLOW_THREADS
		if (n < 0) {
			raise_error(n, NULL);
			Py_CLEAR(list);
			break;
		}
		for (ssize_t i = 0; i < n; i++) {
			PyObject *item, *given = PyTuple_GET_ITEM(paths.given, done);

			if (results[i].length == -EFBIG)
				item = read_large(dir_fd, given, paths.bytes[done],
						  flags, size);
			else if (results[i].length < 0)
				item = make_error(results[i].length, given);
			else
				item = PyBytes_FromStringAndSize(
					buffer + results[i].offset,
					results[i].length);
			if (!item) {
				Py_CLEAR(list);
				break;
			}
			PyList_SET_ITEM(list, done++, item);
		}
	}
out:
	PyMem_Free(buffer);
	PyMem_Free(results);
	free_paths(&paths);
	return list;
}

static PyObject *copy_file(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "src", "dst", "src_dir_fd", "dst_dir_fd",
				 "exclusive", "follow_symlinks", NULL };
	int from_dirfd = AT_FDCWD, to_dirfd = AT_FDCWD, exclusive = 0, follow = 1;
	PyObject *source, *destination, *from = NULL, *to = NULL;
	PyObject *given_from, *given_to, *result = NULL;
	off_t copied;
	int error;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$O&O&pp:copy_file",
					 names, &given_from, &given_to,
					 convert_dir_fd, &from_dirfd,
					 convert_dir_fd, &to_dirfd, &exclusive,
					 &follow))
		return NULL;
	/* Exceptions contain the paths as str or bytes. */
	source = PyOS_FSPath(given_from);
	destination = source ? PyOS_FSPath(given_to) : NULL;
	if (!destination || !PyUnicode_FSConverter(source, &from) ||
	    !PyUnicode_FSConverter(destination, &to))
		goto out;
	Py_BEGIN_ALLOW_THREADS
	error = cosy_copy_file(from_dirfd, PyBytes_AS_STRING(from), to_dirfd,
			       PyBytes_AS_STRING(to),
			       (exclusive ? COSY_COPY_EXCLUSIVE : 0) |
				       (follow ? 0 : COSY_COPY_NOFOLLOW),
			       &copied);
	Py_END_ALLOW_THREADS
	if (error == 0) {
		result = PyLong_FromLongLong(copied);
	} else {
		errno = -error;
		PyErr_SetFromErrnoWithFilenameObjects(PyExc_OSError, source,
						      destination);
	}
out:
	Py_XDECREF(source);
	Py_XDECREF(destination);
	Py_XDECREF(from);
	Py_XDECREF(to);
	return result;
}

/*
 * An entry, like os.DirEntry.
 * @name:    str, or bytes if the argument of scandir() was bytes
 * @path:    the directory and the name
 * @dir_fd:  the descriptor that was the argument of scandir(), or AT_FDCWD
 * @entry:   the entry without its name
 * @own:     os.stat_result of the entry, or NULL until it is requested
 * @target:  os.stat_result of the target of a symbolic link, or NULL until it is requested
 */
struct entry {
	PyObject_HEAD
	PyObject *name;
	PyObject *path;
	int dir_fd;
	struct cosy_dir_entry entry;
	PyObject *own, *target;
};

static void entry_dealloc(struct entry *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(self->name);
	Py_XDECREF(self->path);
	Py_XDECREF(self->own);
	Py_XDECREF(self->target);
	type->tp_free(self);
	Py_DECREF(type);
}

/* Get the current status, like os.stat() or os.lstat(). Return 0 or a negative errno. Sets
 * @raised after an exception, because -1 is EPERM. */
static int fetch(struct entry *self, bool follow, struct stat *status, bool *raised)
{
	PyObject *path;
	int result;

	*raised = !PyUnicode_FSConverter(
		self->dir_fd == AT_FDCWD ? self->path : self->name, &path);
	if (*raised)
		return 0;
	Py_BEGIN_ALLOW_THREADS
	result = fstatat(self->dir_fd, PyBytes_AS_STRING(path), status,
			 follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	Py_END_ALLOW_THREADS
	Py_DECREF(path);
	return result;
}

/*
 * Return os.stat_result for @status, or the one in *@cached if another thread has stored it
 * meanwhile. Otherwise it is stored there.
 */
static PyObject *cache_stat(struct entry *self, PyObject **cached, const struct stat *status)
{
	PyObject *result = make_stat(PyType_GetModuleState(Py_TYPE(self)), status);

	if (result && !*cached)
		*cached = Py_NewRef(result);
	else if (result)
		Py_SETREF(result, Py_NewRef(*cached));
	return result;
}

/* Fetch the status, and return it as cache_stat() does. Nothing is stored after a failure. */
static PyObject *fetch_stat(struct entry *self, bool follow, PyObject **cached)
{
	struct stat status;
	bool raised;
	int result = fetch(self, follow, &status, &raised);

	if (raised)
		return NULL;
	if (result < 0)
		return raise_error(result, self->path);
	return cache_stat(self, cached, &status);
}

static PyObject *entry_own_stat(struct entry *self)
{
	if (self->own)
		return Py_NewRef(self->own);
	if (self->entry.result == 0)
		return cache_stat(self, &self->own, &self->entry.status);
	if (self->entry.result != -ENODATA)
		return raise_error(self->entry.result, self->path);
	/* Not stored in the entry: another thread may read it, and the next attempt may succeed. */
	return fetch_stat(self, false, &self->own);
}

static PyObject *entry_target_stat(struct entry *self)
{
	if (self->entry.type != DT_LNK && self->entry.type != DT_UNKNOWN)
		return entry_own_stat(self);
	if (self->target)
		return Py_NewRef(self->target);
	return fetch_stat(self, true, &self->target);
}

/* Parse the arguments of methods whose only argument is the keyword follow_symlinks=True. */
static int take_follow(PyObject *args, PyObject *keywords, bool *follow)
{
	static char *names[] = { "follow_symlinks", NULL };
	int value = 1;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$p", names, &value))
		return -1;
	*follow = value;
	return 0;
}

static PyObject *entry_stat(struct entry *self, PyObject *args, PyObject *keywords)
{
	bool follow;

	if (take_follow(args, keywords, &follow) < 0)
		return NULL;
	return follow ? entry_target_stat(self) : entry_own_stat(self);
}

/* Compare the type of the entry, or of the target of its link, with @type. */
static PyObject *entry_is(struct entry *self, bool follow, unsigned char type)
{
	PyObject *status, *mode;
	long value;

	if (self->entry.type != DT_UNKNOWN &&
	    !(follow && self->entry.type == DT_LNK))
		return PyBool_FromLong(self->entry.type == type);
	status = follow ? entry_target_stat(self) : entry_own_stat(self);
	if (!status) {
		/* A link without a target has no type. */
		if (!PyErr_ExceptionMatches(PyExc_FileNotFoundError))
			return NULL;
		PyErr_Clear();
		Py_RETURN_FALSE;
	}
	mode = PyStructSequence_GetItem(status, 0);
	value = PyLong_AsLong(mode);
	Py_DECREF(status);
	return PyBool_FromLong(IFTODT(value) == type);
}

static PyObject *entry_is_dir(struct entry *self, PyObject *args, PyObject *keywords)
{
	bool follow;

	if (take_follow(args, keywords, &follow) < 0)
		return NULL;
	return entry_is(self, follow, DT_DIR);
}

static PyObject *entry_is_file(struct entry *self, PyObject *args, PyObject *keywords)
{
	bool follow;

	if (take_follow(args, keywords, &follow) < 0)
		return NULL;
	return entry_is(self, follow, DT_REG);
}

static PyObject *entry_is_symlink(struct entry *self, PyObject *unused)
{
	(void)unused;
	return entry_is(self, false, DT_LNK);
}

static PyObject *entry_is_junction(struct entry *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_FALSE;
}

static PyObject *entry_inode(struct entry *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(self->entry.inode);
}

static PyObject *entry_fspath(struct entry *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self->path);
}

static PyObject *entry_repr(struct entry *self)
{
	return PyUnicode_FromFormat("<DirEntry %R>", self->name);
}

#define WITH_KEYWORDS (METH_VARARGS | METH_KEYWORDS)

static PyMethodDef entry_methods[] = {
	{ "stat", (PyCFunction)(void (*)(void))entry_stat, WITH_KEYWORDS,
	  "stat($self, /, *, follow_symlinks=True)\n--\n\n"
	  "Return the os.stat_result that was read with the directory. If a symbolic link\n"
	  "is followed, return the one of its target, which is read once." },
	{ "is_dir", (PyCFunction)(void (*)(void))entry_is_dir, WITH_KEYWORDS,
	  "is_dir($self, /, *, follow_symlinks=True)\n--\n\n"
	  "Return True if the entry is a directory." },
	{ "is_file", (PyCFunction)(void (*)(void))entry_is_file, WITH_KEYWORDS,
	  "is_file($self, /, *, follow_symlinks=True)\n--\n\n"
	  "Return True if the entry is a regular file." },
	{ "is_symlink", (PyCFunction)entry_is_symlink, METH_NOARGS,
	  "is_symlink($self, /)\n--\n\n"
	  "Return True if the entry is a symbolic link." },
	{ "is_junction", (PyCFunction)entry_is_junction, METH_NOARGS,
	  "is_junction($self, /)\n--\n\nReturn False: there are none on Linux." },
	{ "inode", (PyCFunction)entry_inode, METH_NOARGS,
	  "inode($self, /)\n--\n\n"
	  "Return the inode number that the directory has for the entry." },
	{ "__fspath__", (PyCFunction)entry_fspath, METH_NOARGS,
	  "__fspath__($self, /)\n--\n\nReturn the path." },
	{ "__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
	  "See PEP 585." },
	{ 0 },
};

static PyMemberDef entry_members[] = {
	{ "name", T_OBJECT_EX, offsetof(struct entry, name), READONLY,
	  "the entry's name" },
	{ "path", T_OBJECT_EX, offsetof(struct entry, path), READONLY,
	  "the path of the directory, as given, and the name" },
	{ 0 },
};

static PyType_Slot entry_slots[] = {
	{ Py_tp_doc, "An entry of a directory, as os.DirEntry." },
	{ Py_tp_dealloc, entry_dealloc },
	{ Py_tp_repr, entry_repr },
	{ Py_tp_methods, entry_methods },
	{ Py_tp_members, entry_members },
	{ 0 },
};

static PyType_Spec entry_spec = {
	.name = "cosy.DirEntry",
	.basicsize = sizeof(struct entry),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = entry_slots,
};

/*
 * The iterator that scandir() returns.
 * @dir:     the directory; NULL after the end, and after close()
 * @prefix:  the part of each path before the name, or NULL
 * @bytes:   names are bytes
 * @busy:    a thread is reading, without the GIL
 * @entries: the current entries
 * @next:    the index of the next entry
 * @count:   the number of current entries
 */
struct iterator {
	PyObject_HEAD
	struct cosy_dir *dir;
	PyObject *path;
	PyObject *prefix;
	bool bytes, busy;
	int dir_fd;
	const struct cosy_dir_entry *entries;
	ssize_t next, count;
};

static void iterator_end(struct iterator *self)
{
	struct cosy_dir *dir = self->dir;

	self->dir = NULL;
	self->next = self->count = 0;
	if (!dir)
		return;
	Py_BEGIN_ALLOW_THREADS
	cosy_dir_close(dir);
	Py_END_ALLOW_THREADS
}

static void iterator_finalize(struct iterator *self)
{
	PyObject *type, *value, *traceback;

	if (!self->dir)
		return;
	PyErr_Fetch(&type, &value, &traceback);
	if (PyErr_ResourceWarning((PyObject *)self, 1,
				  "unclosed scandir iterator %R", self))
		PyErr_WriteUnraisable((PyObject *)self);
	PyErr_Restore(type, value, traceback);
	iterator_end(self);
}

static void iterator_dealloc(struct iterator *self)
{
	PyTypeObject *type = Py_TYPE(self);

	if (PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0)
		return;
	Py_XDECREF(self->path);
	Py_XDECREF(self->prefix);
	type->tp_free(self);
	Py_DECREF(type);
}

static int check_busy(const struct iterator *self)
{
	if (!self->busy)
		return 0;
	PyErr_SetString(PyExc_ValueError,
			"another thread is reading from this scandir iterator");
	return -1;
}

static PyObject *make_entry(const struct iterator *from,
			    const struct cosy_dir_entry *entry)
{
	const struct state *state = PyType_GetModuleState(Py_TYPE(from));
	struct entry *self = (struct entry *)state->entry->tp_alloc(state->entry, 0);

	if (!self)
		return NULL;
	self->entry = *entry;
	self->entry.name = NULL;
	self->dir_fd = from->dir_fd;
	if (from->bytes)
		self->name = PyBytes_FromString(entry->name);
	else
		self->name = PyUnicode_DecodeFSDefault(entry->name);
	if (!self->name)
		goto failed;
	if (!from->prefix) {
		self->path = Py_NewRef(self->name);
	} else if (from->bytes) {
		self->path = Py_NewRef(from->prefix);
		PyBytes_Concat(&self->path, self->name);
	} else {
		self->path = PyUnicode_Concat(from->prefix, self->name);
	}
	if (!self->path)
		goto failed;
	return (PyObject *)self;
failed:
	Py_DECREF(self);
	return NULL;
}

static PyObject *iterator_next(struct iterator *self)
{
	ssize_t n;

	if (check_busy(self) < 0)
		return NULL;
	if (self->next == self->count && self->dir) {
		self->busy = true;
		Py_BEGIN_ALLOW_THREADS
		n = cosy_dir_read(self->dir, &self->entries);
		Py_END_ALLOW_THREADS
		self->busy = false;
		self->next = 0;
		self->count = n > 0 ? n : 0;
		if (n <= 0)
			iterator_end(self);
		if (n < 0)
			return raise_error(n, self->path);
	}
	if (self->next == self->count)
		return NULL;
	return make_entry(self, &self->entries[self->next++]);
}

static PyObject *iterator_close(struct iterator *self, PyObject *unused)
{
	(void)unused;
	if (check_busy(self) < 0)
		return NULL;
	iterator_end(self);
	Py_RETURN_NONE;
}

static PyObject *iterator_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self);
}

static PyObject *iterator_exit(struct iterator *self, PyObject *args)
{
	(void)args;
	return iterator_close(self, NULL);
}

static PyMethodDef iterator_methods[] = {
	{ "close", (PyCFunction)iterator_close, METH_NOARGS,
	  "close($self, /)\n--\n\nClose the directory." },
	{ "__enter__", iterator_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)iterator_exit, METH_VARARGS, NULL },
	{ 0 },
};

static PyType_Slot iterator_slots[] = {
	{ Py_tp_doc, "The entries of a directory; scandir() returns it." },
	{ Py_tp_dealloc, iterator_dealloc },
	{ Py_tp_finalize, iterator_finalize },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, iterator_next },
	{ Py_tp_methods, iterator_methods },
	{ 0 },
};

static PyType_Spec iterator_spec = {
	.name = "cosy.ScandirIterator",
	.basicsize = sizeof(struct iterator),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = iterator_slots,
};

/* Return the prefix of the names: the path, and a slash unless it ends in one. */
static PyObject *make_prefix(PyObject *path, bool bytes)
{
	PyObject *prefix, *slash;
	Py_ssize_t length;

	if (bytes) {
		length = PyBytes_GET_SIZE(path);
		prefix = Py_NewRef(path);
		if (length && PyBytes_AS_STRING(path)[length - 1] != '/') {
			slash = PyBytes_FromString("/");
			PyBytes_ConcatAndDel(&prefix, slash);
		}
		return prefix;
	}
	length = PyUnicode_GET_LENGTH(path);
	if (!length || PyUnicode_READ_CHAR(path, length - 1) == '/')
		return Py_NewRef(path);
	return PyUnicode_FromFormat("%U/", path);
}

/* Set the directory of @iterator, and set *@name to its path, unless it is a descriptor.
 * Return 0, or -1 with an exception. */
static int take_directory(struct iterator *iterator, PyObject *path, PyObject **name)
{
	PyObject *fspath;

	iterator->dir_fd = AT_FDCWD;
	if (PyIndex_Check(path)) {
		iterator->path = Py_NewRef(path);
		return convert_dir_fd(path, &iterator->dir_fd) ? 0 : -1;
	}
	if (path == Py_None)
		fspath = PyUnicode_FromString(".");
	else
		fspath = PyOS_FSPath(path);
	if (!fspath)
		return -1;
	iterator->path = fspath;
	iterator->bytes = PyBytes_Check(fspath);
	iterator->prefix = make_prefix(fspath, iterator->bytes);
	if (!iterator->prefix || !PyUnicode_FSConverter(fspath, name))
		*name = NULL;
	return *name ? 0 : -1;
}

static PyObject *list_directory(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "path", "stat", NULL };
	const struct state *state = PyModule_GetState(module);
	PyObject *path = Py_None, *name = NULL;
	struct iterator *iterator;
	struct cosy_dir *dir = NULL;
	int result, status = 1;
	bool named;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$p:scandir", names,
					 &path, &status))
		return NULL;
	iterator = (struct iterator *)state->iterator->tp_alloc(state->iterator, 0);
	if (!iterator)
		return NULL;
	if (take_directory(iterator, path, &name) < 0)
		goto failed;
	Py_BEGIN_ALLOW_THREADS
	result = cosy_dir_open(&dir, iterator->dir_fd,
			       name ? PyBytes_AS_STRING(name) : "",
			       (name ? 0 : COSY_DIR_EMPTY_PATH) |
				       (status ? COSY_DIR_STATUS : 0));
	Py_END_ALLOW_THREADS
	if (result < 0) {
		/* As with os.scandir(), a failure to duplicate a descriptor does not name it. */
		named = name || result == -ENOTDIR ||
			(result == -EBADF && fcntl(iterator->dir_fd, F_GETFD) >= 0);
		raise_error(result, named ? iterator->path : NULL);
		goto failed;
	}
	iterator->dir = dir;
	Py_XDECREF(name);
	return (PyObject *)iterator;
failed:
	Py_XDECREF(name);
	Py_DECREF(iterator);
	return NULL;
}

static PyMethodDef methods[] = {
	{ "scandir", (PyCFunction)(void (*)(void))list_directory, WITH_KEYWORDS,
	  "scandir(path=None, *, stat=True)\n--\n\n"
	  "Return an iterator of the entries of a directory, like os.scandir().\n\n"
	  "The same crossings get the names and the status of each entry, so DirEntry.stat()\n"
	  "makes a system call only to follow a symbolic link. With stat=False, the status\n"
	  "is read when it is requested, as with os.scandir()." },
	{ "stat_many", (PyCFunction)(void (*)(void))stat_many, WITH_KEYWORDS,
	  "stat_many(paths, *, dir_fd=None, follow_symlinks=True)\n--\n\n"
	  "Return a list with an os.stat_result for each path, or the OSError that\n"
	  "os.stat() would raise for it." },
	{ "read_many", (PyCFunction)(void (*)(void))read_many, WITH_KEYWORDS,
	  "read_many(paths, *, dir_fd=None, follow_symlinks=True)\n--\n\n"
	  "Return a list with the contents of each regular file as bytes, or the OSError\n"
	  "of reading it." },
	{ "unlink_many", (PyCFunction)(void (*)(void))unlink_many, WITH_KEYWORDS,
	  "unlink_many(paths, *, dir_fd=None, directories=False)\n--\n\n"
	  "Remove files, or empty directories, in order. Return a list with None for each\n"
	  "that was removed, or the OSError that os.unlink() would raise for it." },
	{ "copy_file", (PyCFunction)(void (*)(void))copy_file, WITH_KEYWORDS,
	  "copy_file(src, dst, *, src_dir_fd=None, dst_dir_fd=None, exclusive=False,\n"
	  "          follow_symlinks=True)\n--\n\n"
	  "Copy the contents of a regular file, with holes where the source has them.\n"
	  "Return the number of bytes copied." },
	{ 0 },
};

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec)
{
	PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);

	if (type && PyModule_AddType(module, type) < 0)
		Py_CLEAR(type);
	return type;
}

/* Find os.stat_result, and check that it has the fields that are set here. Return it, or NULL
 * with an exception. */
static PyTypeObject *find_stat_result(void)
{
	PyObject *os = PyImport_ImportModule("os"), *type = NULL, *fields = NULL;
	PyTypeObject *result = NULL;

	if (os)
		type = PyObject_GetAttrString(os, "stat_result");
	if (type)
		fields = PyObject_GetAttrString(type, "n_fields");
	if (fields) {
		if (PyType_Check(type) && PyLong_AsLong(fields) == STAT_FIELDS) {
			result = (PyTypeObject *)Py_NewRef(type);
		} else if (!PyErr_Occurred()) {
			PyErr_Format(PyExc_ImportError,
				     "cosy supports os.stat_result with %d fields, "
				     "but this Python's has %R",
				     STAT_FIELDS, fields);
		}
	}
	Py_XDECREF(os);
	Py_XDECREF(type);
	Py_XDECREF(fields);
	return result;
}

static int module_exec(PyObject *module)
{
	struct state *state = PyModule_GetState(module);

	state->stat_result = find_stat_result();
	if (state->stat_result)
		state->entry = make_type(module, &entry_spec);
	if (state->entry)
		state->iterator = make_type(module, &iterator_spec);
	return state->iterator ? 0 : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct state *state = PyModule_GetState(module);

	Py_VISIT(state->stat_result);
	Py_VISIT(state->entry);
	Py_VISIT(state->iterator);
	return 0;
}

static int module_clear(PyObject *module)
{
	struct state *state = PyModule_GetState(module);

	Py_CLEAR(state->stat_result);
	Py_CLEAR(state->entry);
	Py_CLEAR(state->iterator);
	return 0;
}

static void module_free(void *module)
{
	module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
	{ Py_mod_exec, module_exec },
#ifdef Py_mod_multiple_interpreters
	{ Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
#endif
	{ 0 },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "cosy._cosy",
	.m_size = sizeof(struct state),
	.m_methods = methods,
	.m_slots = module_slots,
	.m_traverse = module_traverse,
	.m_clear = module_clear,
	.m_free = module_free,
};

PyMODINIT_FUNC PyInit__cosy(void)
{
	return PyModuleDef_Init(&definition);
}
