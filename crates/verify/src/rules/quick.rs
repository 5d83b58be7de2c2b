//! Fast parallel reader of large rule files, for the JSON layout that writers of rule files produce.
//!
//! The array of switches is cut into parts where an object appears to start with the key `name`. Threads read the parts
//! in parallel. A cut is valid only if the part before it ends exactly at the cut, after a comma of the array, so that
//! names that contain JSON cause no error. serde reads the rest of the file. For an invalid file or another layout,
//! this reader returns `None`; then serde reads the whole file and reports the fault.

use super::{Rule, RuleFile, SwitchRules};
use serde::de::IgnoredAny;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

/// Size of a part in bytes; small, so that each thread reads many parts and the load is balanced.
pub(super) const PART: usize = 1 << 20;

/// Returns the same rule file as serde, or `None`.
pub(super) fn read(bytes: &[u8], part: usize) -> Option<RuleFile> {
    let begin = begin_of_switches(bytes)?;
    let (switches, end) = read_switches(bytes, begin, part)?;
    let mut file: RuleFile = serde_json::from_slice(&[&bytes[..begin], &bytes[end..]].concat()).ok()?;
    file.switches = switches;
    Some(file)
}

/// Returns the position after the opening bracket of the array with the top-level key `switches`.
fn begin_of_switches(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut cursor = Cursor::new(bytes, 0);
    loop {
        match cursor.next()? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let from = cursor.at;
                loop {
                    match cursor.next()? {
                        b'\\' => cursor.at += 1,
                        b'"' => break,
                        _ => {}
                    }
                }
                let is_key = depth == 1 && &bytes[from..cursor.at - 1] == b"switches";
                if is_key && cursor.take(b':') && cursor.take(b'[') {
                    return Some(cursor.at);
                }
            }
            _ => {}
        }
    }
}

/// Reads the array of switches in parts of about `part` bytes. Returns the switches, and the position of the closing
/// bracket of the array.
fn read_switches(bytes: &[u8], begin: usize, part: usize) -> Option<(Vec<SwitchRules>, usize)> {
    let mut cursor = Cursor::new(bytes, begin);
    if cursor.take(b']') {
        return Some((Vec::new(), cursor.at - 1));
    }
    let mut cuts = vec![cursor.at];
    let mut at = cursor.at;
    while let Some(cut) = begin_of_object(bytes, at.saturating_add(part)) {
        cuts.push(cut);
        at = cut;
    }
    let parts: Vec<Range<usize>> =
        (0..cuts.len()).map(|at| cuts[at]..cuts.get(at + 1).copied().unwrap_or(bytes.len())).collect();
    let taken = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        loop {
            let number = taken.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else { break own };
            let read = read_part(bytes, part);
            if read.as_ref().is_none_or(|read| read.closes) {
                // Stop after the part with the end of the array, or after a fault. All earlier parts are already
                // assigned to threads.
                taken.store(parts.len(), Ordering::Relaxed);
            }
            own.push((number, read));
        }
    };
    let threads = available_parallelism().map_or(1, usize::from).min(parts.len());
    let mut read = scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    read.sort_unstable_by_key(|&(number, _)| number);
    let mut switches = Vec::new();
    for (_, part) in read {
        let part = part?;
        switches.extend(part.switches);
        if part.closes {
            return Some((switches, part.end));
        }
    }
    None
}

/// Returns the position of the first object, not before `least`, whose first key appears to be `name`.
fn begin_of_object(bytes: &[u8], least: usize) -> Option<usize> {
    const KEY: &[u8] = b"\"name\"";
    let mut from = least;
    loop {
        let key = from + bytes.get(from..)?.windows(KEY.len()).position(|window| window == KEY)?;
        let before = bytes[..key].iter().rposition(|byte| !is_blank(*byte))?;
        if bytes[before] == b'{' && before >= least {
            return Some(before);
        }
        from = key + 1;
    }
}

/// Result of reading one part.
struct Part {
    switches: Vec<SwitchRules>,
    /// Position of the next part, or position of the closing bracket of the array if `closes` is true.
    end: usize,
    closes: bool,
}

