//! Opcode at the start of every MAC control frame (IEEE 802.3 clause 31).

use crate::error::Error;
use crate::reader::Reader;

/// Parses the opcode. If it is not `opcode`, returns an error with the text `expected`.
pub(crate) fn read_opcode(reader: &mut Reader<'_>, opcode: u16, expected: &'static str) -> Result<(), Error> {
    let found = reader.u16("MAC control opcode")?;
    if found == opcode { Ok(()) } else { Err(reader.unexpected("MAC control opcode", 2, found, expected)) }
}
