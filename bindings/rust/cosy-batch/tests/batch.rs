// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! Compares the functions with those of `std::fs`: the same results and errors.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, DirEntryExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::io::AsFd;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, UNIX_EPOCH};

use cosy_batch::{At, Metadata};

/// A directory that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cosy-batch-{name}-{}", process::id()));
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    fn write(&self, name: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn fields(m: &impl MetadataExt) -> [i128; 16] {
    [
        m.dev().into(),
        m.ino().into(),
        m.mode().into(),
        m.nlink().into(),
        m.uid().into(),
        m.gid().into(),
        m.rdev().into(),
        m.size().into(),
        m.atime().into(),
        m.atime_nsec().into(),
        m.mtime().into(),
        m.mtime_nsec().into(),
        m.ctime().into(),
        m.ctime_nsec().into(),
        m.blksize().into(),
        m.blocks().into(),
    ]
}

fn expect_same(ours: &io::Result<Metadata>, theirs: io::Result<fs::Metadata>) {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(fields(ours), fields(&theirs));
            assert_eq!(ours.len(), theirs.len());
            assert_eq!(ours.modified().unwrap(), theirs.modified().unwrap());
            assert_eq!(ours.accessed().unwrap(), theirs.accessed().unwrap());
            assert_eq!(
                (ours.is_dir(), ours.is_file(), ours.is_symlink()),
                (theirs.is_dir(), theirs.is_file(), theirs.is_symlink())
            );
            let (ours, theirs) = (ours.file_type(), theirs.file_type());
            assert_eq!(
                (ours.is_fifo(), ours.is_socket(), ours.is_block_device(), ours.is_char_device()),
                (
                    theirs.is_fifo(),
                    theirs.is_socket(),
                    theirs.is_block_device(),
                    theirs.is_char_device()
                )
            );
        }
        (Err(ours), Err(theirs)) => expect_same_error(ours, &theirs),
        (ours, theirs) => panic!("{ours:?} but {theirs:?}"),
    }
}

fn expect_same_error(ours: &io::Error, theirs: &io::Error) {
    assert_eq!(ours.kind(), theirs.kind());
    assert_eq!(ours.raw_os_error(), theirs.raw_os_error());
}

