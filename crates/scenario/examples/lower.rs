//! Prints the effective values of a scenario after overrides:
//! `cargo run --example lower -- scenario.toml [key.path=value]...`
//!
//! ```text
//!   key                     value      origin
//!   switch.buffer           16MB       default: ...
//! ```

use scenario::{Origin, Scenario};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: lower scenario.toml [key.path=value]...");
        return ExitCode::from(2);
    };
    let overrides = arguments.filter_map(|pair| pair.split_once('=').map(|(key, value)| (key.into(), value.into())));
    let overrides: Vec<(String, String)> = overrides.collect();
    match Scenario::read(path.as_ref(), &overrides, None).and_then(|scenario| scenario.lower()) {
        Ok(lowered) => {
            for entry in &lowered.explain {
                let origin = match &entry.origin {
                    Origin::File { line } => format!("line {line}"),
                    Origin::Default { source } | Origin::Absent { source } => format!("default: {source}"),
                    Origin::Override => "command line".to_owned(),
                };
                println!("{:34} {:24} {origin}", entry.key, entry.value);
            }
            lowered.derived.iter().for_each(|(what, value)| println!("{what:34} {value}"));
            println!("{}\n{}\n{}", lowered.hash, lowered.fabric_text, lowered.traffic_text.join("\n"));
            lowered.warnings.iter().for_each(|warning| println!("warning: {warning}"));
            ExitCode::SUCCESS
        }
        Err(errors) => {
            eprintln!("{errors}");
            ExitCode::from(2)
        }
    }
}
