//! No collective operation is faster than the links that it must use: a sum of bytes over a rate, from the plan and the
//! routes alone.

use crate::verdict::Verdict;
use units::Time;

/// An iteration that is through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// From the start of its first flow to the arrival of its last byte.
    pub took: Time,
    /// What it needs at least: the bytes that its connections bring to any one port, over the rate of that port.
    pub least: Time,
}

/// Whether each took as long as it must.
pub fn verdict(iterations: impl IntoIterator<Item = Iteration>) -> Verdict {
    const NAME: &str = "collectives";
    let (mut count, mut faster) = (0u64, 0u64);
    // The one that is nearest to its bound, or the furthest below.
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
        return Verdict::not_applicable(NAME, "no iteration of a collective operation is through");
    };
    let detail = if faster == 0 {
        format!("{count} iterations, each at least as long as its links need; the tightest {took}, at least {least}")
    } else {
        format!("{faster} of {count} iterations faster than their links allow; the worst {took}, at least {least}")
    };
    Verdict::new(NAME, faster == 0, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_below_its_bound_fails() {
        let of = |took: u64| Iteration { took: Time::from_us(took), least: Time::from_us(10) };
        assert!(!verdict([]).judged);
        assert!(verdict([of(10), of(12)]).pass);
        let failed = verdict([of(12), of(9), of(11)]);
        assert!(!failed.pass && failed.detail.starts_with("1 of 3 iterations"), "{failed}");
        assert!(failed.detail.contains("9us, at least 10us"), "{failed}");
    }
}