#[test]
fn status() {
    let scratch = Scratch::new("status");
    let file = scratch.write("file", "contents");
    let name = OsStr::from_bytes(b"not \xff UTF-8");
    symlink("file", scratch.0.join("link")).unwrap();
    symlink("nowhere", scratch.0.join("dangling")).unwrap();
    let before_1970 = UNIX_EPOCH - Duration::from_millis(1500);
    let set = process::Command::new("touch")
        .args(["-d", "1969-12-31 23:59:58.5 UTC"])
        .arg(&file)
        .status();
    assert!(set.unwrap().success());
    let mut paths: Vec<PathBuf> = ["", "file", "missing", "link", "dangling", "file/x", "nul\0"]
        .iter()
        .map(|name| scratch.0.join(name))
        .collect();
    paths.push(scratch.write(name, ""));
    paths.extend(["/dev/null", "/dev", "", "."].map(PathBuf::from));

    let ours = cosy_batch::metadata_many(&paths);
    assert_eq!(ours.len(), paths.len());
    for (path, ours) in paths.iter().zip(&ours) {
        expect_same(ours, fs::metadata(path));
    }
    assert_eq!(ours[1].as_ref().unwrap().modified().unwrap(), before_1970);
    for (path, ours) in paths.iter().zip(cosy_batch::symlink_metadata_many(&paths)) {
        expect_same(&ours, fs::symlink_metadata(path));
    }
    assert!(cosy_batch::metadata_many::<&str>([]).is_empty());

    let dir = fs::File::open(&scratch.0).unwrap();
    let below = At::dir(dir.as_fd()).metadata_many(["file", "missing"]);
    expect_same(&below[0], fs::metadata(&file));
    assert_eq!(below[1].as_ref().unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn read() {
    let scratch = Scratch::new("read");
    let mut paths: Vec<PathBuf> =
        (0..300).map(|i| scratch.write(format!("{i}"), format!("{i}").repeat(i))).collect();
    paths.insert(7, scratch.0.join("missing"));
    paths.insert(9, scratch.0.join("nul\0"));
    paths.insert(100, scratch.write("large", vec![b'x'; 3_000_000]));
    paths.insert(200, scratch.write("larger", vec![b'y'; 5_000_001]));
    paths.insert(0, scratch.0.join("nul\0"));
    paths.push(scratch.0.clone());
    paths.push(scratch.0.join("nul\0"));

    let ours = cosy_batch::read_many(&paths);
    assert_eq!(ours.len(), paths.len());
    for (path, ours) in paths.iter().zip(ours) {
        match (ours, fs::read(path)) {
            (Ok(ours), Ok(theirs)) => assert!(ours == theirs, "{path:?}"),
            (Err(ours), Err(theirs)) => expect_same_error(&ours, &theirs),
            (ours, theirs) => panic!("{path:?}: {:?} but {:?}", ours.is_ok(), theirs.is_ok()),
        }
    }

    // Through a buffer that is too small for some: each path once, in order.
    let mut buffer = [0; 500];
    let mut seen = 0;
    cosy_batch::read_each(&paths, &mut buffer, |i, contents| {
        assert_eq!(i, seen);
        seen += 1;
        match (contents, fs::read(&paths[i])) {
            (Ok(ours), Ok(theirs)) => assert!(ours == theirs && theirs.len() <= 500),
            (Err(error), Ok(theirs)) => {
                assert!(theirs.len() > 500);
                assert_eq!(error.raw_os_error(), Some(27), "EFBIG");
            }
            (Err(ours), Err(theirs)) => expect_same_error(&ours, &theirs),
            (Ok(_), Err(theirs)) => panic!("{:?}: {theirs}", paths[i]),
        }
    });
    assert_eq!(seen, paths.len());
    cosy_batch::read_each(&[] as &[&str], &mut buffer, |_, _| unreachable!());

    let fifo = cosy_batch::read_many(["/dev/null"]);
    assert_eq!(fifo[0].as_ref().unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

/// The error of one file is that of the file system, however large the buffer becomes.
#[test]
#[ignore = "needs reads of 200,000 bytes and more that fail with EFBIG"]
fn read_fails() {
    let read = cosy_batch::read_many(["/etc/passwd", "/"]);
    let errors = read.iter().map(|result| result.as_ref().unwrap_err().raw_os_error().unwrap());
    assert_eq!(errors.collect::<Vec<_>>(), [27, 21]);
}

#[test]
fn list() {
    let scratch = Scratch::new("list");
    for i in 0..1000 {
        scratch.write(format!("{i}"), vec![0; i]);
    }
    scratch.write(OsStr::from_bytes(b"not \xff UTF-8"), "");
    fs::create_dir(scratch.0.join("directory")).unwrap();
    symlink("nowhere", scratch.0.join("link")).unwrap();

    let mut ours = cosy_batch::read_dir(&scratch.0).unwrap();
    let mut count = 0;
    for (ours, theirs) in ours.by_ref().zip(fs::read_dir(&scratch.0).unwrap()) {
        let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
        assert_eq!(ours.file_name(), theirs.file_name());
        assert_eq!(ours.path(), theirs.path());
        assert_eq!(ours.ino(), theirs.ino());
        expect_same(&ours.metadata(), theirs.metadata());
        let (ours, theirs) = (ours.file_type().unwrap(), theirs.file_type().unwrap());
        assert_eq!(
            (ours.is_dir(), ours.is_file(), ours.is_symlink()),
            (theirs.is_dir(), theirs.is_file(), theirs.is_symlink())
        );
        count += 1;
    }
    assert_eq!(count, 1003);
    assert!(ours.next().is_none() && ours.next().is_none());

    for path in ["missing", "1", "nul\0"].map(|name| scratch.0.join(name)) {
        expect_same_error(
            &cosy_batch::read_dir(&path).unwrap_err(),
            &fs::read_dir(&path).unwrap_err(),
        );
    }
    // An iterator that is dropped early closes its directory.
    let open = || {
        fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .filter(|fd| fs::read_link(fd.path()).map_or(false, |to| to == scratch.0))
            .count()
    };
    let mut early = cosy_batch::read_dir(&scratch.0).unwrap();
    assert!(early.next().is_some());
    assert_eq!(open(), 1);
    drop(early);
    assert_eq!(open(), 0);
    // The entries are independent of the iterator, which may be in other threads.
    let entries: Vec<_> = std::thread::spawn({
        let entries = cosy_batch::read_dir(&scratch.0).unwrap();
        move || entries.collect::<io::Result<_>>().unwrap()
    })
    .join()
    .unwrap();
    assert_eq!(entries.len(), 1003);
}

#[test]
fn copy_and_remove() {
    let scratch = Scratch::new("copy");
    let path = |name| scratch.0.join(name);
    let contents: Vec<u8> = (0..3_000_000_u32).map(|i| i as u8).collect();
    let large = scratch.write("large", &contents);
    fs::set_permissions(&large, fs::Permissions::from_mode(0o640)).unwrap();

    assert_eq!(cosy_batch::copy(&large, path("copy")).unwrap(), 3_000_000);
    assert!(fs::read(path("copy")).unwrap() == contents);
    assert_eq!(fs::metadata(path("copy")).unwrap().mode(), 0o100640);
    assert_eq!(
        cosy_batch::copy(path("missing"), path("copy")).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    assert_eq!(cosy_batch::copy("nul\0", "copy").unwrap_err().kind(), io::ErrorKind::InvalidInput);

    fs::create_dir(path("directory")).unwrap();
    let mut removed =
        cosy_batch::remove_file_many(["copy", "copy", "nul\0", "directory", "large"].map(path))
            .into_iter();
    let mut next = || removed.next().unwrap().map_err(|error| error.raw_os_error());
    assert_eq!(next(), Ok(()));
    assert_eq!(next(), Err(Some(2)), "ENOENT");
    assert_eq!(next(), Err(None));
    assert_eq!(next(), Err(Some(21)), "EISDIR");
    assert_eq!(next(), Ok(()));
    assert!(removed.next().is_none());
    let dir = fs::File::open(&scratch.0).unwrap();
    let results = At::dir(dir.as_fd()).remove_dir_many(["directory", "directory"]);
    assert!(results[0].is_ok() && results[1].is_err());
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
}
