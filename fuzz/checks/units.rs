//! Checks of quantities, a module for each fuzz target.

pub mod units_quantity {
    //! Times, rates, sizes and shares: any text is an error with an explanation, or a value that is preserved when
    //! printed and parsed.

    use std::fmt::{Debug, Display};
    use std::str::FromStr;
    use units::{Bytes, Rate, Time, parse_percent};

    /// Panics if the text violates the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        quantity::<Time>(text);
        quantity::<Rate>(text);
        quantity::<Bytes>(text);
        match parse_percent(text) {
            Ok(share) => assert!(share.is_finite() && share >= 0.0, "{share}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }

    fn quantity<Q: FromStr + Display + Debug + PartialEq>(text: &str)
    where
        Q::Err: Display + Debug,
    {
        match text.parse::<Q>() {
            // The largest time means, and prints as, "never", which only a few keys permit.
            Ok(value) if value.to_string() == "never" => {}
            Ok(value) => assert_eq!(value.to_string().parse::<Q>().expect("what was printed can be read"), value),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
