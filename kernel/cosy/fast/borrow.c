// SPDX-License-Identifier: GPL-2.0
/*
 * borrow.c - copies from a file to another one, or to a socket, by references to the
 * pages of the page cache.
 *
 * A read with the hint BORROW copies nothing: the run holds references to the pages of the
 * page cache. The write of the same bytes copies from these pages. Until then the process's
 * buffer is stale; the hint promises that it is not read. If the compound leaves between the
 * read and the write, the buffer is filled first.
 */
#include <linux/bvec.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/sched/xacct.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>

#include "fast/cached.h"
#include "fast/io.h"
#include "limit/limit.h"

/* Longer reads copy, because they would pin too many pages. */
#define COSY_BORROW_MAX	(1ul << 20)
/* sendfile() holds references to as many pages. More are charged to the user. */
#define COSY_BORROW_FREE_PAGES	17

/**
 * struct cosy_borrowed - data that was read but not copied
 * @addr:   address of the process's buffer
 * @len:    bytes, 0 if nothing is borrowed
 * @from:   page cache of the pages; only compared, never dereferenced
 * @pos:    position of the data in the file
 * @cached: the pages
 * @owner:  owner that is charged if there is room for more than COSY_BORROW_FREE_PAGES
 * @ordinary: address of a buffer that is cosy_ordinary()
 * @ordinary_len: its length in bytes
 * @vec:    room for @cached
 */
struct cosy_borrowed {
	u64 addr;
	size_t len;
	const struct address_space *from;
	loff_t pos;
	struct cosy_cached cached;
	u64 owner;
	u64 ordinary;
	size_t ordinary_len;
	struct bio_vec vec[];
};

static __always_inline void cosy_borrowed_drop(struct cosy_borrowed *b)
{
	cosy_cached_put(&b->cached);
	b->len = 0;
}

/* Copy the data to the process's buffer. If that was unmapped, the data is not needed. */
static noinline void cosy_borrowed_fill(struct cosy_borrowed *b)
{
	cosy_cached_copy(&b->cached, b->addr, b->len);
	cosy_borrowed_drop(b);
}

static void cosy_borrowed_free(struct cosy_borrowed *b)
{
	cosy_borrowed_drop(b);
	if (b->cached.room > COSY_BORROW_FREE_PAGES)
		cosy_quota_uncharge(b->owner, (u64)b->cached.room << PAGE_SHIFT);
	kfree(b);
}

/**
 * cosy_borrow_leave() - fill the buffer, because a compound leaves before its end
 * @env: its run
 */
void cosy_borrow_leave(struct cosy_env *env)
{
	cosy_borrowed_fill(env->borrowed);
	cosy_borrow_end(env);
}

/**
 * cosy_borrow_end() - drop borrowed pages, because a compound has ended
 * @env: its run
 */
void cosy_borrow_end(struct cosy_env *env)
{
	cosy_borrowed_free(env->borrowed);
	env->borrowed = NULL;
}

/* Make room for a read, up to the end of the file. Replaces the previous structure if needed. */
static noinline struct cosy_borrowed *
cosy_borrow_alloc(struct cosy_env *env, struct file *file, size_t count,
		  loff_t pos)
{
	loff_t left = i_size_read(file_inode(file)) - pos;
	struct cosy_borrowed *b = env->borrowed;
	u64 owner = cosy_quota_owner();
	unsigned int room;

	if (left <= 0)
		return NULL;
	room = max_t(u64, COSY_BORROW_FREE_PAGES,
		     (min_t(u64, count, left) + 2 * (PAGE_SIZE - 1)) >> PAGE_SHIFT);
	if (b && room <= b->cached.room)
		return b;
	if (b)
		cosy_borrow_end(env);
	if (room > COSY_BORROW_FREE_PAGES &&
	    cosy_quota_charge(owner, (u64)room << PAGE_SHIFT))
		return NULL;
	b = kmalloc(struct_size(b, vec, room), GFP_KERNEL_ACCOUNT);
	if (!b) {
		if (room > COSY_BORROW_FREE_PAGES)
			cosy_quota_uncharge(owner, (u64)room << PAGE_SHIFT);
		return NULL;
	}
	b->len = 0;
	b->cached = (struct cosy_cached){ .room = room, .vec = b->vec };
	b->owner = owner;
	b->ordinary = 0;
	b->ordinary_len = 0;
	env->borrowed = b;
	return b;
}

/*
 * Return true if writing to the buffer has no side effects. Checked once for a buffer: if the
 * process maps a device there later, only its own mapping is written.
 */
static __always_inline bool cosy_borrow_is_ordinary(struct cosy_borrowed *b,
						    u64 addr, size_t len)
{
	if (likely(addr == b->ordinary && len <= b->ordinary_len))
		return true;
	if (!cosy_ordinary(addr, len))
		return false;
	b->ordinary = addr;
	b->ordinary_len = len;
	return true;
}

