//! Rules for a Jellyfish of so many switches: `scale SWITCHES [DEGREE] [HOSTS] [switches|servers] [SEED]`.
//!
//! Prints what was counted, and the seconds it took on this machine.

use fabric::LinkSpec;
use fabric::generate::jellyfish;
use std::time::Instant;
use tagger::paths::{PathSource, TreeRoots};
use tagger::{Request, generate};
use units::{Rate, Time};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u32| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (switches, degree, hosts) = (number(0, 2000)?, number(1, 32)?, number(2, 32)?);
    let roots = match arguments.get(3).map(String::as_str) {
        Some("servers") => TreeRoots::Servers,
        _ => TreeRoots::Switches,
    };
    let seed = arguments.get(4).map(|text| text.parse()).transpose()?;
    let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
    let fabric = jellyfish(switches, degree, hosts, 1, link, link)?;
    let start = Instant::now();
    let generated = generate(&fabric, &Request::new(PathSource::Trees { roots, seed }))?;
    let seconds = start.elapsed().as_secs_f64();
    let counts = generated.table.counts(&fabric);
    println!("{:#?}", generated.report);
    println!("most rules between switches {:?}", counts.iter().map(|count| count.between_switches).max());
    println!("most entries {:?}", counts.iter().map(|count| count.joint).max());
    println!("{switches} switches: {seconds:.2} s");
    Ok(())
}
