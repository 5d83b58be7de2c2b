//! Cable lengths.

use crate::Time;

/// Returns the propagation delay of a cable whose length is given as text, such as `300m` or `10km`, at 5 ns per metre:
/// the delay of light in fibre, and approximately of signals in copper.
///
/// # Errors
/// If the text is not a whole number of m or km above zero, or the delay exceeds the range of [`Time`].
///
/// ```
/// assert_eq!(units::cable_delay("300m"), Ok(units::Time::from_ns(1500)));
/// assert!(units::cable_delay("0m").is_err());
/// ```
pub fn cable_delay(text: &str) -> Result<Time, &'static str> {
    let text = text.trim();
    let (number, picoseconds) = match (text.strip_suffix("km"), text.strip_suffix('m')) {
        (Some(number), _) => (number, 5_000_000),
        (None, Some(number)) => (number, 5_000),
        _ => return Err("write a length like 300m or 10km"),
    };
    let number: u64 = number.trim().parse().map_err(|_| "write a whole number of m or km, like 300m")?;
    let delay = number.checked_mul(picoseconds).filter(|&delay| delay > 0);
    delay.map(Time::from_ps).ok_or("a cable has a length above zero that fits a planet")
}
