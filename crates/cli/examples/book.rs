//! Checks every link of the built book, and replaces links to project files outside the book by links to the
//! repository. A broken link is an error, and so is an element id that breaks scripts of the book. `scripts/book.sh`
//! runs this check after mdBook.
//!
//! ```text
//! cargo run -p tidegate --example book -- target/book
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Base URL of project files that are not pages of the book.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");

/// Element ids that must not occur. The browser makes each id a property of `window`; with one of these, scripts of the
/// book (elasticlunr, clipboard, highlight) assume a module loader, CommonJS or AMD, and define no global: the search
/// of the page then does not work.
const GLOBALS_OF_LOADERS: [&str; 4] = ["exports", "module", "define", "require"];

/// Returns those of [`GLOBALS_OF_LOADERS`] that are element ids on the page.
fn globals_of_loaders(text: &str) -> impl Iterator<Item = &'static str> {
    GLOBALS_OF_LOADERS.into_iter().filter(|id| text.contains(&format!(" id=\"{id}\"")))
}

/// Collects all HTML pages below a folder, by path.
fn pages(folder: &Path, found: &mut BTreeMap<PathBuf, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            pages(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = fs::read_to_string(&path)?;
            found.insert(path, text);
        }
    }
    Ok(())
}

/// Returns the path with `..` resolved; `None` if it leads above the folder in which it starts.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => plain.pop().then_some(())?,
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Some(plain)
}

/// Returns the new target of a link on `page`. The path of `page` is relative to the book.
fn link(book: &Path, all: &BTreeMap<PathBuf, String>, page: &Path, target: &str) -> Result<String, String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = file.split('?').next().unwrap_or_default();
    let kept = Ok(target.to_owned());
    if target.contains(':') || target.is_empty() || target == "#" {
        return kept;
    }
    let folder = page.parent().unwrap_or(Path::new(""));
    let to = if file.is_empty() { page.to_owned() } else { folder.join(file) };
    if let Some(to) = inside(&to).map(|to| book.join(to)).filter(|to| to.exists()) {
        let there = anchor.is_empty() || all.get(&to).is_none_or(|text| text.contains(&format!(" id=\"{anchor}\"")));
        return if there { kept } else { Err(format!("{} has no #{anchor}", to.display())) };
    }
    // mdBook rewrites links to `.md` files to `.html`, as if each file were a page of the book: undo this.
    let source = inside(&Path::new("docs").join(&to)).ok_or("leads out of the project")?;
    let page = source.with_extension("md");
    let shown = [&source, &page].into_iter().find(|path| path.exists()).ok_or("leads nowhere")?;
    let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    Ok(format!("{REPOSITORY}/{}{anchor}", shown.display()))
}

/// Returns the page with corrected links, and the number of links. Appends errors to `wrong`.
fn linked(book: &Path, all: &BTreeMap<PathBuf, String>, path: &Path, wrong: &mut Vec<String>) -> (String, usize) {
    let page = path.strip_prefix(book).unwrap_or(path);
    let (mut text, mut rest, mut count) = (String::new(), all[path].as_str(), 0);
    while let Some(at) = [" href=\"", " src=\""].iter().filter_map(|key| Some(rest.find(key)? + key.len())).min() {
        let length = rest[at..].find('"').unwrap_or(0);
        let target = &rest[at..at + length];
        let new = link(book, all, page, target).unwrap_or_else(|error| {
            wrong.push(format!("{}: {target}: {error}", page.display()));
            target.to_owned()
        });
        text += &rest[..at];
        text += &new;
        rest = &rest[at + length..];
        count += 1;
    }
    (text + rest, count)
}

fn main() -> ExitCode {
    let book = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/book".to_owned()));
    let (mut all, mut wrong, mut count) = (BTreeMap::new(), Vec::new(), 0);
    if let Err(error) = pages(&book, &mut all) {
        eprintln!("{}: {error}", book.display());
        return ExitCode::FAILURE;
    }
    for path in all.keys() {
        let (text, links) = linked(&book, &all, path, &mut wrong);
        count += links;
        let shown = path.strip_prefix(&book).unwrap_or(path).display();
        wrong.extend(globals_of_loaders(&text).map(|id| {
            format!("{shown}: id=\"{id}\" breaks scripts of the book (a name of module loaders): rename the heading")
        }));
        if let Err(error) = fs::write(path, text) {
            wrong.push(format!("{}: {error}", path.display()));
        }
    }
    wrong.iter().for_each(|line| eprintln!("{line}"));
    println!("{}: {} pages, {count} links, {} errors", book.display(), all.len(), wrong.len());
    if wrong.is_empty() && all.len() > 50 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::globals_of_loaders;

    #[test]
    fn ids_that_are_names_of_module_loaders_are_found() {
        let page = |id: &str| format!("<h2 id=\"{id}\"><a class=\"header\" href=\"#{id}\">A heading</a></h2>");
        for id in ["exports", "module", "define", "require"] {
            assert_eq!(globals_of_loaders(&page(id)).collect::<Vec<_>>(), [id]);
        }
        // Property names are case-sensitive; other ids that only contain such a name are harmless.
        for id in ["Exports", "export-formats", "modules", "exports-1"] {
            assert_eq!(globals_of_loaders(&page(id)).count(), 0, "{id}");
        }
        assert_eq!(globals_of_loaders("<a href=\"#exports\">exports</a>").count(), 0);
    }
}
