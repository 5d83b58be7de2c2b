//! Mutates valid inputs: flips bits, truncates, sets numbers to extreme values, duplicates or swaps lines and words,
//! and splices two inputs.

use units::random::Stream;

/// Maximum number of bytes of a mutated input, unless the original was larger.
const MOST_BYTES: usize = 256 << 10;

/// Extreme values that replace numbers.
const EXTREMES: [&str; 31] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-0",
    "7",
    "8",
    "63",
    "64",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "99999999999999999999999999999999999999999999999999",
    "0.1",
    "0.0000000000000000000001",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    "0x10",
    "",
];

/// Texts to insert.
const WORDS: [&str; 24] = [
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{feff}",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    "#",
    "<",
    "&",
    "=",
    "../x",
    "é漢\u{202e}",
    "null",
    "true",
    "{ file = \"input\" }",
    "\u{7f}\u{1b}[31m",
];

/// Applies up to four mutations to `input`; spliced parts are from `other`.
pub fn mutate(stream: &mut Stream, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let most = MOST_BYTES.max(input.len());
    // One input in eight remains valid; otherwise a program that rejects every input would pass the test.
    let changes = [0, 1, 1, 1, 1, 2, 3, 4][stream.below(8) as usize];
    for _ in 0..changes {
        bytes = change(stream, bytes, other);
        bytes.truncate(most);
    }
    bytes
}

/// Like [`mutate`], for a word of a command line, which must be UTF-8 without NUL.
pub fn mutate_word(stream: &mut Stream, word: &str) -> String {
    let bytes = match stream.below(3) {
        0 => pick(stream, &EXTREMES).as_bytes().to_vec(),
        1 => replace_number(stream, word.as_bytes().to_vec()),
        _ => {
            let lent = pick(stream, &WORDS);
            mutate(stream, word.as_bytes(), lent.as_bytes())
        }
    };
    String::from_utf8_lossy(&bytes).replace('\0', "0")
}

/// Returns a random element.
pub fn pick<'a, T: ?Sized>(stream: &mut Stream, from: &[&'a T]) -> &'a T {
    from[stream.below(from.len() as u64) as usize]
}

fn change(stream: &mut Stream, mut bytes: Vec<u8>, other: &[u8]) -> Vec<u8> {
    let at = |stream: &mut Stream, length: usize| stream.below(length as u64 + 1) as usize;
    match stream.below(12) {
        0 if !bytes.is_empty() => {
            let location = at(stream, bytes.len() - 1);
            bytes[location] ^= 1 << stream.below(8);
        }
        1 => {
            let length = at(stream, bytes.len());
            bytes.truncate(length);
        }
        2 => {
            let (cut, from) = (at(stream, bytes.len()), at(stream, other.len()));
            bytes.truncate(cut);
            bytes.extend_from_slice(&other[from..]);
        }
        3..=5 => bytes = replace_number(stream, bytes),
        6 => {
            bytes = lines(stream, &bytes, |stream, lines| {
                let (from, to) = (at(stream, lines.len() - 1), at(stream, lines.len()));
                let line = lines[from].clone();
                (0..=stream.below(3)).for_each(|_| lines.insert(to, line.clone()));
            })
        }
        7 => {
            bytes = lines(stream, &bytes, |stream, lines| {
                let from = at(stream, lines.len() - 1);
                lines.remove(from);
            })
        }
        8 => {
            bytes = lines(stream, &bytes, |stream, lines| {
                let (one, two) = (at(stream, lines.len() - 1), at(stream, lines.len() - 1));
                lines.swap(one, two);
            })
        }
        9 => bytes = swap_words(stream, &bytes, other),
        10 => {
            let (location, word) = (at(stream, bytes.len()), pick(stream, &WORDS));
            bytes.splice(location..location, word.bytes());
        }
        _ => {
            let (from, to) = (at(stream, bytes.len()), at(stream, bytes.len()));
            bytes.drain(from.min(to)..from.max(to).min(from.min(to) + 64));
        }
    }
    bytes
}

/// Replaces a number, with its decimal point but without its sign, by an extreme value.
fn replace_number(stream: &mut Stream, mut bytes: Vec<u8>) -> Vec<u8> {
    let starts = |at: &usize| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit());
    let numbers: Vec<usize> = (0..bytes.len()).filter(starts).collect();
    if !numbers.is_empty() {
        let start = numbers[stream.below(numbers.len() as u64) as usize];
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        bytes.splice(start..start + length, pick(stream, &EXTREMES).bytes());
    }
    bytes
}

fn lines(stream: &mut Stream, bytes: &[u8], change: impl FnOnce(&mut Stream, &mut Vec<Vec<u8>>)) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if !lines.is_empty() {
        change(stream, &mut lines);
    }
    lines.concat()
}

/// Replaces a word by another word of `bytes` or `other`.
fn swap_words(stream: &mut Stream, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let words = |bytes: &[u8]| {
        let mut words = Vec::new();
        let mut start = None;
        for at in 0..=bytes.len() {
            let inside = bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte));
            match (inside, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    words.push(from..at);
                    start = None;
                }
                _ => {}
            }
        }
        words
    };
    let (here, from) = (words(bytes), if stream.below(2) == 0 { bytes } else { other });
    let there = words(from);
    if here.is_empty() || there.is_empty() {
        return bytes.to_vec();
    }
    let location = here[stream.below(here.len() as u64) as usize].clone();
    let word = from[there[stream.below(there.len() as u64) as usize].clone()].to_vec();
    [&bytes[..location.start], &word, &bytes[location.end..]].concat()
}
