//! `[switch.marking]` with `kind = "congestion-point"`: queues that notify sources (QCN).

use crate::section::Section;
use crate::values::classes;
use protocols::qcn::PointParameters;
use units::Bytes;

/// Reads the keys of congestion points.
pub(crate) fn read(table: &Section<'_, '_>) -> Option<PointParameters> {
    let (set_point, sample, sample_min) = (table.size("set_point"), table.size("sample"), table.size("sample_min"));
    let (weight, jitter) = (table.whole("weight", 0..=64), table.probability("jitter"));
    let cnm = table.size("cnm");
    let (cnm_class, own) = (
        table.class("cnm_class"),
        table.read("priorities", |value| classes(value, "the list of classes with congestion points is empty")),
    );
    let positive = |key: &'static str, value: Option<u64>| {
        if value == Some(0) {
            table.fail(key, format!("`{key}` is zero"), Some("write at least 1B".to_owned()));
        }
    };
    positive("set_point", set_point);
    positive("sample_min", sample_min);
    if let (Some(far), Some(near)) = (sample, sample_min)
        && near > far
    {
        let message = format!("`sample_min` = {} is more than `sample` = {}", Bytes(near), Bytes(far));
        let help = "stronger feedback shortens the sampling distance: write at most `sample`".to_owned();
        table.fail("sample_min", message, Some(help));
    }
    if jitter == Some(1.0) {
        let help = "write less than 1: a distance of zero bytes is none".to_owned();
        table.fail("jitter", "a jitter of 1 could draw a distance of zero", Some(help));
    }
    let fits = cnm.map(u16::try_from);
    if let Some(Err(_)) = fits {
        table.fail("cnm", "a frame holds at most 65535 bytes", Some("write \"64B\"".to_owned()));
    }
    let cnm_class = cnm_class?;
    Some(PointParameters {
        set_point_bytes: set_point?,
        weight: weight? as u8,
        sample_bytes: sample?,
        sample_min_bytes: sample_min?,
        jitter: jitter?,
        cnm_bytes: fits?.ok()?,
        cnm_class,
        classes: own.unwrap_or(!(1 << cnm_class)),
    })
}
