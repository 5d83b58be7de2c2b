//! Declaration of a mechanism's parameters. One declaration yields the struct, the defaults, the parser of scenario
//! texts and the [`Mechanism`](crate::describe::Mechanism) table, from which scenario keys, help and documentation
//! are derived.
//!
//! ```text
//! parameters! {
//!     /// Parameters of phantom queues.
//!     #[derive(Clone, Copy, Debug, PartialEq)]
//!     pub struct PhantomParameters: Marking "phantom" {
//!         title: "ECN by a phantom queue";
//!         source: "HULL";
//!         /// Documentation of the field.
//!         drain: f64 = "drain" share, default "0.95", "meaning and range", "source of meaning and default";
//!         threshold_bytes: u64 = "threshold" bytes, required, "meaning", "source";
//!         of_rate: Option<Rate> = "rate" rate, absent "effect of no value", "meaning", "source";
//!         at: MarkEvent = "at" word["enqueue" = MarkEvent::Enqueue, "dequeue" = MarkEvent::Dequeue],
//!             default "enqueue", "meaning", "source";
//!     }
//!     check(parameters) {
//!         [require(parameters.drain < 1.0, "drain", "a share below 1")]
//!     }
//! }
//! ```
//!
//! `absent "effect" = 7` sets the field to 7 if the scenario omits the key. A block `also [...]` after the struct
//! lists parameters that the scenario reader interprets; the struct has no fields for them.
//!
//! With a line `over` after the source, the struct holds the parameters of a transport (`over: none;`), or of a
//! mechanism on top of a transport ([`OwnParameters`]). In the second case, the line lists the transport's keys that
//! the mechanism does not have, and the keys whose default it overrides: `over: roce::MECHANISM, without
//! ["ack_every"], default [("ecn", "true", "source")];`. Two blocks may follow the struct: `group` for parameters
//! that are fields of a struct of another module, with constant values of its other fields, and `beside` for fields
//! that are not parameters.
//!
//! ```text
//!     /// Parameters of the recovery.
//!     group recovery: RecoveryParameters { hyper_by_stage: false } {
//!         timer = "increase_timer" time, default "55us", "meaning", "source";
//!     }
//!     beside {
//!         /// The rate control.
//!         control: ControlParameters = ControlParameters::Fixed;
//!     }
//! ```
//!
//! The key is followed by its parser, a function of [`settings`](crate::settings): `bytes`, `time`, `rate`, `share`,
//! `count`, `number`, `positive`, `switch`, `class`, `classes`, `class_pair`, `weights`, `quanta`, `slopes`,
//! `frame_bytes`, `threshold`, `queue_limit`, `fraction`, `reaction`, `file` with an example, or `word` with its words
//! and their values; `word["one", "other"]` yields the word itself.
//! `time_or["path"]` parses `path` as `None`; `either["path" = Cap::Path, bytes = Cap::Bytes]` parses one of the
//! words, or a value with that parser; `switch[Ecn::Off, Ecn::Classic]` maps false and true; `count[1, 255]` has a
//! range. `check` returns an array of tests of the values and their combinations. It may be omitted, and is not
//! allowed with `over`, where the transport checks the values.

use crate::describe::Mechanism;
use crate::settings::ParameterError;

/// Parameters declared by `parameters!`.
pub trait Parameters: Sized {
    /// Description of the parameters.
    const MECHANISM: &'static Mechanism;

    /// Builds the parameters from scenario settings (key and text); parameters that are not set have their defaults.
    ///
    /// # Errors
    /// The first fault: an unknown key, an invalid value, a missing required key, or inconsistent values.
    fn build(settings: &[(&str, &str)]) -> Result<Self, ParameterError> {
        let known = |key: &&str| Self::MECHANISM.parameter(key).is_some();
        if let Some((key, _)) = settings.iter().find(|(key, _)| !known(key)) {
            return Err(crate::settings::unknown(Self::MECHANISM, key));
        }
        let parameters = Self::read(settings)?;
        parameters.check().into_iter().next().map_or(Ok(parameters), Err)
    }

    /// Like [`Parameters::build`], but ignores unknown keys and does not call [`Parameters::check`].
    ///
    /// # Errors
    /// An invalid value, or a required key that is missing.
    fn read(settings: &[(&str, &str)]) -> Result<Self, ParameterError>;

    /// Returns an error for each value that is out of its range or inconsistent with another value.
    fn check(&self) -> Vec<ParameterError>;
}

/// Parameters that a mechanism adds to those of its transport.
pub trait OwnParameters: Default {
    /// Description of the mechanism, with its own parameters and those of its transport.
    const MECHANISM: &'static Mechanism;

