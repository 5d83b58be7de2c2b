//! A library that makes one call of a process to the file system fail. `faults.rs` compiles it and preloads it
//! (`LD_PRELOAD`) into the command: the command itself contains nothing for tests.
//!
//! Only calls that change something below `FAULT_FOLDER` are counted. Each is appended to the file `FAULT_LOG`. Call
//! number `FAULT_AT`, counted from 1, fails in the way of `FAULT_KIND`:
//!
//! - `error`: this call fails with EIO,
//! - `full`: this call and all later ones that need space fail with ENOSPC; a write first writes half of its bytes,
//! - `kill`: the process is killed before this call; a write first writes half of its bytes.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicUsize, Ordering};

const EIO: c_int = 5;
const ENOSPC: c_int = 28;
const SIGKILL: c_int = 9;
const O_CREAT: c_int = 0o100;
const O_WRONLY: c_int = 1;
const O_APPEND: c_int = 0o2000;
/// `RTLD_NEXT`: search in the libraries after this one.
const NEXT: *mut c_void = -1isize as *mut c_void;
/// The longest path that the kernel accepts.
const PATH_MAX: usize = 4096;

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
    fn readlink(path: *const c_char, target: *mut c_char, length: usize) -> isize;
    fn __errno_location() -> *mut c_int;
    fn getpid() -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn close(file: c_int) -> c_int;
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// How a call is executed.
enum Call {
    Whole,
    Fails(c_int),
    /// Half of the bytes are written, and the process is killed if the value is `true`.
    Half(bool),
}

/// Returns a variable of the environment.
fn variable(name: &CStr) -> &'static [u8] {
    // SAFETY: the command does not change its environment.
    unsafe {
        let value = getenv(name.as_ptr());
        if value.is_null() { b"" } else { CStr::from_ptr(value).to_bytes() }
    }
}

/// Counts a call of the function `name` that changes `path`, and decides how it is executed.
fn decide(name: &CStr, path: &[u8], needs_space: bool) -> Call {
    let folder = variable(c"FAULT_FOLDER");
    if folder.is_empty() || !path.starts_with(folder) {
        return Call::Whole;
    }
    let number = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
    log(name.to_bytes(), &path[folder.len()..]);
    let at = std::str::from_utf8(variable(c"FAULT_AT")).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let is_write = name.to_bytes() == b"write";
    match variable(c"FAULT_KIND") {
        b"error" if number == at => Call::Fails(EIO),
        b"full" if number == at && is_write => Call::Half(false),
        b"full" if at != 0 && number >= at && needs_space => Call::Fails(ENOSPC),
        b"kill" if number == at && is_write => Call::Half(true),
        b"kill" if number == at => killed(),
        _ => Call::Whole,
    }
}

fn killed() -> ! {
    // SAFETY: no pointers.
    unsafe { kill(getpid(), SIGKILL) };
    loop {
        std::hint::spin_loop();
    }
}

fn log(name: &[u8], path: &[u8]) {
    let file = variable(c"FAULT_LOG");
    if file.is_empty() {
        return;
    }
    let line = [name, b" ", path, b"\n"].concat();
    // SAFETY: `file` is the value of a variable of the environment, which ends with a zero byte.
    unsafe {
        let open: unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int =
            transmute(dlsym(NEXT, c"open64".as_ptr()));
        let write: unsafe extern "C" fn(c_int, *const c_void, usize) -> isize =
            transmute(dlsym(NEXT, c"write".as_ptr()));
        let log = open(file.as_ptr().cast(), O_CREAT | O_WRONLY | O_APPEND, 0o600);
        write(log, line.as_ptr().cast(), line.len());
        close(log);
    }
}

/// Returns the path of an open file.
fn path_of(file: c_int) -> Vec<u8> {
    let link = format!("/proc/self/fd/{file}\0");
    let mut path = vec![0u8; PATH_MAX];
    // SAFETY: `link` ends with a zero byte, and `path` has the given length.
    let length = unsafe { readlink(link.as_ptr().cast(), path.as_mut_ptr().cast(), path.len()) };
    path.truncate(usize::try_from(length).unwrap_or(0));
    path
}

fn bytes(path: *const c_char) -> Vec<u8> {
    // SAFETY: an argument of a call of the C library, a string that ends with a zero byte.
    unsafe { CStr::from_ptr(path) }.to_bytes().to_vec()
}

fn fail(error: c_int) -> c_int {
    // SAFETY: the location of this thread's error number.
    unsafe { *__errno_location() = error };
    -1
}

macro_rules! replaced {
    ($name:ident($($argument:ident: $type:ty),*), $path:expr, $needs_space:expr) => {
        /// # Safety
        /// As the function of this name of the C library.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("the name has a zero byte"),
            };
            if let Call::Fails(error) = decide(NAME, &$path, $needs_space) {
                return fail(error);
            }
            // SAFETY: the function of the C library has this type.
            unsafe {
                let original: unsafe extern "C" fn($($type),*) -> c_int = transmute(dlsym(NEXT, NAME.as_ptr()));
                original($($argument),*)
            }
        }
    };
}

replaced!(rename(from: *const c_char, to: *const c_char), bytes(to), false);
replaced!(unlink(path: *const c_char), bytes(path), false);
replaced!(rmdir(path: *const c_char), bytes(path), false);
replaced!(mkdir(path: *const c_char, mode: c_uint), bytes(path), true);
replaced!(fsync(file: c_int), path_of(file), true);
replaced!(fdatasync(file: c_int), path_of(file), true);
replaced!(ftruncate64(file: c_int, length: i64), path_of(file), true);

/// # Safety
/// As the function of this name of the C library. The mode of a file is a variable argument there, which is passed as
/// any other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    if flags & O_CREAT != 0
        && let Call::Fails(error) = decide(c"open64", &bytes(path), true)
    {
        return fail(error);
    }
    // SAFETY: the function of the C library has this type.
    unsafe {
        let open: unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int =
            transmute(dlsym(NEXT, c"open64".as_ptr()));
        open(path, flags, mode)
    }
}

/// # Safety
/// As the function of this name of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(file: c_int, content: *const c_void, length: usize) -> isize {
    // SAFETY: the function of the C library has this type.
    let original = |length: usize| unsafe {
        let write: unsafe extern "C" fn(c_int, *const c_void, usize) -> isize =
            transmute(dlsym(NEXT, c"write".as_ptr()));
        write(file, content, length)
    };
    match decide(c"write", &path_of(file), true) {
        Call::Whole => original(length),
        Call::Fails(error) => fail(error) as isize,
        Call::Half(ends) => {
            // A write of no bytes would be an error of another kind: one byte is not halved.
            let written = original(length.div_ceil(2));
            if ends { killed() } else { written }
        }
    }
}
