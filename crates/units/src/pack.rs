//! Binary encoding of values in messages between the ranks of one simulation. Sender and receiver run the same program,
//! so the encoding has neither version numbers nor field names; integers are little-endian.
//!
//! ```
//! use units::{Time, pack::Pack};
//! let mut bytes = Vec::new();
//! (Time::from_ns(7), vec![Some(3u16), None]).pack(&mut bytes);
//! let read = <(Time, Vec<Option<u16>>)>::unpack(&mut &bytes[..]);
//! assert_eq!(read, Some((Time::from_ns(7), vec![Some(3), None])));
//! ```

use crate::{Rate, Time};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A value with a binary encoding.
pub trait Pack: Sized {
    /// Appends the encoding to `to`.
    fn pack(&self, to: &mut Vec<u8>);

    /// Decodes a value from the beginning of `from`, and advances `from` past it; `None` if the bytes are invalid.
    fn unpack(from: &mut &[u8]) -> Option<Self>;
}

/// Encodes one value.
pub fn packed(value: &impl Pack) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.pack(&mut bytes);
    bytes
}

/// Decodes a value whose encoding is exactly `bytes`; `None` if the bytes are invalid, or bytes remain.
pub fn unpacked<T: Pack>(mut bytes: &[u8]) -> Option<T> {
    let value = T::unpack(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

/// Implements [`Pack`](crate::pack::Pack) for a struct, field by field. If a field is missing from the list, it does
/// not compile.
#[macro_export]
macro_rules! pack_fields {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::pack::Pack for $type {
            #[inline]
            fn pack(&self, to: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($crate::pack::Pack::pack($field, to);)*
            }
            #[inline]
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::pack::Pack::unpack(from)?),* })
            }
        }
    };
}

/// A value with an encoding of fixed length, so that several values can be written with one length check.
pub trait Fixed: Pack {
    /// Writes the encoding to the beginning of `to`, which must be long enough; returns the rest of `to`.
    fn write<'a>(&self, to: &'a mut [u8]) -> &'a mut [u8];
}

/// Implements [`Pack`](crate::pack::Pack) for a struct of [`Fixed`](crate::pack::Fixed) fields, whose encodings have
/// `$bytes` bytes in total. It takes a quarter of the time of [`pack_fields`](crate::pack_fields).
#[macro_export]
macro_rules! pack_fixed {
    ($type:ty, $bytes:literal { $($field:ident),* $(,)? }) => {
        impl $crate::pack::Pack for $type {
            #[inline]
            fn pack(&self, to: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                let mut bytes = [0; $bytes];
                let rest = &mut bytes[..];
                $(let rest = $crate::pack::Fixed::write($field, rest);)*
                debug_assert!(rest.is_empty(), "{} bytes too many", rest.len());
                to.extend_from_slice(&bytes);
            }
            #[inline]
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk::<$bytes>()?;
                *from = rest;
                let bytes = &mut &bytes[..];
                Some(Self { $($field: $crate::pack::Pack::unpack(bytes)?),* })
            }
        }
    };
}

/// Implements [`Pack`](crate::pack::Pack) for an enum: encodes the number of the variant, then the variant's fields.
#[macro_export]
macro_rules! pack_variants {
    ($type:ident { $($number:literal $variant:ident $({ $($field:ident),* })? $(($inner:ident))?),* $(,)? }) => {
        impl $crate::pack::Pack for $type {
            fn pack(&self, to: &mut Vec<u8>) {
                match self {
                    $($type::$variant $({ $($field),* })? $(($inner))? => {
                        to.push($number);
                        $($($crate::pack::Pack::pack($field, to);)*)?
                        $($crate::pack::Pack::pack($inner, to);)?
                    })*
                }
            }
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some(match <u8 as $crate::pack::Pack>::unpack(from)? {
                    $($number => $type::$variant
                        $({ $($field: $crate::pack::Pack::unpack(from)?),* })?
                        $(({ let $inner = $crate::pack::Pack::unpack(from)?; $inner }))?,)*
                    _ => return None,
                })
            }
        }
    };
}

macro_rules! pack_numbers {
    ($($type:ty),*) => {$(
        impl Pack for $type {
            #[inline]
            fn pack(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                let (first, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$type>::from_le_bytes(*first))
            }
        }
        impl Fixed for $type {
            #[inline]
            fn write<'a>(&self, to: &'a mut [u8]) -> &'a mut [u8] {
                let (here, rest) = to.split_at_mut(size_of::<$type>());
                here.copy_from_slice(&self.to_le_bytes());
                rest
            }
        }
    )*};
}
pack_numbers!(u8, u16, u32, u64, u128, i16, i64, i128, f64);

