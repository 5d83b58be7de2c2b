//! Telling the processor what will be needed soon.
//!
//! A window visits every active node once, and all their state together exceeds the second-level cache, so
//! a node finds most of its lines in the third level or in memory. Asking for them while its predecessor
//! runs hides that: measured on the dense case of `docs/performance.md`.

/// The size of a cache line on every machine this was measured on; elsewhere a wrong guess costs little.
const LINE_BYTES: usize = 64;

/// Asks for the cache lines of `value`, at most 32 of them. Has no effect but on speed.
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
    // SAFETY: a prefetch never faults, whatever the address, and every x86-64 has SSE.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
