//! Words of a mapping are in the file, and a child of `fork` has its own.
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use turbowish_unsafe::{fork, mapping};

/// Pages of any size begin there.
const OFFSET: u64 = 1 << 16;

/// A new file, which is removed when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> (Self, File) {
        let name = format!("turbowish-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(&path);
        (Self(path), file.expect("a new file"))
    }

    /// The words of the file, from a byte on.
    fn words(&self, from: u64) -> Vec<u64> {
        let bytes = fs::read(&self.0).expect("the file");
        let from = usize::try_from(from).expect("a small file");
        let words = bytes[from..].chunks_exact(8);
        words
            .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
            .collect()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn words_are_in_the_file_and_a_child_has_its_own() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    fork::mark_children(&WORD, 5).expect("there is memory");
    let (path, file) = Temporary::new("words");
    let memory = mapping::words::<5>(&file, OFFSET, 1_000).expect("room");
    let other = mapping::words::<1>(&file, 4 * OFFSET, 3).expect("room");
    assert_eq!(path.words(OFFSET).len() as u64, 3 * OFFSET / 8 + 3);
    for (nth, word) in memory.iter().flatten().enumerate() {
        assert_eq!(word.swap(nth as u64, Relaxed), 0);
    }
    let stored: Vec<u64> = (0..5_000).collect();
    assert_eq!(path.words(OFFSET)[..5_000], stored);

    // SAFETY: the child stores words and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_new = memory
            .iter()
            .flatten()
            .chain(other.iter().flatten())
            .all(|word| word.swap(99, Relaxed) == 0);
        let code = i32::from(!is_new || WORD.load(Relaxed) != 5);
        // SAFETY: it may be called at any time.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: it is our child, and nobody else waits for it.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(path.words(OFFSET)[..5_000], stored);
    assert_eq!(path.words(4 * OFFSET), [0; 3]);
    // What the parent stores from now on is in the file, too.
    memory[999][4].store(7, Relaxed);
    other[2][0].store(8, Relaxed);
    assert_eq!(path.words(OFFSET)[4_999], 7);
    assert_eq!(path.words(4 * OFFSET), [0, 0, 8]);
    what_cannot_be_mapped_is_an_error();
}

/// After the other test: a process has a limited number of mappings.
fn what_cannot_be_mapped_is_an_error() {
    let (path, file) = Temporary::new("errors");
    for (offset, count) in [(0, 0), (0, usize::MAX), (u64::MAX, 1), (1, 1), (0, 1 << 48)] {
        mapping::words::<5>(&file, offset, count).expect_err("it cannot be");
    }
    let readable = File::open(&path.0).expect("the file");
    mapping::words::<5>(&readable, 0, 1).expect_err("it may not be written");
    assert!(fs::metadata(&path.0).expect("the file").len() <= OFFSET);
    // It has no room.
    if let Ok(full) = OpenOptions::new().read(true).write(true).open("/dev/full") {
        mapping::words::<5>(&full, 0, 1).expect_err("it is no file");
    }
    let made = (0..=mapping::MOST as u64)
        .map(|nth| mapping::words::<1>(&file, nth * OFFSET, 1))
        .filter(Result::is_ok);
    assert!(made.count() <= mapping::MOST);
    mapping::words::<1>(&file, 0, 1).expect_err("there are too many");
}
