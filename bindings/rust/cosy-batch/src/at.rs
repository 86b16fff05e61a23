// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! The functions, with the directory where relative paths start.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::ptr;

use cosy_batch_sys as sys;

use crate::{Metadata, ReadDir};

const EFBIG: isize = 27;
/// The size of the buffer of `read_many()`.
const BUFFER: usize = 256 * 1024;

/// Where relative paths start.
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// use std::os::unix::io::AsFd;
///
/// let etc = std::fs::File::open("/etc")?;
/// let contents = cosy_batch::At::dir(etc.as_fd()).read_many(["hostname", "passwd"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct At<'fd> {
    dir: Option<BorrowedFd<'fd>>,
}

/// Returns the `io::Error` of a negative errno.
pub(crate) fn error(result: isize) -> io::Error {
    io::Error::from_raw_os_error(result.wrapping_neg() as i32)
}

fn c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Paths as C strings, without those that contain a NUL.
struct Paths {
    owned: Vec<CString>,
    /// For each path: the error why it is not in `owned`, or `None`.
    refused: Vec<Option<io::Error>>,
}

impl Paths {
    fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut owned = Vec::new();
        let refused = paths
            .into_iter()
            .map(|path| c_string(path.as_ref()).map(|path| owned.push(path)).err())
            .collect();
        Paths { owned, refused }
    }

    fn pointers(&self) -> Vec<*const c_char> {
        self.owned.iter().map(|path| path.as_ptr()).collect()
    }

    /// Puts the results of `owned` and the errors of the others into the order of the paths.
    fn merge<T>(self, results: impl IntoIterator<Item = io::Result<T>>) -> Vec<io::Result<T>> {
        let mut results = results.into_iter();
        self.refused
            .into_iter()
            .map(|refused| match refused {
                Some(error) => Err(error),
                None => results.next().expect("a result for each path"),
            })
            .collect()
    }
}

impl At<'static> {
    /// Relative paths start from the working directory.
    pub const fn cwd() -> Self {
        At { dir: None }
    }
}

impl<'fd> At<'fd> {
    /// Relative paths start from an open directory.
    pub const fn dir(dir: BorrowedFd<'fd>) -> Self {
        At { dir: Some(dir) }
    }

    fn raw(&self) -> c_int {
        self.dir.map_or(sys::AT_FDCWD, |dir| dir.as_raw_fd())
    }