/* Take references to the pages of a read. Return the bytes, 0 if they cannot be borrowed. */
static __always_inline size_t cosy_borrow(struct cosy_env *env,
					  struct file *file, u64 addr,
					  size_t count, loff_t pos)
{
	struct cosy_borrowed *b = env->borrowed;
	size_t len;

	if (unlikely(!b || count > (b->cached.room - 1) * PAGE_SIZE))
		b = cosy_borrow_alloc(env, file, count, pos);
	if (unlikely(!b))
		return 0;
	len = cosy_cached_get(&b->cached, file, pos, count);
	if (unlikely(!len))
		return 0;
	/* A buffer that is not writable must fail now, as natively. */
	if (unlikely(!cosy_borrow_is_ordinary(b, addr, len) ||
		     !cosy_writable(addr, len))) {
		cosy_cached_put(&b->cached);
		return 0;
	}
	b->addr = addr;
	b->len = len;
	b->from = file->f_mapping;
	b->pos = pos;
	cosy_cached_accessed(&b->cached, file, pos, len);
	return len;
}

/*
 * Return true if others may change the pages before the write copies them, or see the position of
 * the file and change them then: natively the process has a copy.
 */
static __always_inline bool cosy_is_changeable(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	/* A memfd, on a file system of the kernel's own, does not count as open for writing. */
	return inode_is_open_for_write(inode) || cosy_sb_is_watched(inode->i_sb) ||
	       inode->i_sb->s_flags & SB_NOUSER;
}

/* Like cosy_transfer_fn, for a read that borrows. */
static __always_inline long cosy_read_borrowing(struct cosy_state *st,
						const struct cosy_insn *ip,
						struct file *file, loff_t *pos)
{
	u64 addr = cosy_fast_arg(st, ip, 1);
	u64 count = cosy_fast_arg(st, ip, 2);
	size_t len;
	long ret;

	/* The buffer was overwritten, or its content is not needed. */
	if (likely(st->env.borrowed) && unlikely(st->env.borrowed->len))
		cosy_borrowed_drop(st->env.borrowed);
	if (unlikely(!cosy_is_cached(file) || cosy_is_changeable(file) ||
		     !count || count > COSY_BORROW_MAX ||
		     !cosy_access_ok(u64_to_user_ptr(addr), count)))
		return cosy_read_file(file, addr, count, pos);
	ret = rw_verify_area(READ, file, pos, count);
	if (unlikely(ret))
		return ret;
	len = cosy_borrow(&st->env, file, addr, count, *pos);
	if (unlikely(!len))
		return cosy_read_allowed(file, addr, count, pos);
	*pos += len;
	fsnotify_access(file);
	add_rchar(current, len);
	inc_syscr(current);
	return len;
}

/*
 * Return true if a write may overwrite borrowed bytes of the same file before it copies them. A
 * write to exactly the position of the read does not.
 */
static bool cosy_borrow_overlaps(const struct cosy_borrowed *b,
				 const struct file *file, loff_t pos)
{
	if (likely(file->f_mapping != b->from))
		return false;
	if (file->f_flags & O_APPEND)
		return true;
	return pos != b->pos && (u64)(pos < b->pos ? b->pos - pos :
						    pos - b->pos) < b->len;
}

/*
 * Return true if a socket takes @len bytes without waiting. While a call waits, other
 * threads may change the file, but the bytes that were read must be sent.
 */
