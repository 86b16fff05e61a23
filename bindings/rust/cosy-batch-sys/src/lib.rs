// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! The C functions of libcosy-batch, as `<cosy/batch.h>` declares and describes them.
//!
//! The crate `cosy-batch` has safe functions for all of them.

#![no_std]
#![allow(non_camel_case_types)]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
compile_error!("libcosy-batch supports only x86_64-unknown-linux-gnu");

/// A C `int`.
pub type c_int = i32;
/// A C `char`.
pub type c_char = i8;

/// Relative paths start from the working directory.
pub const AT_FDCWD: c_int = -100;
/// Symbolic links are not followed.
pub const AT_SYMLINK_NOFOLLOW: c_int = 0x100;
/// Directories are removed, not files.
pub const AT_REMOVEDIR: c_int = 0x200;

pub const COSY_COPY_EXCLUSIVE: c_int = 1;
pub const COSY_COPY_NOFOLLOW: c_int = 2;
pub const COSY_DIR_STATUS: c_int = 1;
pub const COSY_DIR_NOFOLLOW: c_int = 2;
pub const COSY_DIR_EMPTY_PATH: c_int = 4;

/// `struct stat` of `<sys/stat.h>`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct stat {
    pub st_dev: u64,
    pub st_ino: u64,
    pub st_nlink: u64,
    pub st_mode: u32,
    pub st_uid: u32,
    pub st_gid: u32,
    pad: u32,
    pub st_rdev: u64,
    pub st_size: i64,
    pub st_blksize: i64,
    pub st_blocks: i64,
    pub st_atime: i64,
    pub st_atime_nsec: i64,
    pub st_mtime: i64,
    pub st_mtime_nsec: i64,
    pub st_ctime: i64,
    pub st_ctime_nsec: i64,
    reserved: [i64; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct cosy_read_result {
    pub offset: usize,
    pub length: isize,
}

#[repr(C)]
pub struct cosy_dir_entry {
    pub name: *const c_char,
    pub inode: u64,
    pub result: c_int,
    pub type_: u8,
    /// Valid if `result` is 0.
    pub status: core::mem::MaybeUninit<stat>,
}

/// A directory that is being listed.
#[repr(C)]
pub struct cosy_dir {
    _opaque: [u8; 0],
}

extern "C" {
    pub fn cosy_stat_many(
        dirfd: c_int,
        paths: *const *const c_char,
        count: usize,
        flags: c_int,
        status: *mut stat,
        results: *mut c_int,
    ) -> isize;
    pub fn cosy_read_many(
        dirfd: c_int,
        paths: *const *const c_char,
        count: usize,
        flags: c_int,
        buffer: *mut u8,
        size: usize,
        results: *mut cosy_read_result,
    ) -> isize;
    pub fn cosy_unlink_many(
        dirfd: c_int,
        paths: *const *const c_char,
        count: usize,
        flags: c_int,
        results: *mut c_int,
    ) -> isize;
    pub fn cosy_copy_file(
        from_dirfd: c_int,
        from: *const c_char,
        to_dirfd: c_int,
        to: *const c_char,
        flags: c_int,
        copied: *mut i64,
    ) -> c_int;
    pub fn cosy_dir_open(
        dir: *mut *mut cosy_dir,
        dirfd: c_int,
        path: *const c_char,
        flags: c_int,
    ) -> c_int;
    pub fn cosy_dir_read(dir: *mut cosy_dir, entries: *mut *const cosy_dir_entry) -> isize;
    pub fn cosy_dir_close(dir: *mut cosy_dir);
}
