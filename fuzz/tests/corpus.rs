//! Every kept input runs through its target.

use std::fs;
use std::path::Path;

use turbowish_fuzz::TARGETS;

#[test]
fn kept_inputs_reveal_no_defect() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(name);
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        let mut count = 0;
        for entry in entries {
            let path = entry.expect("a folder that can be listed").path();
            let input = fs::read(&path).expect("a file that can be read");
            // The name is on the screen if the target panics.
            println!("{}", path.display());
            target(&input);
            count += 1;
        }
        assert!(count >= 10, "{name} has a corpus, and not {count} inputs");
    }
}
