//! Temporary files next to the file that replaces them.
//!
//! The name follows from that of the target, and on Unix the file is locked while its process runs. So the next writer
//! of the same target finds the temporary file of a killed process, and uses it. Without locks, it takes another name.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::manifest::hash_bytes;

const PREFIX: &str = ".tidegate-";
const SUFFIX: &str = ".tmp";
/// Digits of the SHA-256 of the target's name in that of its temporary file.
const HASH_DIGITS: usize = 16;

/// Returns the name of temporary file `number` of the target `name`: the first one is `.tidegate-HASH.tmp`, the others
/// are `.tidegate-HASH-NUMBER.tmp`.
fn temporary_name(name: &str, number: u32) -> String {
    let hash = &hash_bytes(name.as_bytes())[..HASH_DIGITS];
    let number = if number == 0 { String::new() } else { format!("-{number}") };
    format!("{PREFIX}{hash}{number}{SUFFIX}")
}

/// Returns `true` for names of temporary files.
pub fn is_temporary(name: &str) -> bool {
    let Some(middle) = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else { return false };
    let (hash, number) = middle.split_once('-').unwrap_or((middle, "1"));
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hash && number.bytes().all(|digit| digit.is_ascii_digit()) && !number.is_empty()
}

/// Creates an empty temporary file in `folder` for the target `name`. Other processes do not use it while `File` is
/// open. Removes those that killed processes left for this target.
///
/// # Errors
/// If a file cannot be created in the folder.
pub(crate) fn create(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    let mut free = None;
    for number in 0..=u32::MAX {
        let path = folder.join(temporary_name(name, number));
        // The names are numbered without a gap, except while files are removed.
        if free.is_some() && !path.exists() {
            break;
        }
        if free.is_none() {
            free = locked(&path)?.map(|file| (path, file));
        } else if let Ok(Some(_lock)) = locked(&path) {
            let _ = fs::remove_file(&path);
        }
    }
    let (path, file) = free.ok_or(io::ErrorKind::AlreadyExists)?;
    if file.metadata()?.len() > 0 {
        file.set_len(0)?;
    }
    Ok((path, file))
}

/// Opens and locks the file at `path`, which is created if it is missing; `None` if another process may use it, or if
/// it is no file.
fn locked(path: &Path) -> io::Result<Option<File>> {
    loop {
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            return Ok(None);
        }
        let (file, is_new) = match File::create_new(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match File::options().write(true).open(path) {
                    // Its process has renamed the file in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    // A file of another user.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
                    file => (file?, false),
                }
            }
            Err(error) => return Err(error),
        };
        // On Windows a lock would exclude reads of the same process, too.
        let locked =
            if cfg!(unix) { file.try_lock() } else { Err(TryLockError::Error(io::ErrorKind::Unsupported.into())) };
        match locked {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Without locks (some network file systems), a file of a killed process resembles one in use.
            Err(TryLockError::Error(_)) => return Ok(is_new.then_some(file)),
            // Its process may have renamed the file before the lock.
            Ok(()) if is_at(&file, path)? => return Ok(Some(file)),
            Ok(()) => {}
        }
    }
}

/// Returns `true` if `file` is the file at `path`.
///
/// # Errors
/// If one of the two cannot be examined.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        there => there?,
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let file = file.metadata()?;
        Ok((file.dev(), file.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(there.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    #[cfg(unix)]
    #[test]
    fn the_next_writer_of_a_target_uses_the_file_of_a_killed_one() {
        let scratch = Scratch::new("temporary");
        let killed = temporary_name("a.txt", 0);
        let (other, second) = (temporary_name("b.txt", 0), temporary_name("a.txt", 1));
        for name in [&killed, &second, &other] {
            fs::write(scratch.0.join(name), b"half").unwrap();
        }
        let (path, file) = create(&scratch.0, "a.txt").unwrap();
        assert_eq!((path.clone(), file.metadata().unwrap().len()), (scratch.0.join(&killed), 0));
        let mut left = vec![killed.clone(), other.clone()];
        left.sort();
        assert_eq!(scratch.names(), left, "the second one of the same target is removed");
        let (next, _file) = create(&scratch.0, "a.txt").unwrap();
        assert_eq!(next, scratch.0.join(&second), "the first one is in use");
        drop(file);
        let (again, _file) = create(&scratch.0, "a.txt").unwrap();
        assert_eq!(again, path);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_folder_of_this_name_is_neither_followed_nor_removed() {
        let scratch = Scratch::new("temporary-links");
        let at = |number| scratch.0.join(temporary_name("a.txt", number));
        fs::write(scratch.0.join("thesis"), b"years").unwrap();
        std::os::unix::fs::symlink("thesis", at(0)).unwrap();
        std::os::unix::fs::symlink("nowhere", at(1)).unwrap();
        fs::create_dir(at(2)).unwrap();
        let (path, _file) = create(&scratch.0, "a.txt").unwrap();
        assert_eq!(path, at(3));
        assert_eq!(fs::read(scratch.0.join("thesis")).unwrap(), b"years");
        assert!(at(0).is_symlink() && at(1).is_symlink() && at(2).is_dir());
    }

    #[test]
    fn concurrent_writers_of_one_target_have_a_file_each() {
        let scratch = Scratch::new("temporary-threads");
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let folder = &scratch.0;
                scope.spawn(move || {
                    for round in 0..50 {
                        let (path, mut file) = create(folder, "a.txt").unwrap();
                        io::Write::write_all(&mut file, &[writer; 100]).unwrap();
                        assert_eq!(fs::read(&path).unwrap(), [writer; 100], "round {round}");
                        fs::rename(&path, folder.join("a.txt")).unwrap();
                    }
                });
            }
        });
        assert!(fs::read(scratch.0.join("a.txt")).unwrap().windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn only_names_with_a_hash_are_temporary() {
        assert!(is_temporary(&temporary_name("a", 0)) && is_temporary(&temporary_name("a", 12)));
        for name in
            [".tidegate-0.tmp", ".tidegate-.tmp", ".tidegate-0123456789abcdef-.tmp", "tidegate-0123456789abcdef.tmp"]
        {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
