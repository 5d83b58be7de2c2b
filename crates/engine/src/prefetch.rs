//! Prefetch instructions.
//!
//! A window visits every active node once. The state of all nodes exceeds the L2 cache, so most lines of a node are
//! in the L3 cache or in memory. A prefetch during the run of the preceding node hides this latency; measured on the
//! dense case of `docs/performance.md`.

/// Bytes of a cache line on every measured machine. A wrong value on other machines costs little.
const LINE_BYTES: usize = 64;

/// Prefetches the first 32 cache lines of `value` at most. Affects only speed.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    for line in 0..size_of_val(value).div_ceil(LINE_BYTES).min(32) {
        prefetch_line(start.wrapping_add(line * LINE_BYTES));
    }
}

#[inline]
pub(crate) fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch faults at no address, and every x86-64 has SSE.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