    fn status<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
        flags: c_int,
    ) -> Vec<io::Result<Metadata>> {
        let paths = Paths::new(paths);
        let pointers = paths.pointers();
        let count = pointers.len();
        let mut status: Vec<MaybeUninit<sys::stat>> = Vec::with_capacity(count);
        let mut results = vec![0; count];

        // SAFETY: the arrays have room for `count` elements.
        let n = unsafe {
            sys::cosy_stat_many(
                self.raw(),
                pointers.as_ptr(),
                count,
                flags,
                status.as_mut_ptr().cast(),
                results.as_mut_ptr(),
            )
        };
        assert!(n >= 0, "cosy_stat_many: {}", error(n));
        // SAFETY: the capacity is at least `count`, and a MaybeUninit is always initialized.
        unsafe { status.set_len(count) };
        paths.merge(results.into_iter().zip(status).map(|(result, status)| {
            if result == 0 {
                // SAFETY: the status is set if the result is 0.
                Ok(Metadata::new(unsafe { status.assume_init() }))
            } else {
                Err(error(result as isize))
            }
        }))
    }

    /// See [`metadata_many`](crate::metadata_many).
    pub fn metadata_many<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<io::Result<Metadata>> {
        self.status(paths, 0)
    }

    /// See [`symlink_metadata_many`](crate::symlink_metadata_many).
    pub fn symlink_metadata_many<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<io::Result<Metadata>> {
        self.status(paths, sys::AT_SYMLINK_NOFOLLOW)
    }

    fn remove<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
        flags: c_int,
    ) -> Vec<io::Result<()>> {
        let paths = Paths::new(paths);
        let pointers = paths.pointers();
        let mut results = vec![0; pointers.len()];

        // SAFETY: both arrays have `pointers.len()` elements.
        let n = unsafe {
            sys::cosy_unlink_many(
                self.raw(),
                pointers.as_ptr(),
                pointers.len(),
                flags,
                results.as_mut_ptr(),
            )
        };
        assert!(n >= 0, "cosy_unlink_many: {}", error(n));
        paths.merge(results.into_iter().map(|result| match result {
            0 => Ok(()),
            _ => Err(error(result as isize)),
        }))
    }

    /// See [`remove_file_many`](crate::remove_file_many).
    pub fn remove_file_many<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<io::Result<()>> {
        self.remove(paths, 0)
    }

    /// See [`remove_dir_many`](crate::remove_dir_many).
    pub fn remove_dir_many<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<io::Result<()>> {
        self.remove(paths, sys::AT_REMOVEDIR)
    }

    /// Reads the first files: as many as fit into `buffer`, at least one unless there are none.
    /// Calls `each` with the index of each and its result: the contents, or a negative errno.
    fn read_block(
        &self,
        pointers: &[*const c_char],
        buffer: &mut [u8],
        results: &mut [sys::cosy_read_result],
        mut each: impl FnMut(usize, Result<&[u8], isize>),
    ) -> usize {
        assert!(pointers.len() <= results.len());
        // SAFETY: the arrays have at least the number of elements that is passed.
        let n = unsafe {
            sys::cosy_read_many(
                self.raw(),
                pointers.as_ptr(),
                pointers.len(),
                0,
                buffer.as_mut_ptr(),
                buffer.len(),
                results.as_mut_ptr(),
            )
        };
        assert!(n >= 0, "cosy_read_many: {}", error(n));
        for (index, result) in results[..n as usize].iter().enumerate() {
            each(
                index,
                match usize::try_from(result.length) {
                    Ok(length) => Ok(&buffer[result.offset..][..length]),
                    Err(_) => Err(result.length),
                },
            );
        }
        n as usize
    }

    /// See [`read_each`](crate::read_each).
    pub fn read_each<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
        buffer: &mut [u8],
        mut each: impl FnMut(usize, io::Result<&[u8]>),
    ) {
        let Paths { owned, refused } = Paths::new(paths);
        let pointers: Vec<_> = owned.iter().map(|path| path.as_ptr()).collect();
        let mut results = vec![sys::cosy_read_result::default(); pointers.len()];
        let mut refused = refused.into_iter().enumerate();
        let mut done = 0;

        // Report the errors of paths with a NUL in the order of the paths.
        let mut next = |each: &mut dyn FnMut(usize, io::Result<&[u8]>)| loop {
            match refused.next() {
                Some((index, Some(error))) => each(index, Err(error)),
                Some((index, None)) => return Some(index),
                None => return None,
            }
        };
        while done < pointers.len() {
            done += self.read_block(&pointers[done..], buffer, &mut results, |_, contents| {
                let index = next(&mut each).expect("a path for each result");
                each(index, contents.map_err(error));
            });
        }
        next(&mut each);
    }

    /// Returns the size of a file that did not fit into a buffer; 0 if it is unknown.
    fn size(&self, path: *const c_char) -> usize {
        let mut status = MaybeUninit::<sys::stat>::uninit();
        let mut result = 0;

        // SAFETY: the arrays have one element.
        unsafe {
            let n = sys::cosy_stat_many(self.raw(), &path, 1, 0, status.as_mut_ptr(), &mut result);
            match n {
                1 => status.assume_init().st_size as usize,
                _ => 0,
            }
        }
    }

    /// Reads a file that did not fit into `size` bytes.
    fn read_large(&self, path: *const c_char, mut size: usize) -> io::Result<Vec<u8>> {
        loop {
            let known = self.size(path);
            let mut contents = Vec::<u8>::new();
            let mut result = sys::cosy_read_result::default();

            size = known.max(2 * size);
            if contents.try_reserve_exact(size).is_err() {
                return Err(match known == size {
                    true => io::ErrorKind::OutOfMemory.into(),
                    // A file system may fail with EFBIG, however large the buffer is.
                    false => error(-EFBIG),
                });
            }
            // SAFETY: there is one path and one result, and a capacity of at least `size`.
            let n = unsafe {
                let buffer = contents.as_mut_ptr();
                sys::cosy_read_many(self.raw(), &path, 1, 0, buffer, size, &mut result)
            };
            assert!(n == 1, "cosy_read_many: {}", error(n));
            match usize::try_from(result.length) {
                Ok(length) => {
                    // SAFETY: this number of bytes was read.
                    unsafe { contents.set_len(length) };
                    contents.shrink_to_fit();
                    return Ok(contents);
                }
                Err(_) if result.length == -EFBIG => (),
                Err(_) => return Err(error(result.length)),
            }
        }
    }

    /// See [`read_many`](crate::read_many).
    pub fn read_many<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<io::Result<Vec<u8>>> {
        let paths = Paths::new(paths);
        let pointers = paths.pointers();
        let mut block = vec![sys::cosy_read_result::default(); pointers.len()];
        let mut results = Vec::with_capacity(pointers.len());
        let mut buffer = vec![0; BUFFER];

        while results.len() < pointers.len() {
            let rest = &pointers[results.len()..];
            self.read_block(rest, &mut buffer, &mut block, |index, contents| {
                results.push(match contents {
                    Err(e) if e == -EFBIG => self.read_large(rest[index], BUFFER),
                    _ => contents.map(<[u8]>::to_vec).map_err(error),
                })
            });
        }
        paths.merge(results)
    }

    /// See [`copy`](crate::copy). Both paths start from this directory.
    pub fn copy(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
        let (from, to) = (c_string(from.as_ref())?, c_string(to.as_ref())?);
        let mut copied = 0;

        // SAFETY: the strings end with a NUL, and `copied` outlives the call.
        let result = unsafe {
            sys::cosy_copy_file(self.raw(), from.as_ptr(), self.raw(), to.as_ptr(), 0, &mut copied)
        };
        match result {
            0 => Ok(copied as u64),
            _ => Err(error(result as isize)),
        }
    }

    /// See [`read_dir`](crate::read_dir).
    pub fn read_dir(&self, path: impl AsRef<Path>) -> io::Result<ReadDir> {
        let path = path.as_ref();
        let name = c_string(path)?;
        let mut dir = ptr::null_mut();

        // SAFETY: the string ends with a NUL, and `dir` outlives the call.
        let result = unsafe {
            sys::cosy_dir_open(&mut dir, self.raw(), name.as_ptr(), sys::COSY_DIR_STATUS)
        };
        match result {
            0 => Ok(ReadDir::new(dir, path)),
            _ => Err(error(result as isize)),
        }
    }
}
