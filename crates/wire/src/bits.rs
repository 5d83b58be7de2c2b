//! Integer fields with fewer bits than their Rust type; out-of-range values cannot be constructed.

/// Defines a public type for an unsigned field with this number of bits.
macro_rules! bit_field {
    ($(#[$doc:meta])* $name:ident: $repr:ty, $bits:literal bits) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($repr);

        impl $name {
            /// Maximum value.
            pub const MAX: $name = $name((1 << $bits) - 1);

            /// Returns `value`, or `None` if it exceeds [`Self::MAX`].
            pub const fn new(value: $repr) -> Option<Self> {
                if value <= Self::MAX.0 { Some($name(value)) } else { None }
            }
            #[doc = concat!("The low ", stringify!($bits), " bits of `value`.")]
            pub const fn low_bits(value: $repr) -> Self {
                $name(value & Self::MAX.0)
            }
            /// Returns the value.
            pub const fn get(self) -> $repr {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}
pub(crate) use bit_field;

#[cfg(test)]
mod tests {
    use crate::vlan::Pcp;

    #[test]
    fn too_wide_a_value_does_not_fit() {
        assert_eq!(Pcp::new(7), Some(Pcp::MAX));
        assert_eq!(Pcp::new(8), None);
        assert_eq!(Pcp::low_bits(0xFA).get(), 2);
    }
}
