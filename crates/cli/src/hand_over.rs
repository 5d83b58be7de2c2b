//! A folder of configurations: a file or two for each switch, and what to know before loading them.

use crate::failure::Failure;
use crate::names::distinct;
use record::file::write_whole;
use std::path::Path;

/// Writes (switch, file, text) into a folder, and `NOTES.txt` beside them.
///
/// # Errors
/// A folder that cannot be written; two switches whose files would have one name.
pub fn write_folder(folder: &Path, files: &[(&str, &str, &str)], notes: &[String]) -> Result<(), Failure> {
    distinct(files.iter().map(|&(switch, file, _)| (switch, file)))?;
    let unwritable = |error: std::io::Error| Failure::Input {
        message: format!("--out {}: cannot make this folder: {error}", folder.display()),
        help: None,
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        write_whole(&path, text.as_bytes()).map_err(|error| Failure::Target { target: path.clone(), error })
    };
    files.iter().try_for_each(|(_, file, text)| write(file, text))?;
    let notes: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    write("NOTES.txt", &notes)
}