fn read_part(bytes: &[u8], part: &Range<usize>) -> Option<Part> {
    let mut cursor = Cursor::new(bytes, part.start);
    let mut switches = Vec::new();
    loop {
        switches.push(cursor.switch()?);
        if cursor.take(b']') {
            return Some(Part { switches, end: cursor.at - 1, closes: true });
        }
        cursor.expect(b',')?;
        cursor.skip_blanks();
        if cursor.at >= part.end {
            return (cursor.at == part.end).then_some(Part { switches, end: cursor.at, closes: false });
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}

/// A position in JSON text.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Buffer for the list of numbers that is being read.
    list: Vec<u16>,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Cursor<'a> {
        Cursor { bytes, at, list: Vec::new() }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&byte| is_blank(byte)) {
            self.at += 1;
        }
    }

    /// Skips whitespace, then consumes `byte` if it is the next byte. Returns whether it was consumed.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Reads a string without escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
        self.at += end;
        self.expect(b'"')?;
        std::str::from_utf8(&rest[..end]).ok()
    }

    fn key(&mut self) -> Option<&'a str> {
        let key = self.text()?;
        self.expect(b':')?;
        Some(key)
    }

    fn number(&mut self) -> Option<u16> {
        self.skip_blanks();
        let (from, mut number) = (self.at, 0u16);
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            number = number.checked_mul(10)?.checked_add(u16::from(digit - b'0'))?;
            self.at += 1;
        }
        // A number with a leading zero is invalid in JSON.
        let digits = self.at - from;
        (digits == 1 || (digits > 1 && self.bytes[from] != b'0')).then_some(number)
    }

    /// Reads an array; `one` is called to read each element.
    fn array(&mut self, mut one: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            one(self)?;
            if self.take(b']') {
                return Some(());
            }
            self.expect(b',')?;
        }
    }

    /// Reads a list of numbers into the buffer. Returns a clone, because it has no spare capacity.
    fn numbers(&mut self) -> Option<Vec<u16>> {
        self.list.clear();
        self.array(|cursor| {
            let number = cursor.number()?;
            cursor.list.push(number);
            Some(())
        })?;
        Some(self.list.clone())
    }

    fn rules(&mut self) -> Option<Vec<Rule>> {
        let mut rules = Vec::new();
        self.array(|cursor| {
            rules.push(cursor.rule()?);
            Some(())
        })?;
        rules.shrink_to_fit();
        Some(rules)
    }

    /// Reads an object; `one` is called with each key to read its value.
    fn object(&mut self, mut one: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        loop {
            let key = self.key()?;
            one(self, key)?;
            if self.take(b'}') {
                return Some(());
            }
            self.expect(b',')?;
        }
    }

    fn rule(&mut self) -> Option<Rule> {
        let (mut tag, mut ingress, mut egress, mut new_tag) = (None, None, None, None);
        self.object(|cursor, key| match key {
            "tag" => once(&mut tag, cursor.number()),
            "in" => once(&mut ingress, cursor.numbers()),
            "out" => once(&mut egress, cursor.numbers()),
            "new_tag" => once(&mut new_tag, cursor.number()),
            _ => None,
        })?;
        Some(Rule { tag: tag?, ingress: ingress?, egress: egress?, new_tag: new_tag? })
    }

    fn switch(&mut self) -> Option<SwitchRules> {
        let (mut name, mut rules) = (None, None);
        self.object(|cursor, key| match key {
            "name" => once(&mut name, cursor.text().map(str::to_owned)),
            "rules" => once(&mut rules, cursor.rules()),
            _ => cursor.skip_value(),
        })?;
        Some(SwitchRules { name: name?, rules: rules? })
    }

    /// Skips a value of any type.
    fn skip_value(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }
}

/// Stores the value of a key; fails if the key is a duplicate.
fn once<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
    slot.replace(value?).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{ "format": "tidegate-tagger-rules", "version": 1,
 "fabric": { "kind": "a \"switches\": [", "switches": 3, "hash": "00" },
 "generated_by": { "switches": [ { "name": 7 } ] },
 "lossless_tags": [1, 2], "lossy_tag": 0, "classes": [ { "name": "default", "first_tag": 1 } ],
 "switches" : [
  { "name": "L1", "rules": [ { "tag": 1, "in": [1, 2], "out": [3], "new_tag": 2 }
   ,{"new_tag":0,"in":[65535],"out":[],"tag":2}]},
  { "rules" : [] , "ports": ["a", "{ \"name\": ", { "name": "b", "rules": [] }], "name": "L2" },
  {"name":"\u00e9","rules":[{"tag":1,"in":[10,0],"out":[3],"new_tag":2}]} ], "more": [ { "name": "x" } ] }"#;

    fn shown(file: Option<RuleFile>) -> Option<String> {
        file.map(|file| format!("{file:?}"))
    }

    #[test]
    fn it_reads_what_serde_reads_however_the_file_is_cut() {
        let file = FILE.replace("\\u00e9", "é");
        let expected = shown(serde_json::from_str(&file).ok());
        for part in 1..file.len() {
            let read = shown(read(file.as_bytes(), part));
            // A cut within the `ports` of L2 is detected as invalid, so that serde reads the file. Objects in `more`
            // are not cut.
            assert!(read.is_none() || read == expected, "{part}: {read:?}");
        }
        assert_eq!(shown(read(file.as_bytes(), PART)), expected);
        let plain = file.replace(r#", { "name": "b", "rules": [] }"#, "");
        let expected = shown(serde_json::from_str(&plain).ok());
        for part in 1..plain.len() {
            assert_eq!(shown(read(plain.as_bytes(), part)), expected, "{part}");
        }
        let empty = r#"{"switches":[ ]}"#;
        assert_eq!(read_switches(empty.as_bytes(), begin_of_switches(empty.as_bytes()).unwrap(), 1).unwrap().1, 14);
    }

    #[test]
    fn it_reads_nothing_else_than_serde_in_files_that_are_damaged() {
        let mut both = 0;
        let file = FILE.replace("\\u00e9", "é");
        for at in 0..file.len() {
            for with in [&b""[..], b"0", b"9", b"-", b".", b"\"", b"\\", b",", b" ", b"}", b"]", b"[{", b"\xff"] {
                for over in 0..2 {
                    let (before, behind) = (&file.as_bytes()[..at], &file.as_bytes()[at + over..]);
                    let damaged = [before, with, behind].concat();
                    let Some(read) = read(&damaged, PART) else { continue };
                    let expected = shown(serde_json::from_slice(&damaged).ok());
                    assert_eq!(shown(Some(read)), expected, "{}", String::from_utf8_lossy(&damaged));
                    both += 1;
                }
            }
        }
        assert!(both > 1000, "{both}");
    }
}
