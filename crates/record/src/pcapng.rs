//! Captures in pcapng format (draft-ietf-opsawg-pcapng), streamed, with timestamps in nanoseconds.

use crate::error::RecordError;
use crate::file::AtomicFile;
use std::io::Write;
use std::path::Path;
use units::Time;

/// A Lua dissector for the parts of captured frames that Wireshark does not decode.
pub const DISSECTOR: &str = include_str!("../assets/tidegate.lua");

/// Name of the capture file in a result folder.
pub const CAPTURE_FILE: &str = "capture.pcapng";

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINKTYPE_ETHERNET: u16 = 1;
/// Codes of block options.
const APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_SPEED: u16 = 8;
const IF_RESOLUTION: u16 = 9;
const IF_FCS_LENGTH: u16 = 13;
const PACKET_FLAGS: u16 = 2;
/// Timestamp resolution: 10^-9 s.
const NANOSECONDS: u8 = 9;
const FCS_BYTES: u8 = 4;

/// A captured port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name shown by readers: "S1:3 to H2".
    pub name: String,
    /// Rate of its link in bit/s.
    pub rate_bps: u64,
}

/// Writes a capture atomically: the file is renamed to its path when it is closed.
pub struct CaptureWriter {
    file: AtomicFile,
    block: Vec<u8>,
}

impl CaptureWriter {
    /// Starts a capture at `path`. Interface IDs are the indices in `interfaces`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn create(path: &Path, interfaces: &[Interface]) -> Result<Self, RecordError> {
        let mut writer = CaptureWriter { file: AtomicFile::create(path)?, block: Vec::new() };
        writer.start();
        writer.u32(BYTE_ORDER);
        // Version 1.0, section length unknown.
        writer.block.extend_from_slice(&[1, 0, 0, 0]);
        writer.block.extend_from_slice(&u64::MAX.to_le_bytes());
        writer.option(APPLICATION, b"tidegate");
        writer.end(SECTION_HEADER)?;
        for interface in interfaces {
            writer.start();
            writer.u32(LINKTYPE_ETHERNET.into());
            writer.u32(0); // no limit to the length of frames
            writer.option(IF_NAME, interface.name.as_bytes());
            writer.option(IF_SPEED, &interface.rate_bps.to_le_bytes());
            writer.option(IF_RESOLUTION, &[NANOSECONDS]);
            writer.option(IF_FCS_LENGTH, &[FCS_BYTES]);
            writer.end(INTERFACE_DESCRIPTION)?;
        }
        Ok(writer)
    }

    /// Appends a frame, from destination address to FCS, that was sent or received at `interface`; `at` is truncated to
    /// nanoseconds.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push(&mut self, interface: usize, at: Time, outbound: bool, frame: &[u8]) -> Result<(), RecordError> {
        self.push_cut((interface, at), outbound, frame, frame.len())
    }

    /// Like [`CaptureWriter::push`], for a trimmed frame whose original length is `whole_bytes`: readers then show a
    /// truncated capture instead of a malformed frame.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn push_cut(
        &mut self,
        (interface, at): (usize, Time),
        outbound: bool,
        frame: &[u8],
        whole_bytes: usize,
    ) -> Result<(), RecordError> {
        let stamp_ns = at.as_ps() / 1000;
        self.start();
        self.u32(interface as u32);
        self.u32((stamp_ns >> 32) as u32);
        self.u32(stamp_ns as u32);
        self.u32(frame.len() as u32);
        self.u32(whole_bytes as u32);
        self.block.extend_from_slice(frame);
        self.pad();
        let direction: u32 = if outbound { 2 } else { 1 };
        let flags = direction | u32::from(FCS_BYTES) << 5;
        self.option(PACKET_FLAGS, &flags.to_le_bytes());
        self.end(ENHANCED_PACKET)
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn close(self) -> Result<(), RecordError> {
        self.file.commit()
    }

    fn start(&mut self) {
        self.block.clear();
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
    }

    /// Completes the block: writes its type and both length fields.
    fn end(&mut self, kind: u32) -> Result<(), RecordError> {
        self.option(0, &[]);
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        let parts: [&[u8]; 4] = [&kind.to_le_bytes(), &length, &self.block, &length];
        for part in parts {
            self.file.write_all(part).map_err(RecordError::unwritable("write", self.file.target()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;

    /// Returns type and content of each block of a file. Panics if the two length fields of a block differ, or if the
    /// file does not end with a block.
    fn blocks(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (mut at, mut found) = (0, Vec::new());
        while at < bytes.len() {
            let length = word(at + 4) as usize;
            assert!(length.is_multiple_of(4) && word(at + length - 4) as usize == length);
            found.push((word(at), bytes[at + 8..at + length - 4].to_vec()));
            at += length;
        }
        assert_eq!(at, bytes.len());
        found
    }

    #[test]
    fn blocks_are_those_of_the_draft() {
        let scratch = Scratch::new("pcapng");
        let path = scratch.0.join(CAPTURE_FILE);
        let interface = |name: &str| Interface { name: name.to_owned(), rate_bps: 10_000_000_000 };
        let mut writer = CaptureWriter::create(&path, &[interface("S1:0 to H1"), interface("H2:0")]).unwrap();
        let at = Time::from_ps((5u64 << 32) * 1000 + 7_999);
        writer.push(1, at, true, &[0xab; 65]).unwrap();
        writer.close().unwrap();
        let blocks = blocks(&std::fs::read(&path).unwrap());
        let kinds: Vec<u32> = blocks.iter().map(|block| block.0).collect();
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE_DESCRIPTION, INTERFACE_DESCRIPTION, ENHANCED_PACKET]);
        let packet = &blocks[3].1;
        let words: Vec<u32> = packet[..20].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [1, 5, 7, 65, 65], "interface, time in ns, captured and original length");
        assert_eq!(packet[20..85], [0xab; 65]);
        assert_eq!(packet[85..], [0, 0, 0, 2, 0, 4, 0, 0x82, 0, 0, 0, 0, 0, 0, 0], "padding, flags, the end");
        let described = &blocks[1].1;
        assert_eq!(described[..12], [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 10, 0]);
        assert_eq!(&described[12..22], b"S1:0 to H1");
    }
}
