//! `cargo xtask codegen`: generates the committed protocol code from the `.proto` file, without
//! `protoc`.

use std::path::Path;

use prost_types::field_descriptor_proto::{Label, Type};

const PROTO: &str = "turbowish-wire/proto/turbowish/v1/turbowish.proto";
const INCLUDE: &str = "turbowish-wire/proto";
const GENERATED: &str = "turbowish-wire/src/generated/turbowish.v1.rs";

/// Writes the generated file; returns whether it changed.
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
        .server_mod_attribute(".", "#[cfg(feature = \"client\")]")
        .build_transport(false)
        .codec_path("crate::codec::Codec")
        .emit_rerun_if_changed(false)
        .compile_fds(descriptors.clone())
        .map_err(|e| format!("{PROTO}: {e}"))?;
    let file = out.path().join("turbowish.v1.rs");
    let mut code = std::fs::read_to_string(&file)
        .map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    for message in descriptors.file.iter().flat_map(|file| &file.message_type) {
        let fields = message.field.iter().filter_map(|field| {
            let kind = kind(field.label(), field.r#type(), field.type_name())?;
            Some(format!(
                "                ({}, Field::{kind}),\n",
                field.number()
            ))
        });
        code += &shape(message.name(), &fields.collect::<String>());
        let fields = message.field.iter();
        let fields = fields.map(|field| format!("({:?}, {}), ", field.name(), field.number()));
        code += &numbers(
            message.name(),
            fields.collect::<String>().trim_end_matches(", "),
        );
    }
    Ok(code)
}

/// The kind of a field for `turbowish_wire::weight`, unless it is a number or a single text.
fn kind(label: Label, kind: Type, name: &str) -> Option<String> {
    let is_many = label == Label::Repeated;
    // `.turbowish.v1.Name`
    let message = name.rsplit('.').next().unwrap_or_default();
    match (kind, is_many) {
        (Type::Message, true) => Some(format!("Many(<{message} as Weighed>::shape)")),
        (Type::Message, false) => Some(format!("One(<{message} as Weighed>::shape)")),
        (Type::String | Type::Bytes, true) => Some("Texts".to_owned()),
        (_, true) => Some("Numbers".to_owned()),
        (_, false) => None,
    }
}

fn shape(message: &str, fields: &str) -> String {
    format!(
        "impl crate::weight::Weighed for {message} {{
    fn shape() -> &'static crate::weight::Shape {{
        #[allow(unused_imports)]
        use crate::weight::{{Field, Weighed}};
        static SHAPE: crate::weight::Shape = crate::weight::Shape {{
            bytes: ::core::mem::size_of::<{message}>(),
            fields: &[
{fields}            ],
        }};
        &SHAPE
    }}
}}
"
    )
}

/// For `turbowish_wire::encode`.
fn numbers(message: &str, fields: &str) -> String {
    format!(
        "impl {message} {{
    /// The numbers of the fields, by name.
    pub const FIELDS: &'static [(&'static str, u32)] = &[{fields}];
}}
"
    )
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
