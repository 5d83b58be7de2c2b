//! Export of fabrics to every format. A valid network is either rejected by a format with a reason, or written and read
//! again with its size preserved.

use fabric::files::{Format, Options, detect};
use fabric::{Fabric, LinkSpec};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let options = Options { hosts_per_switch: 1, ..Options::new(LINK) };
    let Some(Ok(fabric)) = detect("file", text).map(|format| format.read(text, &options)) else { return };
    if fabric.links().len() > 1000 {
        return;
    }
    let size = |fabric: &Fabric| (fabric.links().len(), fabric.hosts().len(), fabric.switches().count());
    for format in Format::ALL {
        let written = match format.write(&fabric) {
            Ok(written) => written,
            Err(error) => {
                assert!(error.to_string().contains("cannot express"), "{error}");
                continue;
            }
        };
        let options = Options { hosts_per_switch: 0, ..options.clone() };
        let again = format.read(&written, &options);
        // A link table does not state hosts. Without nodes that are recognised as hosts it is not a valid fabric.
        if format == Format::LinkCsv {
            let same = |again: &Fabric| again.links().len() == fabric.links().len();
            assert!(
                again.as_ref().map_or_else(|error| error.to_string().contains("none is a host"), same),
                "{again:?}"
            );
            continue;
        }
        let again = again.unwrap_or_else(|error| panic!("{}: {error}\n{written}", format.name()));
        assert_eq!(size(&again), size(&fabric), "{}", format.name());
        // Reading may renumber nodes in file order, but only once.
        let second = format.write(&again).expect("what was written once");
        let settled = format.read(&second, &options).expect("what was written can be read");
        assert_eq!(format.write(&settled), Ok(second), "{}: written again it is the same", format.name());
    }
}
