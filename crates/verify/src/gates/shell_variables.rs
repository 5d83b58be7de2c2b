//! Assignments to shell variables, and variables with a meaning to the shell or to programs.

/// An assignment `NAME=VALUE` or `NAME+=VALUE`.
pub struct Assignment<'a> {
    pub name: &'a str,
    pub value: &'a str,
    pub appends: bool,
}

/// Returns whether `text` is the name of a variable.
pub fn is_name(text: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && text.chars().all(good) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Parses a word of the form `NAME=VALUE` or `NAME+=VALUE`; `None` for other words.
pub fn assignment(word: &str) -> Option<Assignment<'_>> {
    let (name, value) = word.split_once('=')?;
    let (name, appends) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
    is_name(name).then_some(Assignment { name, value, appends })
}

/// Variables that shells or programs read, or that a shell sets itself. [`SPECIAL_PREFIXES`] has prefixes of further
/// names.
const SPECIAL: [&str; 30] = [
    "IFS",
    "ENV",
    "SHELLOPTS",
    "GLOBIGNORE",
    "POSIXLY_CORRECT",
    "CDPATH",
    "EXECIGNORE",
    "FUNCNEST",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "OPTIND",
    "OPTARG",
    "OPTERR",
    "UID",
    "EUID",
    "PPID",
    "GROUPS",
    "DIRSTACK",
    "FUNCNAME",
    "PIPESTATUS",
    "HOSTNAME",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "TMOUT",
    "PS4",
    "REPLY",
    "_",
];
const SPECIAL_PREFIXES: [&str; 6] = ["BASH", "LD_", "LC_", "EPOCH", "TC_", "HIST"];
/// Folders in which programs of the system are installed.
pub const FOLDERS: [&str; 6] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Returns the reason why an assignment has an effect beyond the value of the variable; `None` if it has none.
pub fn special_variable(name: &str, value: &str) -> Option<&'static str> {
    if name == "PATH" {
        let good = value.split(':').all(|folder| FOLDERS.contains(&folder));
        return (!good || !value.contains("/sbin"))
            .then_some("with it the programs of the script may be others: name only folders of the system");
    }
    let is_special = SPECIAL.contains(&name) || SPECIAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    (is_special && !(name == "LC_ALL" && value == "C"))
        .then_some("the variable has a meaning to the shell or to programs, which is not followed")
}
