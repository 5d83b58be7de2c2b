//! Descriptions of mechanisms and their parameters. They are the source of defaults, meanings and literature
//! references of scenario keys, of the output of `--explain` and `mechanisms`, of tables in the documentation, and of
//! the list of pages that a test requires.

/// Families of mechanisms. A scenario selects one mechanism per family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Conditions under which a switch pauses its neighbour.
    FlowControl,
    /// Limits on the duration of pauses.
    Watchdog,
    /// Treatment of frames that do not fit the buffer (overload action).
    Overload,
    /// Marking of frames by a switch.
    Marking,
    /// Buffer architecture: the memory in which a switch queues frames.
    Buffer,
    /// Selection of the next queue at a port.
    Scheduler,
    /// Limits on the rate of a class.
    Shaping,
    /// Time windows in which a port may send each class (gate control list).
    Gates,
    /// Cyclic queuing: assignment of received frames to time cycles.
    Cyclic,
    /// Interruption of preemptable frames by express frames.
    Preemption,
    /// Tag rules: changes of a frame's class along its path.
    Tags,
    /// Transport protocol of a host.
    Transport,
    /// Reaction of a sender to its bounced frames.
    OnBounce,
}

impl Family {
    /// Returns the scenario key that selects within this family, such as `switch.flow_control`.
    pub const fn key(self) -> &'static str {
        match self {
            Family::FlowControl => "switch.flow_control",
            Family::Watchdog => "switch.watchdog",
            Family::Overload => "switch.overload",
            Family::Marking => "switch.marking",
            Family::Buffer => "switch.buffer",
            Family::Scheduler => "switch.scheduler",
            Family::Shaping => "shaping",
            Family::Gates => "gates",
            Family::Cyclic => "cyclic",
            Family::Preemption => "switch.preemption",
            Family::Tags => "switch.tags",
            Family::Transport => "host.transport",
            Family::OnBounce => "host.on_bounce",
        }
    }

    /// Returns the scenario table that holds the parameters of this family.
    pub const fn table(self) -> &'static str {
        match self {
            Family::Buffer => "switch",
            _ => self.key(),
        }
    }
}

/// Value of a parameter if the scenario omits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// No default: the parameter is required.
    Required,
    /// This value, in the syntax of a scenario without quotes: `55us`, `0.00390625`, `true`.
    Value(&'static str),
    /// No value; the text describes the effect of an omitted parameter.
    Absent(&'static str),
}

impl Default {
    /// Text for a documentation table.
    pub const fn words(self) -> &'static str {
        match self {
            Default::Required => "required",
            Default::Value(words) | Default::Absent(words) => words,
        }
    }
}

/// Form of a parameter's value in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syntax {
    /// Type of the value, which selects the function that parses it.
    pub value: ValueType,
    /// Name of the type with its article, for example "a time".
    pub name: &'static str,
    /// Example of a value in TOML.
    pub example: &'static str,
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Any text.
    Text,
    /// A number of bytes, with unit.
    Size,
    /// A time, with unit.
    Time,
    /// A rate, with unit.
    Rate,
    /// A share from 0 to 1.
    Share,
    /// A whole number from 0 to 4,294,967,295.
    Count,
    /// A whole number in the range from the first number to the second.
    CountIn(u32, u32),
    /// A number above 0.
    Positive,
    /// True or false.
    Flag,
    /// A traffic class from 0 to 7.
    Class,
    /// A list of traffic classes.
    Classes,
    /// Two different traffic classes, in order.
    ClassPair,
    /// A value for each class: a list of eight, or a table by class. Classes that the table omits have the text.
    ByClass(&'static Syntax, &'static str),
    /// Name of a file.
    File,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a value of the second type.
    Or(&'static [&'static str], &'static ValueType),
    /// A finite number.
    Number,
    /// A share above 0, up to 1, as a fraction or a decimal.
    Fraction,
    /// A size, or a share of the free part of the shared buffer.
    Threshold,
    /// A size or a number of packets.
    QueueLimit,
    /// Delay until a pause takes effect: a time, bit times or quanta.
    Reaction,
    /// A list, table or name that the scenario reader interprets.
    Other,
}

