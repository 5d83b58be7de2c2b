//! Readers of values that several parts share.

use crate::document::{Value, unknown_word};
use crate::section::{Read, Wrong, list, quantity, rate, share, show, text, whole};
use model::parameters::{CLASSES, MAX_BUFFER_BYTES, QueueLimit};
use protocols::describe::{Syntax, ValueType};
use protocols::reaction::Reaction;
use units::{Bytes, Time};

/// Reads a value of this syntax, as its canonical text.
pub(crate) fn canonical(value: &Value, syntax: Syntax) -> Read<String> {
    let text = match syntax.value {
        ValueType::Text => text(value, syntax.name)?,
        ValueType::Size => quantity::<Bytes>(value, syntax.name)?.1,
        ValueType::Time => quantity::<Time>(value, syntax.name)?.1,
        ValueType::Rate => rate(value)?.1,
        ValueType::Share => share(value, 1.0)?.1,
        ValueType::Count => whole(value, 0..=u64::from(u32::MAX))?.1,
        ValueType::Positive => {
            let text = value.text().ok_or_else(|| (format!("{} is not {}", show(value), syntax.name), None))?;
            if !text.parse::<f64>().is_ok_and(|number| number.is_finite() && number > 0.0) {
                return Err((format!("`{text}` is not {}", syntax.name), None));
            }
            text
        }
        ValueType::Flag => {
            let text = value.text().ok_or_else(|| (format!("{} is not {}", show(value), syntax.name), None))?;
            if !matches!(&*text, "true" | "false") {
                return Err((format!("`{text}` is not {}", syntax.name), None));
            }
            text
        }
        ValueType::Class => whole(value, 0..=7)?.1,
        ValueType::Classes => classes(value, "the list of classes is empty")?.1,
        ValueType::Word(words) => {
            let text = text(value, syntax.name)?;
            if !words.contains(&text.as_str()) {
                return Err(unknown_word(&text, "value", words));
            }
            text
        }
    };
    Ok((text.clone(), text))
}

/// Reads the reaction time to a pause: `"standard"` or a time, also in bit times or quanta.
pub(crate) fn reaction(value: &Value) -> Read<Reaction> {
    let right = "write \"standard\", a time like \"500ns\", or \"3840 bit times\"";
    quantity(value, "a reaction time").map_err(|(message, _)| (message, Some(right.to_owned())))
}

/// Reads the limit of a single queue: `"500 packets"` or a size.
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

/// Reads a size of a buffer within the range of its counters.
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

/// Reads `all`, or a list of tiers, as a bit mask.
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

/// Parses a fraction or a decimal, exact, in lowest terms.
pub(crate) fn fraction(text: &str) -> Option<(u32, u32)> {
    let (numerator, denominator) = alpha(text)?;
    let divisor = greatest_common_divisor(numerator, denominator).max(1);
    Some((numerator / divisor, denominator / divisor))
}

/// Parses a fraction or a decimal, exact.
pub(crate) fn alpha(text: &str) -> Option<(u32, u32)> {
    if let Some((numerator, denominator)) = text.split_once('/') {
        return Some((numerator.trim().parse().ok()?, denominator.trim().parse().ok()?));
    }
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let fraction = fraction.trim_end_matches('0');
    let denominator = 10u32.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some((format!("{whole}{fraction}").parse().ok()?, denominator))
}

pub(crate) fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Reads eight values, or a table from class to value.
pub(crate) fn per_class<T: Copy + std::fmt::Debug>(
    value: &Value,
    rest: T,
    parse: impl Fn(&Value) -> Result<T, Wrong>,
) -> Read<[T; CLASSES]> {
    let mut all = [rest; CLASSES];
    match value {
        Value::Array(items) if items.len() == CLASSES => {
            for (slot, item) in all.iter_mut().zip(items) {
                *slot = parse(&item.value)?;
            }
        }
        Value::Table(table) => {
            for entry in &table.entries {
                let class = entry.key.parse::<usize>().ok().and_then(|class| all.get_mut(class));
                let Some(slot) = class else {
                    return Err((format!("`{}` is not a class", entry.key), Some("classes are 0 to 7".to_owned())));
                };
                *slot = parse(&entry.item.value)?;
            }
        }
        other => {
            let help = "write eight values, class 0 first, or a table like { 3 = ... }".to_owned();
            return Err((format!("{} is not a list of eight values or a table by class", show(other)), Some(help)));
        }
    }
    Ok((all, format!("{all:?}")))
}
