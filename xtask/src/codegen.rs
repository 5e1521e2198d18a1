//! The committed protocol code is exactly what the `.proto` file gives, and needs no `protoc`.

use std::path::Path;

const PROTO: &str = "turbowish-wire/proto/turbowish/v1/turbowish.proto";
const INCLUDE: &str = "turbowish-wire/proto";
const GENERATED: &str = "turbowish-wire/src/generated/turbowish.v1.rs";

/// Writes the generated file; says whether it changed.
pub(crate) fn write(root: &Path) -> Result<String, String> {
    let code = generate(root)?;
    let file = root.join(GENERATED);
    if std::fs::read_to_string(&file).is_ok_and(|old| old == code) {
        return Ok(format!("{GENERATED} is up to date"));
    }
    std::fs::write(&file, code).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    Ok(format!("wrote {GENERATED}"))
}

/// The text that belongs into the generated file.
fn generate(root: &Path) -> Result<String, String> {
    let descriptors = protox::compile([root.join(PROTO)], [root.join(INCLUDE)])
        .map_err(|e| format!("{PROTO}: {e:?}"))?;
    let out = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    tonic_prost_build::configure()
        .out_dir(out.path())
        .client_mod_attribute(".", "#[cfg(feature = \"client\")]")
        .server_mod_attribute(".", "#[cfg(feature = \"server\")]")
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .compile_fds(descriptors)
        .map_err(|e| format!("{PROTO}: {e}"))?;
    let file = out.path().join("turbowish.v1.rs");
    std::fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::{GENERATED, generate};

    #[test]
    fn the_committed_code_is_what_the_proto_gives() {
        let root = crate::root();
        let committed = std::fs::read_to_string(root.join(GENERATED)).unwrap_or_default();
        let fresh = generate(&root).unwrap();
        assert!(
            committed == fresh,
            "{GENERATED} has drifted: run `cargo xtask codegen`"
        );
    }
}