impl Syntax {
    /// Any text.
    pub const TEXT: Syntax = Syntax::new(ValueType::Text, "text", "\"name\"");
    /// A number of bytes, with unit.
    pub const SIZE: Syntax = Syntax::new(ValueType::Size, "a size", "\"64KB\"");
    /// A frame length, with unit.
    pub const FRAME_SIZE: Syntax = Syntax::new(ValueType::Size, "a size", "\"64B\"");
    /// A time, with unit.
    pub const TIME: Syntax = Syntax::new(ValueType::Time, "a time", "\"10us\"");
    /// A rate, with unit.
    pub const RATE: Syntax = Syntax::new(ValueType::Rate, "a rate", "\"100Gbps\"");
    /// A share from 0 to 1.
    pub const SHARE: Syntax = Syntax::new(ValueType::Share, "a share", "0.5");
    /// A whole number.
    pub const COUNT: Syntax = Syntax::new(ValueType::Count, "a whole number", "4");
    /// True or false.
    pub const FLAG: Syntax = Syntax::new(ValueType::Flag, "true or false", "true");
    /// A number above 0.
    pub const POSITIVE: Syntax = Syntax::new(ValueType::Positive, "a number above 0", "1.5");
    /// A traffic class.
    pub const CLASS: Syntax = Syntax::new(ValueType::Class, "a class", "3");
    /// A finite number.
    pub const NUMBER: Syntax = Syntax::new(ValueType::Number, "a number", "50");
    /// A share above 0, up to 1.
    pub const FRACTION: Syntax = Syntax::new(ValueType::Fraction, "a part", "\"1/2\"");
    /// A size, or a share of the free buffer.
    pub const THRESHOLD: Syntax = Syntax::new(ValueType::Threshold, "a size, or a share of the free buffer", "\"1/8\"");
    /// A size or a number of packets.
    pub const QUEUE_LIMIT: Syntax = Syntax::new(ValueType::QueueLimit, "a size or a number of packets", "\"100KB\"");
    /// A time until a pause takes effect.
    pub const REACTION: Syntax = Syntax::new(ValueType::Reaction, "standard or a time", "\"500ns\"");
    /// A list of traffic classes.
    pub const CLASSES: Syntax = Syntax::new(ValueType::Classes, "a list of classes", "[3]");

    /// Two different traffic classes.
    pub const CLASS_PAIR: Syntax = Syntax::new(ValueType::ClassPair, "two classes", "[6, 7]");
    /// Frames per class and round, from 1 to 65,535.
    pub const WEIGHTS: Syntax = Syntax::new(
        ValueType::ByClass(&Syntax::count_in(1, 65_535), "1"),
        "eight numbers, or a table of class and number",
        "[1, 1, 1, 4, 1, 1, 1, 1]",
    );
    /// Bytes per class and round.
    pub const QUANTA: Syntax = Syntax::new(
        ValueType::ByClass(&Syntax::SIZE, "1518B"),
        "eight sizes, or a table of class and size",
        "{ 3 = \"6KB\" }",
    );
    /// Rates of some classes.
    pub const SLOPES: Syntax =
        Syntax::new(ValueType::ByClass(&Syntax::RATE, "none"), "rates by class", "{ 6 = \"300Mbps\" }");

    /// Name of a file, such as `example`.
    pub const fn file(example: &'static str) -> Syntax {
        Syntax::new(ValueType::File, "a file", example)
    }

    /// A value that the scenario reader interprets.
    pub const fn other(name: &'static str, example: &'static str) -> Syntax {
        Syntax::new(ValueType::Other, name, example)
    }

    /// A whole number from `least` to `most`.
    pub const fn count_in(least: u32, most: u32) -> Syntax {
        Syntax::new(ValueType::CountIn(least, most), Syntax::COUNT.name, Syntax::COUNT.example)
    }

    /// One of `words`; `name` lists them.
    pub const fn word(words: &'static [&'static str], name: &'static str, example: &'static str) -> Syntax {
        Syntax::new(ValueType::Word(words), name, example)
    }

    /// Creates the syntax of a type `value` with this name and example.
    pub const fn new(value: ValueType, name: &'static str, example: &'static str) -> Syntax {
        Syntax { value, name, example }
    }
}

/// One parameter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Key of the parameter in a scenario.
    pub key: &'static str,
    /// Syntax of the value; [`Syntax::TEXT`] if the mechanism parses the text itself.
    pub syntax: Syntax,
    /// Default value of the parameter.
    pub default: Default,
    /// Purpose and range of the parameter, in a sentence.
    pub meaning: &'static str,
    /// Literature source of the meaning and the default.
    pub source: &'static str,
}

