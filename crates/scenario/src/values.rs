//! Readers of values that several parts share.

use crate::document::{Value, unexpected};
use crate::section::{Read, Wrong, list, quantity, rate, share, show, text, whole};
use model::parameters::{CLASSES, MAX_BUFFER_BYTES, QueueLimit, Threshold};
use protocols::describe::{Syntax, ValueType};
use protocols::limits::fraction;
use protocols::reaction::Reaction;
use units::{Bytes, Time};

/// Reads the value of `key` in the syntax `syntax`. Returns its canonical text, and the text for `--explain`.
pub(crate) fn canonical(key: &str, value: &Value, syntax: Syntax) -> Read<String> {
    let right = || Some(format!("write {}, such as {}", syntax.name, syntax.example));
    let plain = || value.text().ok_or_else(|| (format!("{} is not {}", show(value), syntax.name), right()));
    let text = match syntax.value {
        ValueType::Or(words, of) => match value.text().filter(|text| words.contains(&text.as_str())) {
            // For `auto`, the text for `--explain` states the value of alpha.
            Some(text) if *of == ValueType::Threshold => return Ok((text, xoff(value)?.1)),
            Some(text) => text,
            None => return canonical(key, value, Syntax { value: *of, ..syntax }),
        },
        ValueType::Text => text(value, syntax.name)?,
        ValueType::Size => quantity::<Bytes>(value, syntax.name)?.1,
        ValueType::Time => quantity::<Time>(value, syntax.name)?.1,
        ValueType::Rate => rate(value)?.1,
        ValueType::Share => share(value, 1.0)?.1,
        ValueType::Count => whole(value, 0..=u64::from(u32::MAX))?.1,
        ValueType::CountIn(least, most) => whole(value, least.into()..=most.into())?.1,
        ValueType::Positive | ValueType::Number => {
            let text = plain()?;
            let least = if syntax.value == ValueType::Positive { f64::MIN_POSITIVE } else { f64::MIN };
            if !text.parse::<f64>().is_ok_and(|number| number.is_finite() && number >= least) {
                return Err((format!("`{text}` is not {}", syntax.name), right()));
            }
            text
        }
        ValueType::Flag => {
            let text = plain()?;
            if !matches!(&*text, "true" | "false") {
                return Err((format!("`{text}` is not {}", syntax.name), right()));
            }
            text
        }
        ValueType::Threshold => threshold(value)?.1,
        ValueType::QueueLimit => room(value)?.1,
        ValueType::Reaction => reaction(value)?.1,
        ValueType::Fraction => part(value)?.1,
        ValueType::Other => plain()?,
        ValueType::Class => whole(value, 0..=7)?.1,
        ValueType::Classes => classes(value, "the list of classes is empty")?.1,
        ValueType::ClassPair => class_pair(value)?.0,
        ValueType::ByClass(of, rest) => by_class(value, rest, |value| canonical(key, value, *of))?.0,
        ValueType::File => text(value, "a text")?,
        ValueType::Word(words) => one_of_words(key, value, words)?,
    };
    Ok((text.clone(), text))
}

/// Reads one of `words`.
pub(crate) fn one_of_words(key: &str, value: &Value, words: &[&str]) -> Result<String, Wrong> {
    if !matches!(value, Value::Text(_)) {
        return Err(unexpected(key, &show(value), None, words));
    }
    let word = text(value, "a text")?;
    if words.contains(&word.as_str()) {
        Ok(word)
    } else {
        Err(unexpected(key, &format!("\"{word}\""), Some(&word), words))
    }
}

/// Reads the reaction time to a pause: `"standard"` or a time, also in bit times or quanta.
pub(crate) fn reaction(value: &Value) -> Read<Reaction> {
    let right = "write \"standard\", a time like \"500ns\", or \"3840 bit times\"";
    quantity(value, "a reaction time").map_err(|(message, _)| (message, Some(right.to_owned())))
}

/// Reads the limit of a queue: `"500 packets"` or a size.
pub(crate) fn room(value: &Value) -> Read<QueueLimit> {
    let Some(text) = value.text() else {
        return Err((format!("{} is not a queue limit", value.what()), None));
    };
    let packets = text.strip_suffix("packets").or(text.strip_suffix("packet")).map(str::trim);
    match packets.map(str::parse::<u32>) {
        Some(Ok(count)) if count > 0 => Ok((QueueLimit::Packets(count), format!("{count} packets"))),
        Some(_) => Err((
            format!("`{text}` is not a valid number of packets for a queue limit"),
            Some("write \"500 packets\"".to_owned()),
        )),
        None => match quantity::<Bytes>(value, "a size") {
            Ok((Bytes(0), _)) | Err(_) => {
                let help = "write \"500 packets\" or \"1MB\"".to_owned();
                Err((format!("`{text}` is not a queue limit"), Some(help)))
            }
            Ok((bytes, text)) => Ok((QueueLimit::Bytes(countable(bytes, &text)?), text)),
        },
    }
}

/// Reads a buffer size that the counters of buffers can represent.
pub(crate) fn buffer_size(value: &Value) -> Read<u64> {
    let (bytes, text) = quantity::<Bytes>(value, "a size")?;
    Ok((countable(bytes, &text)?, text))
}

fn countable(bytes: Bytes, text: &str) -> Result<u64, Wrong> {
    if bytes.get() <= MAX_BUFFER_BYTES {
        return Ok(bytes.get());
    }
    let most = Bytes(MAX_BUFFER_BYTES);
    Err((format!("{text} is more than a switch can count: at most {most}"), Some("write \"4GB\" or less".to_owned())))
}

