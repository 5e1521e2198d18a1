//! Recordings: any bytes are refused or opened, and a state that is read can be recorded again.

use std::io::Cursor;

use turbowish_recording::{Compression, Reader, RecordingError, Writer};

/// States of one input that are read: a short input may hold thousands.
const READ: usize = 64;

/// Opens the input as a file, and as the chunks that a process sends.
pub fn recording(input: &[u8]) {
    for opened in [
        Reader::open(Cursor::new(input)),
        Reader::of_chunks(Cursor::new(input)),
    ] {
        match opened {
            Ok(reader) => read(reader, input.len() as u64),
            Err(RecordingError::Io(why)) => panic!("memory can be read: {why}"),
            Err(other) => drop(other.to_string()),
        }
    }
}

fn read(mut reader: Reader<Cursor<&[u8]>>, len: u64) {
    let damage = reader.damage();
    assert!(damage.bytes <= len && damage.states <= damage.chunks);
    for nth in 0..reader.states().len().min(READ) {
        let entry = reader.states()[nth];
        assert!(
            reader
                .at(entry.at_unix_ns)
                .is_some_and(|found| found >= nth)
        );
        let Ok(state) = reader.snapshot(nth) else {
            continue;
        };
        let mut writer = Writer::begin(Vec::new(), Compression::Deflate).expect("memory");
        match writer.state(&state, entry.lost) {
            Ok(()) => {}
            Err(RecordingError::TooLarge) => continue,
            Err(other) => panic!("memory can be written: {other}"),
        }
        let again = writer.end().expect("memory");
        let mut again = Reader::open(Cursor::new(again)).expect("a file of ours");
        assert_eq!(again.snapshot(0).expect("a state of ours"), state);
        assert_eq!(again.states()[0].lost, entry.lost);
        assert!(again.damage().is_none());
    }
    for nth in 0..reader.marks().len().min(READ) {
        let _ = reader.mark(nth);
    }
}
