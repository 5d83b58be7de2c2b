//! `pfc.txt` in the format of the HPCC fork of ns-3: one received XOFF or XON per line.

use std::path::Path;

use units::Time;

use crate::error::RecordError;
use crate::file::AtomicFile;

/// Kind of the node that receives the pause frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Written as 0.
    Host,
    /// Written as 1.
    Switch,
}

/// Streams a `pfc.txt`: `<time ns> <node> <0 host | 1 switch> <port> <1 pause | 0 resume>`.
pub struct PfcWriter {
    file: AtomicFile,
}

impl PfcWriter {
    /// Starts the file at `path`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        Ok(PfcWriter { file: AtomicFile::create(path)? })
    }

    /// Appends an XOFF (`paused`) or an XON that `node` received at `port`. The format numbers ports from 1, rounds
    /// times down to ns, and has no field for the priority.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, time: Time, node: u32, kind: NodeKind, port: u32, paused: bool) -> Result<(), RecordError> {
        let time_ns = time.as_ps() / 1000;
        let kind = match kind {
            NodeKind::Host => 0,
            NodeKind::Switch => 1,
        };
        self.file.print(format_args!("{time_ns} {node} {kind} {port} {}\n", u8::from(paused)))
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.file.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    #[test]
    fn known_lines() {
        let scratch = Scratch::new("pfc");
        let path = scratch.0.join("pfc.txt");
        let mut writer = PfcWriter::create(&path).unwrap();
        writer.push(Time::from_ps(2_000_000_001_999), 320, NodeKind::Switch, 1, true).unwrap();
        writer.push(Time::from_us(2_000_010), 5, NodeKind::Host, 1, false).unwrap();
        writer.close().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "2000000001 320 1 1 1\n2000010000 5 0 1 0\n");
    }
}
