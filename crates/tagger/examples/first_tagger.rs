//! Rules that prevent deadlock in a Clos fabric in which packets may bounce once.
//!
//! ```text
//!        S1      S2           a frame that arrives at L1 from above and leaves
//!       /| \    /| \          upwards gets the next tag: the ports that wait for
//!     L1 L2 L3 L4             each other within one tag form no cycle
//! ```
use fabric::LinkSpec;
use fabric::generate::{TierLinks, clos};
use tagger::paths::PathSource;
use tagger::{Algorithm, Request, generate};
use units::{Rate, Time};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
    let fabric = clos(2, 2, 2, 2, 4, TierLinks::uniform(link))?;
    let paths = PathSource::UpDown { bounces: 1 };
    let found = generate(&fabric, &Request { algorithm: Algorithm::Fewest, ..Request::new(paths) })?;
    println!("{} lossless tags, {} rules", found.report.tags, found.table.len());
    assert_eq!((found.report.tags, found.report.lower_bound), (2, 2));
    Ok(())
}