/// Description of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// Name of the mechanism, in a scenario (`kind = "..."`) and of its documentation page.
    pub kind: &'static str,
    /// Family of the mechanism.
    pub family: Family,
    /// Short title.
    pub title: &'static str,
    /// Paper or standard that defines the mechanism.
    pub source: &'static str,
    /// All parameters, in the order of the documentation.
    pub parameters: &'static [Parameter],
}

impl Mechanism {
    /// Returns the description of parameter `key`, if it exists.
    pub const fn parameter(&self, key: &str) -> Option<&'static Parameter> {
        let parameters = self.parameters;
        let mut at = 0;
        while at < parameters.len() {
            if same(parameters[at].key, key) {
                return Some(&parameters[at]);
            }
            at += 1;
        }
        None
    }
}

impl Mechanism {
    /// Calls `set` with key and text of each default value. Used by mechanisms with some parameters in the struct of
    /// another mechanism.
    pub(crate) fn set_defaults(&self, mut set: impl FnMut(&str, &str) -> Result<(), crate::settings::ParameterError>) {
        for parameter in self.parameters {
            if let Default::Value(text) = parameter.default {
                set(parameter.key, text).expect("the declared default is valid");
            }
        }
    }
}

/// Returns the parameters of `base` except those with a key in `without`, then those of `own`. `changed` overrides
/// the default and the source of keys of `base`. A key that `base` does not have is an error at compile time.
pub(crate) const fn extended<const N: usize>(
    base: &[Parameter],
    without: &[&str],
    changed: &[(&str, &'static str, &'static str)],
    own: &[Parameter],
) -> [Parameter; N] {
    const NONE: Parameter =
        Parameter { key: "", syntax: Syntax::TEXT, default: Default::Required, meaning: "", source: "" };
    let mut all = [NONE; N];
    let (mut count, mut changes) = (0, 0);
    let mut from = 0;
    while from < base.len() {
        let mut parameter = base[from];
        let (mut is_left_out, mut at) = (false, 0);
        while at < without.len() {
            is_left_out |= same(parameter.key, without[at]);
            at += 1;
        }
        at = 0;
        while at < changed.len() {
            if same(parameter.key, changed[at].0) {
                (parameter.default, parameter.source) = (Default::Value(changed[at].1), changed[at].2);
                changes += 1;
            }
            at += 1;
        }
        if !is_left_out {
            all[count] = parameter;
            count += 1;
        }
        from += 1;
    }
    assert!(count + own.len() == N && changes == changed.len(), "a key that the transport does not have");
    let mut at = 0;
    while at < own.len() {
        all[count + at] = own[at];
        at += 1;
    }
    all
}

/// Returns whether two strings are equal, in a constant expression.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_found_by_its_whole_name() {
        const ONE: Parameter =
            Parameter { key: "limit", syntax: Syntax::TEXT, default: Default::Required, meaning: "", source: "" };
        const MECHANISM: Mechanism = Mechanism {
            kind: "",
            family: Family::Overload,
            title: "",
            source: "",
            parameters: &[ONE, Parameter { key: "limit_us", ..ONE }, Parameter { key: "limit_ns", ..ONE }],
        };
        for parameter in MECHANISM.parameters {
            assert_eq!(MECHANISM.parameter(parameter.key), Some(parameter));
        }
        for none in ["", "limi", "limit_", "limit_ms", "Limit"] {
            assert_eq!(MECHANISM.parameter(none), None, "{none}");
        }
    }

    #[test]
    fn parameters_of_a_transport_are_left_out_or_have_another_default() {
        const fn parameter(key: &'static str) -> Parameter {
            Parameter { key, syntax: Syntax::TEXT, default: Default::Value("1"), meaning: "", source: "theirs" }
        }
        const BASE: &[Parameter] = &[parameter("one"), parameter("two"), parameter("three")];
        let all = extended::<3>(BASE, &["two"], &[("three", "3", "ours")], &[parameter("own")]);
        let found = all.map(|it| (it.key, it.default.words(), it.source));
        assert_eq!(found, [("one", "1", "theirs"), ("three", "3", "ours"), ("own", "1", "theirs")]);
        let unknown = || extended::<3>(BASE, &[], &[("four", "3", "ours")], &[]);
        assert!(std::panic::catch_unwind(unknown).is_err());
    }
}