static bool cosy_socket_has_room(struct sock *sk, size_t len)
{
	size_t queued;

	/* IPV6_ADDRFORM can change AF_INET6 to AF_INET at any time. */
	switch (READ_ONCE(sk->sk_family)) {
	case AF_UNIX:
		queued = sk_wmem_alloc_get(sk);
		break;
	case AF_INET:
	case AF_INET6:
		if (sk->sk_protocol != IPPROTO_TCP || inet_csk_has_ulp(sk) ||
		    !(BIT(READ_ONCE(sk->sk_state)) &
		      (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
			return false;
		queued = READ_ONCE(sk->sk_wmem_queued);
		break;
	default:
		return false;
	}
	/* The socket charges more than the data, but less than twice as much. */
	return queued + 2 * len < READ_ONCE(sk->sk_sndbuf);
}

static bool cosy_can_send_borrowed(struct file *file, size_t len)
{
	struct socket *sock = sock_from_file(file);

	return sock && sock->sk && cosy_socket_has_room(sock->sk, len);
}

/* Return true if the file can be written from the borrowed pages. */
static __always_inline bool cosy_can_write_borrowed(const struct cosy_borrowed *b,
						    struct file *file, const loff_t *pos)
{
	const struct inode *inode = file_inode(file);

	if ((file->f_mode & (FMODE_WRITE | FMODE_CAN_WRITE)) !=
		    (FMODE_WRITE | FMODE_CAN_WRITE) ||
	    file->f_flags & O_DIRECT || !file->f_op->write_iter)
		return false;
	if (!S_ISREG(inode->i_mode))
		return !pos && cosy_can_send_borrowed(file, b->len);
	return pos && !IS_DAX(inode) &&
	       cosy_reads_cache(file) &&
	       !cosy_borrow_overlaps(b, file, *pos);
}

/* Return the borrowed data if the write at @ip writes exactly this data, otherwise NULL. */
static __always_inline struct cosy_borrowed *
cosy_borrowed_of(const struct cosy_state *st, const struct cosy_insn *ip)
{
	struct cosy_borrowed *b = st->env.borrowed;

	if (!b || !b->len || b->addr != cosy_fast_arg(st, ip, 1) ||
	    b->len != cosy_fast_arg(st, ip, 2))
		return NULL;
	return b;
}

/* Like cosy_transfer_fn, for a write of borrowed data. */
static __always_inline long cosy_write_borrowed(struct cosy_state *st,
						const struct cosy_insn *ip,
						struct file *file, loff_t *pos)
{
	struct cosy_borrowed *b = cosy_borrowed_of(st, ip);
	struct iov_iter iter __uninitialized;
	long ret;

	if (likely(b && cosy_can_write_borrowed(b, file, pos))) {
		iov_iter_bvec(&iter, WRITE, b->vec, b->cached.nr, b->len);
		ret = cosy_write_iter(file, &iter, pos);
		if (likely(ret == b->len))
			cosy_borrowed_drop(b);
		return ret;
	}
	if (st->env.borrowed)
		cosy_borrowed_fill(st->env.borrowed);
	return cosy_write_file(file, cosy_fast_arg(st, ip, 1),
			       cosy_fast_arg(st, ip, 2), pos);
}

/** cosy_borrow_read() - borrowing read after a joined lseek */
long cosy_borrow_read(struct cosy_state *st, const struct cosy_insn *ip,
		      struct file *file, loff_t *pos)
{
	return cosy_read_borrowing(st, ip, file, pos);
}

/** cosy_borrow_write() - write of borrowed data after a joined lseek */
long cosy_borrow_write(struct cosy_state *st, const struct cosy_insn *ip,
		       struct file *file, loff_t *pos)
{
	return cosy_write_borrowed(st, ip, file, pos);
}

/** cosy_fast_borrow_read() - read(fd, buffer, count) that borrows */
struct cosy_made cosy_fast_borrow_read(struct cosy_state *st,
				       const struct cosy_insn *ip)
{
	return cosy_io_here(st, ip, cosy_read_borrowing);
}

/** cosy_fast_borrow_pread64() - pread(fd, buffer, count, offset) that borrows */
struct cosy_made cosy_fast_borrow_pread64(struct cosy_state *st,
					  const struct cosy_insn *ip)
{
	return cosy_io_at(st, ip, FMODE_PREAD, cosy_read_borrowing);
}

/** cosy_fast_borrow_write() - write(fd, buffer, count) of borrowed data */
struct cosy_made cosy_fast_borrow_write(struct cosy_state *st,
					const struct cosy_insn *ip)
{
	return cosy_io_here(st, ip, cosy_write_borrowed);
}

/** cosy_fast_borrow_pwrite64() - pwrite(fd, buffer, count, offset) of borrowed data */
struct cosy_made cosy_fast_borrow_pwrite64(struct cosy_state *st,
					   const struct cosy_insn *ip)
{
	return cosy_io_at(st, ip, FMODE_PWRITE, cosy_write_borrowed);
}

/* Send like __sys_sendto() in net/socket.c. Return false if the plain call must be made. */
static bool cosy_borrow_send(const struct cosy_borrowed *b, struct file *file,
			     unsigned int flags, long *ret)
{
	struct msghdr msg = { .msg_flags = flags };

	if (flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR) ||
	    !cosy_can_send_borrowed(file, b->len))
		return false;
	if (file->f_flags & O_NONBLOCK)
		msg.msg_flags |= MSG_DONTWAIT;
	iov_iter_bvec(&msg.msg_iter, WRITE, b->vec, b->cached.nr, b->len);
	*ret = sock_sendmsg(sock_from_file(file), &msg);
	return true;
}

/** cosy_fast_borrow_sendto() - sendto(fd, buffer, count, flags, NULL, 0) of borrowed data */
struct cosy_made cosy_fast_borrow_sendto(struct cosy_state *st,
					 const struct cosy_insn *ip)
{
	struct cosy_borrowed *b = cosy_borrowed_of(st, ip);
	bool sent = false;
	struct cosy_fd fd;
	long ret;

	if (b && !cosy_private_arg(st, ip) && !cosy_fast_arg(st, ip, 4)) {
		fd = cosy_fd_get(cosy_fast_arg(st, ip, 0));
		sent = fd.file && cosy_borrow_send(b, fd.file,
						   cosy_fast_arg(st, ip, 3),
						   &ret);
		cosy_fd_put(fd);
	}
	if (likely(sent)) {
		if (likely(ret == b->len))
			cosy_borrowed_drop(b);
		return cosy_made(ip, ret);
	}
	if (st->env.borrowed)
		cosy_borrowed_fill(st->env.borrowed);
	return cosy_fast_plain(st, ip);
}
