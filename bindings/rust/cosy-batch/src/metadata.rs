// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! The status and the type of a file.

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cosy_batch_sys as sys;

const S_IFMT: u32 = 0o170000;

/// The status of a file. A [`std::fs::Metadata`] cannot be made from the results of the C
/// functions. This type has the same methods, also those of [`std::os::unix::fs::MetadataExt`].
#[derive(Clone, Copy)]
pub struct Metadata {
    status: sys::stat,
}

/// The type of a file, like [`std::fs::FileType`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FileType {
    /// The bits of `st_mode`.
    mode: u32,
}

fn time(seconds: i64, nanoseconds: i64) -> io::Result<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time =
        if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time.and_then(|time| time.checked_add(Duration::from_nanos(nanoseconds as u64)))
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

impl Metadata {
    pub(crate) fn new(status: sys::stat) -> Self {
        Metadata { status }
    }

    /// Its type.
    pub fn file_type(&self) -> FileType {
        FileType { mode: self.status.st_mode & S_IFMT }
    }

    /// Returns true for a directory.
    pub fn is_dir(&self) -> bool {
        self.file_type().is_dir()
    }

    /// Returns true for a regular file.
    pub fn is_file(&self) -> bool {
        self.file_type().is_file()
    }

    /// Returns true for a symbolic link.
    pub fn is_symlink(&self) -> bool {
        self.file_type().is_symlink()
    }

    /// Its size in bytes.
    #[allow(clippy::len_without_is_empty)] // as in std
    pub fn len(&self) -> u64 {
        self.status.st_size as u64
    }

    /// The time when its contents were last changed.
    pub fn modified(&self) -> io::Result<SystemTime> {
        time(self.status.st_mtime, self.status.st_mtime_nsec)
    }

    /// The time when its contents were last read.
    pub fn accessed(&self) -> io::Result<SystemTime> {
        time(self.status.st_atime, self.status.st_atime_nsec)
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata")
            .field("mode", &format_args!("{:o}", self.mode()))
            .field("len", &self.len())
            .field("modified", &self.modified())
            .finish_non_exhaustive()
    }
}

impl MetadataExt for Metadata {
    fn dev(&self) -> u64 {
        self.status.st_dev
    }
    fn ino(&self) -> u64 {
        self.status.st_ino
    }
    fn mode(&self) -> u32 {
        self.status.st_mode
    }
    fn nlink(&self) -> u64 {
        self.status.st_nlink
    }
    fn uid(&self) -> u32 {
        self.status.st_uid
    }
    fn gid(&self) -> u32 {
        self.status.st_gid
    }
    fn rdev(&self) -> u64 {
        self.status.st_rdev
    }
    fn size(&self) -> u64 {
        self.len()
    }
    fn atime(&self) -> i64 {
        self.status.st_atime
    }
    fn atime_nsec(&self) -> i64 {
        self.status.st_atime_nsec
    }
    fn mtime(&self) -> i64 {
        self.status.st_mtime
    }
    fn mtime_nsec(&self) -> i64 {
        self.status.st_mtime_nsec
    }
    fn ctime(&self) -> i64 {
        self.status.st_ctime
    }
    fn ctime_nsec(&self) -> i64 {
        self.status.st_ctime_nsec
    }
    fn blksize(&self) -> u64 {
        self.status.st_blksize as u64
    }
    fn blocks(&self) -> u64 {
        self.status.st_blocks as u64
    }
}

impl FileType {
    /// Returns the type for a `d_type`, which has these bits of a mode; `None` if it is unknown.
    pub(crate) fn of_entry(d_type: u8) -> Option<Self> {
        match d_type {
            0 => None,
            _ => Some(FileType { mode: u32::from(d_type) << 12 }),
        }
    }

    /// Returns true for a directory.
    pub fn is_dir(&self) -> bool {
        self.mode == 0o040000
    }

    /// Returns true for a regular file.
    pub fn is_file(&self) -> bool {
        self.mode == 0o100000
    }

    /// Returns true for a symbolic link.
    pub fn is_symlink(&self) -> bool {
        self.mode == 0o120000
    }

    /// Returns true for a FIFO.
    pub fn is_fifo(&self) -> bool {
        self.mode == 0o010000
    }

    /// Returns true for a socket.
    pub fn is_socket(&self) -> bool {
        self.mode == 0o140000
    }

    /// Returns true for a block device.
    pub fn is_block_device(&self) -> bool {
        self.mode == 0o060000
    }

    /// Returns true for a character device.
    pub fn is_char_device(&self) -> bool {
        self.mode == 0o020000
    }
}
