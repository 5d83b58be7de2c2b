//! Delay of a frame on one link.
//!
//! ```text
//!  h0 ==[ 1518 B frame ]==========================> h1     100 Gbps, 300 m of fibre
//!       |<- serialisation ->|<--- propagation --->|
//! ```
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rate: Rate = "100Gbps".parse()?;
    let propagation: Time = "1.5us".parse()?;
    let serialisation = rate.serialise(1518 + WIRE_OVERHEAD_BYTES);
    println!("{serialisation} on the wire, {} in all", serialisation + propagation);
    assert_eq!(serialisation, Time::from_ps(123_040));
    Ok(())
}
