//! How ports mark and which class they serve next: of all switches, or of some.

use crate::document::Value;
use crate::section::{Read, Section, Wrong, quantity, show, whole};
use model::parameters::{CLASSES, MarkAt, Marking, Scheduler};
use units::Bytes;

/// What a deficit round robin gives a class that a table does not name: a full frame.
const DRR_QUANTUM_BYTES: u32 = 1518;

pub(crate) fn marking(section: &Section<'_, '_>) -> Option<Marking> {
    let table = section.table("marking", "switch.marking", true);
    let kind = table.kind("marking", &["none", "ecn"]);
    let (mut ecn, mut of_rate) = (None, None);
    if kind == Some("ecn") {
        let (k_min, k_max, p_max) = (table.size("k_min"), table.size("k_max"), table.probability("p_max"));
        let k_max = if table.has("k_max") { k_max } else { k_min };
        if let (Some(low), Some(high)) = (k_min, k_max)
            && high < low
        {
            let message = format!("`k_max` = {} is below `k_min` = {}", Bytes(high), Bytes(low));
            table.fail("k_max", message, Some("marking begins at k_min and is certain above k_max".to_owned()));
        }
        let at = table.word("at", "moment to mark", &["enqueue", "dequeue"]);
        of_rate = table.rate("rate");
        ecn = k_min.zip(k_max).zip(p_max.zip(at));
    }
    table.finish();
    match kind? {
        "none" => Some(Marking::None),
        _ => ecn.map(|((k_min_bytes, k_max_bytes), (p_max, at))| {
            let at = if at == "dequeue" { MarkAt::Dequeue } else { MarkAt::Enqueue };
            Marking::Ecn { k_min_bytes, k_max_bytes, p_max, of_rate, at }
        }),
    }
}

pub(crate) fn scheduler(section: &Section<'_, '_>) -> Option<Scheduler> {
    let table = section.table("scheduler", "switch.scheduler", true);
    let kind = table.kind("scheduler", &["strict", "wrr", "drr"]);
    let scheduler = match kind {
        Some("strict") => Some(Scheduler::Strict),
        Some("wrr") => {
            let weight = |value: &Value| whole(value, 1..=65_535).map(|(weight, _)| weight as u16);
            table.read("weights", |value| per_class(value, 1, weight)).map(|weights| Scheduler::Wrr { weights })
        }
        Some("drr") => {
            let quantum = |value: &Value| match quantity::<Bytes>(value, "a size")? {
                (Bytes(bytes @ 1..=0xffff_ffff), _) => Ok(bytes as u32),
                (_, text) => Err((format!("`{text}` is out of range"), Some("from 1B to 4GB".to_owned()))),
            };
            table
                .read("quanta", |value| per_class(value, DRR_QUANTUM_BYTES, quantum))
                .map(|quantum_bytes| Scheduler::Drr { quantum_bytes })
        }
        _ => None,
    };
    table.finish();
    scheduler
}

/// Eight values, or a table of class and value.
fn per_class<T: Copy + std::fmt::Debug>(
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
            return Err((format!("{} does not say what each class gets", show(other)), Some(help)));
        }
    }
    Ok((all, format!("{all:?}")))
}
