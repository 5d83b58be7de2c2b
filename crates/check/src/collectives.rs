//! Checks that no collective operation is faster than its links allow. The lower bound is a sum of bytes over a link
//! rate, computed from plan and routes only.

use crate::verdict::Verdict;
use units::Time;

/// A completed iteration of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Duration, from the start of the first flow to the arrival of the last byte.
    pub took: Time,
    /// Lower bound of the duration: the maximum over all ports of the bytes that the iteration sends through the
    /// port, divided by the port's rate.
    pub least: Time,
}

/// Returns the verdict "collectives": no iteration is faster than its lower bound.
pub fn verdict(iterations: impl IntoIterator<Item = Iteration>) -> Verdict {
    const NAME: &str = "collectives";
    let (mut count, mut faster) = (0u64, 0u64);
    // The iteration with the lowest ratio of duration to lower bound.
    let mut tightest: Option<Iteration> = None;
    for one in iterations {
        count += 1;
        faster += u64::from(one.took < one.least);
        let ratio = |it: &Iteration| it.took.as_ps() as f64 / it.least.as_ps().max(1) as f64;
        if tightest.as_ref().is_none_or(|known| ratio(&one) < ratio(known)) {
            tightest = Some(one);
        }
    }
    let Some(Iteration { took, least }) = tightest else {
        return Verdict::not_applicable(NAME, "no iteration of a collective operation is complete");
    };
    let detail = if faster == 0 {
        let iterations = if count == 1 { "1 iteration".to_owned() } else { format!("{count} iterations, each") };
        format!("{iterations} at least as long as its links require; the closest {took}, lower bound {least}")
    } else {
        format!("{faster} of {count} iterations faster than their links allow; the worst {took}, lower bound {least}")
    };
    Verdict::new(NAME, faster == 0, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_below_its_bound_fails() {
        let of = |took: u64| Iteration { took: Time::from_us(took), least: Time::from_us(10) };
        assert!(!verdict([]).applicable);
        assert!(verdict([of(10), of(12)]).pass);
        let failed = verdict([of(12), of(9), of(11)]);
        assert!(!failed.pass && failed.detail.starts_with("1 of 3 iterations"), "{failed}");
        assert!(failed.detail.contains("9us, lower bound 10us"), "{failed}");
    }
}
