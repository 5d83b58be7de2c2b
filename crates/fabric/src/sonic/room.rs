//! Room of a priority group after it sent a PAUSE.

/// The value that bounds the bytes that a priority group can take after it sent a PAUSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadroomLimit {
    /// `xoff` of the profile.
    Xoff,
    /// `size` of the profile, if its pool has no shared headroom.
    Size,
    /// `xoff` of the pool.
    Shared,
}

/// Returns the bytes that a priority group can take after it sent a PAUSE, and the value that bounds them. `xoff` and
/// `size` are those of its profile, `shared` is the `xoff` of its pool, where 0 means no shared headroom (SONiC's
/// buffer manager, `buffermgrdyn.cpp`).
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
        // Without shared headroom the profile reserves its size.
        for none in [None, Some(0)] {
            assert_eq!(room_after_xoff(100, 20, none), (20, HeadroomLimit::Size));
        }
    }
}
