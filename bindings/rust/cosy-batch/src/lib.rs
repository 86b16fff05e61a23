// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! Many file operations in one crossing into the kernel.
//!
//! The functions are those of [`std::fs`] for many paths. Each path has a result of its own. A
//! path that fails does not stop the others. The paths are processed in their order.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let mut total = 0;
//! for entry in cosy_batch::read_dir("/etc")? {
//!     total += entry?.metadata()?.len();
//! }
//! let paths = ["/etc/passwd", "/etc/missing"];
//! for (path, result) in paths.iter().zip(cosy_batch::metadata_many(paths)) {
//!     match result {
//!         Ok(metadata) => println!("{path}: {} bytes", metadata.len()),
//!         Err(error) => eprintln!("{path}: {error}"),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Relative paths start from the working directory; with [`At`], from another directory.
//! A path that contains a NUL fails with [`io::ErrorKind::InvalidInput`], as in [`std::fs`].
//! Unlike in [`std::fs`], if a signal handler without `SA_RESTART` interrupts a system call, its
//! path fails with [`io::ErrorKind::Interrupted`].
//!
//! Without the kernel module of Cosy the functions make the same system calls one by one.
//! `man cosy-batch` describes the C functions that they call.

mod at;
mod dir;
mod metadata;

use std::io;
use std::path::Path;

pub use at::At;
pub use dir::{DirEntry, ReadDir};
pub use metadata::{FileType, Metadata};

/// Gets the status of many paths, following symbolic links, like [`std::fs::metadata`].
pub fn metadata_many<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
) -> Vec<io::Result<Metadata>> {
    At::cwd().metadata_many(paths)
}

/// Gets the status of many paths, without following symbolic links, like
/// [`std::fs::symlink_metadata`].
pub fn symlink_metadata_many<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
) -> Vec<io::Result<Metadata>> {
    At::cwd().symlink_metadata_many(paths)
}

/// Reads many whole regular files, like [`std::fs::read`]. Other files fail: a directory with
/// `EISDIR`, a FIFO or device with `EINVAL`.
pub fn read_many<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<io::Result<Vec<u8>>> {
    At::cwd().read_many(paths)
}

/// Reads many regular files through one buffer, and calls `each` with the index of the path and
/// the contents, which are in the buffer until `each` returns. A file that is larger than the
/// buffer fails with `EFBIG`.
pub fn read_each<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
    buffer: &mut [u8],
    each: impl FnMut(usize, io::Result<&[u8]>),
) {
    At::cwd().read_each(paths, buffer, each);
}

/// Removes many files, like [`std::fs::remove_file`].
pub fn remove_file_many<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<io::Result<()>> {
    At::cwd().remove_file_many(paths)
}

/// Removes many empty directories, like [`std::fs::remove_dir`].
pub fn remove_dir_many<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<io::Result<()>> {
    At::cwd().remove_dir_many(paths)
}

/// Copies the contents of a regular file, and returns the number of bytes. A new destination
/// gets the source's permission bits, restricted by the umask; an existing one keeps its own.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    At::cwd().copy(from, to)
}

/// Lists a directory like [`std::fs::read_dir`], but with the status of each entry.
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    At::cwd().read_dir(path)
}
