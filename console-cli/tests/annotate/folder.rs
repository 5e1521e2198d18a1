//! A folder of files, and the program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// The folder that the program was built from, and what it is called in texts.
pub(crate) fn clone() -> String {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    clone.canonicalize().unwrap().display().to_string()
}

pub(crate) const CLONE: &str = "/path/to/turbowish";

/// A folder of files.
pub(crate) struct Folder(TempDir);

/// How a run ended: exit code, stdout, stderr.
pub(crate) type Ended = (i32, String, String);

impl Folder {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let text = fs::read_to_string(self.path().join(path)).unwrap();
        text.replace(&clone(), CLONE)
    }

    /// Every file with its bytes.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if path.is_file() {
                    let name = path.strip_prefix(self.path()).unwrap();
                    files.insert(name.display().to_string(), fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    /// Runs `turbowish annotate` in a folder of it.
    pub(crate) fn run_in(&self, folder: &str, args: &[&str]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_turbowish"))
            .arg("annotate")
            .args(args)
            .current_dir(self.path().join(folder))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// The same in the folder itself, which is under no version control. The clone has the name
    /// that it has in texts.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        let (code, out, err) = self.run_in("", &[&["--allow-no-vcs"], args].concat());
        (code, out.replace(&clone(), CLONE), err)
    }

    /// The run ends well, and prints this.
    pub(crate) fn check(&self, args: &[&str], expected: &str) {
        let (code, out, err) = self.run(args);
        assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""));
    }

    /// Runs git in a folder of it, with no configuration but its own.
    pub(crate) fn git(&self, folder: &str, args: &[&str]) {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "protocol.file.allow=always",
        ]);
        command.args(args).current_dir(self.path().join(folder));
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
    }

    /// Makes a folder of it a repository in which all is committed.
    pub(crate) fn commit(&self, folder: &str) {
        self.git(folder, &["init", "--quiet"]);
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--message=all"]);
    }

    /// Its own path, as it is printed.
    pub(crate) fn name(&self) -> String {
        self.path().canonicalize().unwrap().display().to_string()
    }
}
