// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! Directories that are being listed.

use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::iter::FusedIterator;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use cosy_batch_sys as sys;

use crate::at::error;
use crate::{FileType, Metadata};

/// An iterator over the entries of a directory, in the directory's order, without `.` and `..`.
///
/// If reading the next entries fails, the error is returned, and the next call tries again. The
/// status of an entry has its own error: [`DirEntry::metadata`]. If the next block cannot be read, the same
/// error may be returned again and again: a loop that continues after errors may not end.
#[derive(Debug)]
pub struct ReadDir {
    dir: *mut sys::cosy_dir,
    path: Arc<PathBuf>,
    /// The entries that are left of the last block. They are valid until the next block is read.
    entries: *const sys::cosy_dir_entry,
    left: usize,
    ended: bool,
}

// SAFETY: this owns the directory, which does not depend on a thread.
unsafe impl Send for ReadDir {}
// SAFETY: a shared reference gives no access to the directory.
unsafe impl Sync for ReadDir {}

/// An entry of a directory, like [`std::fs::DirEntry`].
#[derive(Debug)]
pub struct DirEntry {
    directory: Arc<PathBuf>,
    name: OsString,
    inode: u64,
    d_type: u8,
    /// The status, or a negative errno.
    status: Result<Metadata, i32>,
}

impl ReadDir {
    /// Takes the ownership of an open directory.
    pub(crate) fn new(dir: *mut sys::cosy_dir, path: &Path) -> Self {
        ReadDir {
            dir,
            path: Arc::new(path.to_owned()),
            entries: ptr::null(),
            left: 0,
            ended: false,
        }
    }
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            if self.ended {
                return None;
            }
            // SAFETY: the directory is open, and no entry of the last block is used any more.
            let n = unsafe { sys::cosy_dir_read(self.dir, &mut self.entries) };
            match usize::try_from(n) {
                Ok(n) => self.left = n,
                Err(_) => return Some(Err(error(n))),
            }
            if self.left == 0 {
                self.ended = true;
                return None;
            }
        }
        // SAFETY: there are `left` entries. Their names are set; the status is set if the result
        // is 0.
        let entry = unsafe {
            let entry = &*self.entries;
            self.entries = self.entries.add(1);
            DirEntry {
                directory: Arc::clone(&self.path),
                name: OsStr::from_bytes(CStr::from_ptr(entry.name).to_bytes()).to_owned(),
                inode: entry.inode,
                d_type: entry.type_,
                status: match entry.result {
                    0 => Ok(Metadata::new(entry.status.assume_init())),
                    result => Err(result),
                },
            }
        };
        self.left -= 1;
        Some(Ok(entry))
    }
}

impl FusedIterator for ReadDir {}

impl Drop for ReadDir {
    fn drop(&mut self) {
        // SAFETY: the directory is not used any more.
        unsafe { sys::cosy_dir_close(self.dir) }
    }
}

impl DirEntry {
    /// The path of the directory, as it was passed, and the name.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// The name.
    pub fn file_name(&self) -> &OsStr {
        &self.name
    }

    /// The status from the time when the entry was read. A symbolic link is not followed. Fails if
    /// the file was removed meanwhile.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.status.map_err(|result| error(result as isize))
    }

    /// The type. Fails only if neither the directory nor the status contains it.
    pub fn file_type(&self) -> io::Result<FileType> {
        match FileType::of_entry(self.d_type) {
            Some(file_type) => Ok(file_type),
            None => self.metadata().map(|metadata| metadata.file_type()),
        }
    }

    /// The inode number in the directory. For a mount point, the status has another number.
    pub fn ino(&self) -> u64 {
        self.inode
    }
}