impl Pack for usize {
    fn pack(&self, to: &mut Vec<u8>) {
        (*self as u64).pack(to);
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u64::unpack(from)?.try_into().ok()
    }
}

impl Pack for bool {
    fn pack(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(u8::unpack(from)? != 0)
    }
}

impl Pack for Time {
    #[inline]
    fn pack(&self, to: &mut Vec<u8>) {
        self.as_ps().pack(to);
    }
    #[inline]
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u64::unpack(from).map(Time::from_ps)
    }
}

impl Fixed for Time {
    #[inline]
    fn write<'a>(&self, to: &'a mut [u8]) -> &'a mut [u8] {
        self.as_ps().write(to)
    }
}

impl Pack for Rate {
    fn pack(&self, to: &mut Vec<u8>) {
        self.as_bps().pack(to);
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u64::unpack(from).and_then(Rate::from_bps)
    }
}

impl Pack for String {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        to.extend_from_slice(self.as_bytes());
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let length = usize::unpack(from)?;
        let (text, rest) = from.split_at_checked(length)?;
        *from = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl Pack for Cow<'static, str> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        to.extend_from_slice(self.as_bytes());
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        String::unpack(from).map(Cow::Owned)
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.is_some().pack(to);
        self.iter().for_each(|value| value.pack(to));
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::unpack(from)? { Some(T::unpack(from)?) } else { None })
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        self.iter().for_each(|value| value.pack(to));
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        (0..usize::unpack(from)?).map(|_| T::unpack(from)).collect()
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    fn pack(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.pack(to));
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let values: Option<Vec<T>> = (0..N).map(|_| T::unpack(from)).collect();
        values?.try_into().ok()
    }
}

impl<K: Pack + Ord, V: Pack> Pack for BTreeMap<K, V> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        for (key, value) in self {
            key.pack(to);
            value.pack(to);
        }
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        (0..usize::unpack(from)?).map(|_| Some((K::unpack(from)?, V::unpack(from)?))).collect()
    }
}

macro_rules! pack_tuples {
    ($($($name:ident)+;)*) => {$(
        #[expect(non_snake_case, reason = "one letter for a position and its type")]
        impl<$($name: Pack),+> Pack for ($($name,)+) {
            fn pack(&self, to: &mut Vec<u8>) {
                let ($($name,)+) = self;
                $($name.pack(to);)+
            }
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some(($($name::unpack(from)?,)+))
            }
        }
    )*};
}
pack_tuples! { A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; }

impl Pack for () {
    fn pack(&self, _: &mut Vec<u8>) {}
    fn unpack(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Pair {
        left: u8,
        right: Option<i128>,
    }
    crate::pack_fields!(Pair { left, right });

    #[derive(Debug, PartialEq)]
    enum Choice {
        Nothing,
        Named { name: String, twice: [f64; 2] },
        Wrapped(Pair),
    }
    crate::pack_variants!(Choice { 0 Nothing, 1 Named { name, twice }, 2 Wrapped(pair) });

    #[test]
    fn what_is_read_is_what_was_written_and_no_byte_can_miss() {
        let named = Choice::Named { name: "a \u{e9}".to_owned(), twice: [f64::MIN_POSITIVE, -0.5] };
        let wrapped = Choice::Wrapped(Pair { left: 255, right: Some(i128::MIN) });
        let map = BTreeMap::from([(3usize, true), (1, false)]);
        let value = (vec![named, Choice::Nothing, wrapped], (map, Rate::from_gbps(7)), Time::MAX, ());
        let bytes = packed(&value.0);
        assert_eq!(unpacked::<Vec<Choice>>(&bytes).as_ref(), Some(&value.0));
        let rest = packed(&(value.1.clone(), value.2));
        assert_eq!(unpacked(&rest), Some((value.1, value.2)));
        for length in 0..bytes.len() {
            assert_eq!(unpacked::<Vec<Choice>>(&bytes[..length]), None);
        }
        assert_eq!(unpacked::<Vec<Choice>>(&[&bytes[..], &[0]].concat()), None, "a byte too much");
        assert_eq!(unpacked::<Choice>(&[3]), None, "no such variant");
    }
}
