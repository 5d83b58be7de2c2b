//! The folders of `examples/running`, which the guide uses, equal the output of this generator. The command
//! `UPDATE_EXAMPLES=1 cargo test -p tidegate-running --test examples` writes them.

mod common;

use common::{Files, dual_tor, dynamic, leaf_spine};
use serde_json::{Value, json};
use std::path::Path;

/// Formats a file with one line per table row.
fn written(file: &Value) -> String {
    let tables: Vec<String> = file
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, table)| {
            let rows: Vec<String> =
                table.as_object().unwrap().iter().map(|(key, row)| format!("    {}: {row}", json!(key))).collect();
            format!("  {}: {{\n{}\n  }}", json!(name), rows.join(",\n"))
        })
        .collect();
    format!("{{\n{}\n}}\n", tables.join(",\n"))
}

/// Returns a dual-ToR configuration with six common mistakes of operators.
fn faulty() -> Files {
    let mut files = dual_tor(true);
    for (name, file) in &mut files {
        match name.as_str() {
            "tor-c.json" => {
                file["PORT_QOS_MAP"]["Ethernet112"]["pfc_enable"] = "3".into();
                file["PFC_WD"]["Ethernet0"]["restoration_time"] = "100".into();
            }
            "t1-1.json" => {
                file["SCHEDULER"]["scheduler.0"] = json!({ "type": "STRICT" });
                file["BUFFER_QUEUE"]["Ethernet8|3-4"]["profile"] = "egress_lossy_profile".into();
            }
            "tor-a.json" => {
                file["CABLE_LENGTH"]["AZURE"]["Ethernet116"] = "300m".into();
                file["PORT_QOS_MAP"]["Ethernet4"]["pfc_enabled"] = "3,4".into();
            }
            _ => {}
        }
    }
    files
}

#[test]
fn examples_are_what_the_generator_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/running");
    let folders = [
        ("leaf-spine", leaf_spine(3, 2, 1)),
        ("dual-tor", dual_tor(true)),
        ("no-remap", dual_tor(false)),
        ("faults", faulty()),
        ("dynamic", dynamic(leaf_spine(3, 2, 1))),
    ];
    for (folder, files) in folders {
        for (name, file) in files {
            let (path, text) = (root.join(folder).join(&name), written(&file));
            if std::env::var_os("UPDATE_EXAMPLES").is_some() {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, &text).unwrap();
            }
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(found == text, "{}: run this test with UPDATE_EXAMPLES=1", path.display());
        }
    }
}