/// Reads a list of classes, as a bit mask.
pub(crate) fn classes(value: &Value, empty: &str) -> Read<u8> {
    let mut classes = 0u8;
    for item in list(value, "[3]")? {
        classes |= 1 << whole(&item.value, 0..=7)?.0;
    }
    if classes == 0 {
        return Err((empty.to_owned(), Some("write a list of classes, such as [3]".to_owned())));
    }
    let shown: Vec<u8> = (0..8).filter(|class| classes >> class & 1 == 1).collect();
    Ok((classes, format!("{shown:?}")))
}

/// Reads `all` or a list of tiers. Returns them as a bit mask.
pub(crate) fn tiers(value: &Value, empty: &str) -> Read<u8> {
    if value.text().as_deref() == Some("all") {
        return Ok((0xff, "all".to_owned()));
    }
    let mut tiers = 0u8;
    for item in list(value, "[1]")? {
        tiers |= 1 << whole(&item.value, 1..=7)?.0;
    }
    if tiers == 0 {
        let help = "write tiers = [1] for the ToRs, or \"all\"".to_owned();
        return Err((empty.to_owned(), Some(help)));
    }
    let shown: Vec<u8> = (1..8).filter(|tier| tiers >> tier & 1 == 1).collect();
    Ok((tiers, format!("{shown:?}")))
}

/// Reads a list of eight values, one per class, or a table from class to value, in which omitted classes have the value
/// `rest`.
fn by_class(value: &Value, rest: &str, read: impl Fn(&Value) -> Read<String>) -> Read<String> {
    let mut all = [rest; CLASSES].map(str::to_owned);
    match value {
        Value::Array(items) if items.len() == CLASSES => {
            for (slot, item) in all.iter_mut().zip(items) {
                *slot = read(&item.value)?.0;
            }
        }
        Value::Table(table) => {
            for entry in &table.entries {
                let class = entry.key.parse::<usize>().ok().and_then(|class| all.get_mut(class));
                let Some(slot) = class else {
                    return Err((format!("`{}` is not a class", entry.key), Some("classes are 0 to 7".to_owned())));
                };
                *slot = read(&entry.item.value)?.0;
            }
        }
        other => {
            let help = "write eight values, class 0 first, or a table like { 3 = ... }".to_owned();
            return Err((format!("{} is not a list of eight values or a table by class", show(other)), Some(help)));
        }
    }
    let text = format!("[{}]", all.join(", "));
    Ok((text.clone(), text))
}

/// Reads two different classes, in order.
fn class_pair(value: &Value) -> Read<String> {
    let items = list(value, "[6, 7]")?;
    let classes: Vec<u64> =
        items.iter().map(|class| Ok(whole(&class.value, 0..=7)?.0)).collect::<Result<_, Wrong>>()?;
    match classes[..] {
        [first, second] if first != second => Ok((format!("[{first}, {second}]"), format!("[{first}, {second}]"))),
        _ => Err((format!("{} is not a pair of classes", show(value)), Some("write classes = [6, 7]".to_owned()))),
    }
}

/// Reads a threshold: `"1/8"`, `0.125` and `1` are values of alpha (dynamic threshold); `"1MB"` is a static threshold.
pub(crate) fn threshold(value: &Value) -> Read<Threshold> {
    let right = || Some("write a size like \"100KB\", or a share of the free buffer like \"1/8\"".to_owned());
    let Some(text) = value.text() else { return Err((format!("{} is not a threshold", value.what()), right())) };
    let numeric = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '/' | ' '));
    if !numeric {
        let (bytes, text) = quantity::<Bytes>(value, "a size").map_err(|(message, _)| (message, right()))?;
        return Ok((Threshold::Static { bytes: bytes.get() }, text));
    }
    match fraction(&text) {
        Some(alpha @ (1.., 1..)) => {
            let text = if alpha.1 == 1 { alpha.0.to_string() } else { format!("{}/{}", alpha.0, alpha.1) };
            Ok((Threshold::Dynamic { alpha }, text))
        }
        _ => Err((format!("`{text}` is not a share of the free buffer"), right())),
    }
}

/// Reads the share of the line rate that a meter passes, as numerator and denominator.
fn part(value: &Value) -> Read<(u32, u32)> {
    let right = || Some("write a share of the line rate, like \"1/4\" or 0.5".to_owned());
    match value.text().and_then(|text| fraction(&text)) {
        Some((0, _)) => Err(("a meter without a rate would trim every packet".to_owned(), right())),
        Some((numerator, denominator)) if denominator > 0 && numerator <= denominator => {
            Ok(((numerator, denominator), format!("{numerator}/{denominator}")))
        }
        _ => Err((format!("{} is not a share of the line rate", show(value)), right())),
    }
}

/// Reads an XOFF threshold: `"auto"`, a size, or a share of the free buffer.
pub(crate) fn xoff(value: &Value) -> Read<Threshold> {
    match value.text().as_deref() {
        Some("auto") => Ok((protocols::pause::AUTO_XOFF, "auto: 1/8".to_owned())),
        _ => threshold(value),
    }
}

/// Reads the headroom: `"auto"`, which is `None`, or a size.
pub(crate) fn headroom(value: &Value) -> Read<Option<u64>> {
    match value.text().as_deref() {
        Some("auto") => Ok((None, "auto".to_owned())),
        _ => quantity::<Bytes>(value, "a size").map(|(bytes, text)| (Some(bytes.get()), text)),
    }
}
