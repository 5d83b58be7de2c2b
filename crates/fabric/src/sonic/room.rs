//! Bytes that a priority group can accept after it sent a PAUSE frame.

/// Configuration value that limits the bytes that a priority group can accept after it sent a PAUSE frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadroomLimit {
    /// `xoff` of the buffer profile.
    Xoff,
    /// `size` of the buffer profile, if its pool has no shared headroom.
    Size,
    /// `xoff` of the buffer pool (shared headroom).
    Shared,
}

/// Returns the bytes that a priority group can accept after it sent a PAUSE frame, and the configuration value that
/// limits them. `xoff` and `size` are values of its buffer profile. `shared` is the `xoff` of its pool, where 0 means
/// no shared headroom (SONiC's buffer manager, `buffermgrdyn.cpp`).
pub fn room_after_xoff(xoff: u64, size: u64, shared: Option<u64>) -> (u64, HeadroomLimit) {
    match shared.filter(|shared| *shared > 0) {
        Some(shared) if shared < xoff => (shared, HeadroomLimit::Shared),
        None if size < xoff => (size, HeadroomLimit::Size),
        _ => (xoff, HeadroomLimit::Xoff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_of_xoff_and_its_reservation_bounds_the_room() {
        assert_eq!(room_after_xoff(100, 20, Some(500)), (100, HeadroomLimit::Xoff));
        assert_eq!(room_after_xoff(100, 20, Some(60)), (60, HeadroomLimit::Shared));
        assert_eq!(room_after_xoff(100, 120, None), (100, HeadroomLimit::Xoff));
        // Without shared headroom, the profile reserves only its size.
        for none in [None, Some(0)] {
            assert_eq!(room_after_xoff(100, 20, none), (20, HeadroomLimit::Size));
        }
    }
}