    /// Sets the parameter `key` from its text in a scenario.
    ///
    /// # Errors
    /// If there is no such parameter, or the text is invalid.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParameterError>;
}

/// Declares the parameters of a mechanism: see the [module](self).
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $family:ident $kind:literal {
            title: $title:expr;
            source: $source:expr;
            over: none;
            $($rest:tt)*
        }
        $($more:tt)*
    ) => {
        $crate::parameters::parameters!(@settable [$(#[$meta])*] $name ($kind, $family, $title, $source)
            (&[], &[], &[]) { $($rest)* } $($more)*);
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $family:ident $kind:literal {
            title: $title:expr;
            source: $source:expr;
            over: $base:path $(, without [$($without:literal),+])? $(, default [$($changed:expr),+])?;
            $($rest:tt)*
        }
        $($more:tt)*
    ) => {
        $crate::parameters::parameters!(@settable [$(#[$meta])*] $name ($kind, $family, $title, $source)
            ($base.parameters, &[$($($without),+)?], &[$($($changed),+)?]) { $($rest)* } $($more)*);
    };
    (@settable [$(#[$meta:meta])*] $name:ident ($kind:expr, $family:ident, $title:expr, $source:expr)
        ($base:expr, $without:expr, $changed:expr) {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $type:ty = $key:literal $syntax:ident $([$($option:tt)+])?,
                    $presence:ident $preset:literal, $meaning:expr, $from:expr;
            )*
        }
        $(
            $(#[$group_meta:meta])*
            group $group:ident: $group_type:ident { $($constant:ident: $constant_value:expr),* $(,)? } {
                $(
                    $member:ident = $member_key:literal $member_syntax:ident $([$($member_option:tt)+])?,
                        $member_presence:ident $member_preset:literal, $member_meaning:expr, $member_from:expr;
                )*
            }
        )?
        $(beside {
            $($(#[$beside_meta:meta])* $beside:ident: $beside_type:ty = $beside_value:expr;)*
        })?
    ) => {
        $crate::parameters::parameters!(@declare [$(#[$meta])*] $name ($kind, $family, $title, $source)
            ($base, $without, $changed)
            [
                $([$(#[$field_meta])*] $field: $type;)*
                $([$(#[$group_meta])*] $group: $group_type;)?
                $($([$(#[$beside_meta])*] $beside: $beside_type;)*)?
            ]
            [
                $(($key, $syntax [$($($option)+)?], $presence [$preset], $meaning, $from))*
                $($((
                    $member_key, $member_syntax [$($($member_option)+)?], $member_presence [$member_preset],
                    $member_meaning, $member_from
                ))*)?
            ]
        );

        impl Default for $name {
            fn default() -> Self {
                $name {
                    $($field: $crate::parameters::parameters!(
                        @initial $presence $syntax [$($($option)+)?] $key $preset
                    ),)*
                    $($group: $group_type {
                        $($constant: $constant_value,)*
                        $($member: $crate::parameters::parameters!(
                            @initial $member_presence $member_syntax [$($($member_option)+)?] $member_key $member_preset
                        ),)*
                    },)?
                    $($($beside: $beside_value,)*)?
                }
            }
        }

        impl $crate::parameters::OwnParameters for $name {
            const MECHANISM: &'static $crate::describe::Mechanism = &MECHANISM;

            fn set(&mut self, key: &str, text: &str) -> Result<(), $crate::settings::ParameterError> {
                match key {
                    $($key => {
                        let value = $crate::parameters::parameters!(@read $syntax [$($($option)+)?] $key text)?;
                        self.$field = $crate::parameters::parameters!(@given $presence value);
                    })*
                    $($($member_key => {
                        self.$group.$member = $crate::parameters::parameters!(
                            @read $member_syntax [$($($member_option)+)?] $member_key text
                        )?;
                    })*)?
                    _ => return Err($crate::settings::unknown(&MECHANISM, key)),
                }
                Ok(())
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $family:ident $kind:literal {
            title: $title:expr;
            source: $source:expr;
            $(
                $(#[$field_meta:meta])*
                $field:ident: $type:ty = $key:literal $syntax:ident $([$($option:tt)+])?,
                    $presence:ident $($preset:literal $(= $otherwise:expr)?)?, $meaning:expr, $from:expr;
            )*
        }
        $(also [$($also:expr),+])?
        $(beside {
            $($(#[$beside_meta:meta])* $beside:ident: $beside_type:ty = $beside_value:expr;)*
        })?
        $(check($parameters:ident) $check:block)?
    ) => {
        $crate::parameters::parameters!(@declare [$(#[$meta])*] $name ($kind, $family, $title, $source) (&[], &[], &[])
            [
                $([$(#[$field_meta])*] $field: $type;)*
                $($([$(#[$beside_meta])*] $beside: $beside_type;)*)?
            ]
            [$(($key, $syntax [$($($option)+)?], $presence [$($preset)?], $meaning, $from))*]
            $([$($also),+])?
        );

        impl $crate::parameters::Parameters for $name {
            const MECHANISM: &'static $crate::describe::Mechanism = &MECHANISM;

            fn read(settings: &[(&str, &str)]) -> Result<Self, $crate::settings::ParameterError> {
                Ok($name {
                    $($field: {
                        let read = |text: &str| {
                            $crate::parameters::parameters!(@read $syntax [$($($option)+)?] $key text)
                        };
                        let given = settings.iter().rev().find(|(key, _)| *key == $key).map(|(_, text)| *text);
                        $crate::parameters::parameters!(@value $presence [$($preset $(= $otherwise)?)?] $key given read)
                    },)*
                    $($($beside: $beside_value,)*)?
                })
            }

            fn check(&self) -> Vec<$crate::settings::ParameterError> {
                let faults: Vec<Vec<_>> = vec![$({
                    let $parameters = self;
                    let results = $check;
                    results.into_iter().filter_map(Result::err).collect()
                })?];
                faults.concat()
            }
        }
    };

    // Declares the struct and its description.
    (@declare [$(#[$meta:meta])*] $name:ident ($kind:expr, $family:ident, $title:expr, $source:expr)
        ($base:expr, $without:expr, $changed:expr)
        [$([$(#[$field_meta:meta])*] $field:ident: $type:ty;)*]
        [$(($key:expr, $syntax:ident [$($option:tt)*], $presence:ident [$($preset:tt)?], $meaning:expr, $from:expr))*]
        $([$($also:expr),+])?
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        /// Description of the mechanism and its parameters, with those of its transport.
        pub const MECHANISM: $crate::describe::Mechanism = $crate::describe::Mechanism {
            kind: $kind,
            family: $crate::describe::Family::$family,
            title: $title,
            source: $source,
            parameters: {
                use $crate::describe::{Parameter, extended};
                const BASE: &[Parameter] = $base;
                const WITHOUT: &[&str] = $without;
                const OWN: &[Parameter] = &[$(Parameter {
                    key: $key,
                    syntax: $crate::parameters::parameters!(@syntax $syntax $($option)*),
                    default: $crate::parameters::parameters!(@default $presence $($preset)?),
                    meaning: $meaning,
                    source: $from,
                },)* $($($also),+)?];
                &extended::<{ BASE.len() - WITHOUT.len() + OWN.len() }>(BASE, WITHOUT, $changed, OWN)
            },
        };
    };

    (@syntax bytes) => { $crate::describe::Syntax::SIZE };
    (@syntax frame_bytes) => { $crate::describe::Syntax::FRAME_SIZE };
    (@syntax time) => { $crate::describe::Syntax::TIME };
    (@syntax rate) => { $crate::describe::Syntax::RATE };
    (@syntax share) => { $crate::describe::Syntax::SHARE };
    (@syntax count) => { $crate::describe::Syntax::COUNT };
    (@syntax count $least:literal, $most:literal) => { $crate::describe::Syntax::count_in($least, $most) };
    (@syntax positive) => { $crate::describe::Syntax::POSITIVE };
    (@syntax number) => { $crate::describe::Syntax::NUMBER };
    (@syntax class) => { $crate::describe::Syntax::CLASS };
    (@syntax classes) => { $crate::describe::Syntax::CLASSES };
    (@syntax class_pair) => { $crate::describe::Syntax::CLASS_PAIR };
    (@syntax weights) => { $crate::describe::Syntax::WEIGHTS };
    (@syntax quanta) => { $crate::describe::Syntax::QUANTA };
    (@syntax slopes) => { $crate::describe::Syntax::SLOPES };
    (@syntax file $example:literal) => { $crate::describe::Syntax::file($example) };
    (@syntax threshold) => { $crate::describe::Syntax::THRESHOLD };
    (@syntax queue_limit) => { $crate::describe::Syntax::QUEUE_LIMIT };
    (@syntax fraction) => { $crate::describe::Syntax::FRACTION };
    (@syntax reaction) => { $crate::describe::Syntax::REACTION };
    (@syntax switch $($off:expr, $on:expr)?) => { $crate::describe::Syntax::FLAG };
    (@syntax bytes_or $word:literal) => { $crate::parameters::parameters!(@or SIZE, "a size", $word) };
    (@syntax time_or $word:literal) => { $crate::parameters::parameters!(@or TIME, "a time", $word) };
    (@syntax rate_or $word:literal) => { $crate::parameters::parameters!(@or RATE, "a rate", $word) };
    (@syntax either $($word:literal = $variant:expr),+, bytes = $wrap:expr) => {
        $crate::parameters::parameters!(@or SIZE, "a size", $($word),+)
    };
    (@syntax either $($word:literal = $variant:expr),+, count = $wrap:expr) => {
        $crate::parameters::parameters!(@or COUNT, "a whole number", $($word),+)
    };
    (@syntax either $($word:literal = $variant:expr),+, threshold = $wrap:expr) => {
        $crate::parameters::parameters!(@or THRESHOLD, "a size, or a share of the free buffer", $($word),+)
    };
    (@syntax word $first:literal = $one:expr $(, $word:literal = $variant:expr)* $(,)?) => {
        $crate::describe::Syntax::word(
            &[$first $(, $word)*],
            $crate::parameters::parameters!(@list $first $(, $word)*),
            concat!("\"", $first, "\""),
        )
    };
    (@syntax word $($word:literal),+) => { $crate::parameters::parameters!(@syntax word $($word = $word),+) };
    (@or $syntax:ident, $name:literal, $($word:literal),+) => {
        $crate::describe::Syntax::new(
            $crate::describe::ValueType::Or(&[$($word),+], &$crate::describe::Syntax::$syntax.value),
            $crate::parameters::parameters!(@list $($word,)+ $name),
            $crate::describe::Syntax::$syntax.example,
        )
    };

    // Words in a sentence: "a", "a or b", "a, b or c".
    (@list $one:literal) => { $one };
    (@list $one:literal, $other:literal) => { concat!($one, " or ", $other) };
    (@list $one:literal, $($other:literal),+) => {
        concat!($one, ", ", $crate::parameters::parameters!(@list $($other),+))
    };

    (@default required) => { $crate::describe::Default::Required };
    (@default default $preset:literal) => { $crate::describe::Default::Value($preset) };
    (@default absent $effect:literal) => { $crate::describe::Default::Absent($effect) };

    (@read word [$($word:literal = $variant:expr),+ $(,)?] $key:literal $text:ident) => {
        $crate::settings::word($key, $text, &[$(($word, $variant)),+])
    };
    (@read word [$($word:literal),+] $key:literal $text:ident) => {
        $crate::settings::word($key, $text, &[$(($word, $word)),+])
    };
    (@read either [$($word:literal = $variant:expr),+, $syntax:ident = $wrap:expr] $key:literal $text:ident) => {
        match $text {
            $($word => Ok($variant),)+
            _ => $crate::settings::$syntax($key, $text).map($wrap),
        }
    };
    (@read switch [$off:expr, $on:expr] $key:literal $text:ident) => {
        $crate::settings::switch($key, $text).map(|is_on| if is_on { $on } else { $off })
    };
    (@read count [$least:literal, $most:literal] $key:literal $text:ident) => {
        $crate::settings::count_in($key, $text, $least, $most)
    };
    (@read $syntax:ident [$word:literal] $key:literal $text:ident) => { $crate::settings::$syntax($key, $text, $word) };
    (@read $syntax:ident [] $key:literal $text:ident) => { $crate::settings::$syntax($key, $text) };

    (@initial default $syntax:ident [$($option:tt)*] $key:literal $preset:literal) => {{
        let text = $preset;
        $crate::parameters::parameters!(@read $syntax [$($option)*] $key text).expect("the declared default is valid")
    }};
    (@initial absent $syntax:ident [$($option:tt)*] $key:literal $effect:literal) => { None };
    (@given default $value:ident) => { $value };
    (@given absent $value:ident) => { Some($value) };

    (@value required [] $key:literal $given:ident $read:ident) => {
        match $given {
            Some(text) => $read(text)?,
            None => return Err($crate::settings::missing(&MECHANISM, $key)),
        }
    };
    (@value default [$preset:literal] $key:literal $given:ident $read:ident) => { $read($given.unwrap_or($preset))? };
    (@value absent [$effect:literal] $key:literal $given:ident $read:ident) => { $given.map($read).transpose()? };
    (@value absent [$effect:literal = $otherwise:expr] $key:literal $given:ident $read:ident) => {
        $given.map($read).transpose()?.unwrap_or($otherwise)
    };
}

pub(crate) use parameters;
