//! Form of references between rows: `name`, or `[TABLE|name]` of versions before 202106. A switch reads one of them.

use super::model::{Config, NO_PROFILE, bare, entries};
use serde_json::Value;

/// Fields with references: table, field, and the table that it refers to.
const REFERENCES: [(&str, &str, &str); 13] = [
    ("BUFFER_PROFILE", "pool", "BUFFER_POOL"),
    ("BUFFER_PG", "profile", "BUFFER_PROFILE"),
    ("BUFFER_QUEUE", "profile", "BUFFER_PROFILE"),
    ("QUEUE", "scheduler", "SCHEDULER"),
    ("QUEUE", "wred_profile", "WRED_PROFILE"),
    ("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    ("PORT_QOS_MAP", "dot1p_to_tc_map", "DOT1P_TO_TC_MAP"),
    ("PORT_QOS_MAP", "tc_to_dscp_map", "TC_TO_DSCP_MAP"),
    ("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    ("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    ("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
    ("PORT_QOS_MAP", "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    ("PORT_QOS_MAP", "scheduler", "SCHEDULER"),
];

/// Form of references of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceForm {
    /// `name`.
    Plain,
    /// `[TABLE|name]`.
    Brackets,
}

impl ReferenceForm {
    /// Returns the form of most references of a configuration; plain if there are none.
    pub fn of(config: &Config) -> ReferenceForm {
        let of_table = |(table, field, _): &(&'static str, &'static str, _)| {
            let field = *field;
            entries(config, table).filter_map(move |(_, fields)| fields.get(field)?.as_str())
        };
        let references = REFERENCES.iter().flat_map(of_table).filter(|text| *text != NO_PROFILE);
        let (brackets, plain): (Vec<&str>, Vec<&str>) = references.partition(|text| text.starts_with('['));
        if brackets.len() > plain.len() { ReferenceForm::Brackets } else { ReferenceForm::Plain }
    }

    /// Writes all references of a row in this form.
    pub fn write_row(self, table: &str, row: &mut Value) {
        for (_, field, target) in REFERENCES.iter().filter(|(of, ..)| *of == table) {
            let Some(Value::String(text)) = row.get_mut(*field) else { continue };
            let name = bare(text);
            if name != NO_PROFILE && !name.is_empty() {
                *text = match self {
                    ReferenceForm::Plain => name.to_owned(),
                    ReferenceForm::Brackets => format!("[{target}|{name}]"),
                };
            }
        }
    }

    /// Writes all references of a configuration in this form.
    pub fn write(self, config: &mut Config) {
        for (table, rows) in config.iter_mut() {
            let rows = rows.as_object_mut().into_iter().flatten();
            rows.for_each(|(_, row)| self.write_row(table, row));
        }
    }

    /// Writes the references in the values of a JSON patch in this form.
    pub fn write_steps(self, steps: &mut [Value]) {
        for step in steps {
            let table = step["path"].as_str().and_then(|path| path.split('/').nth(1)).unwrap_or_default().to_owned();
            if let Some(value) = step.get_mut("value") {
                self.write_row(&table, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_form_is_that_of_most_references() {
        let config = |first: &str, second: &str, third: &str| {
            let rows = json!({ "BUFFER_PG": {
                "Ethernet0|0": { "profile": first }, "Ethernet0|3": { "profile": second },
                "Ethernet0|4": { "profile": third }, "Ethernet4|3": { "profile": "NULL" },
            } });
            rows.as_object().cloned().unwrap()
        };
        let old = "[BUFFER_PROFILE|x]";
        assert_eq!(ReferenceForm::of(&config(old, old, "x")), ReferenceForm::Brackets);
        assert_eq!(ReferenceForm::of(&config(old, "x", "x")), ReferenceForm::Plain);
        assert_eq!(ReferenceForm::of(&Config::new()), ReferenceForm::Plain);
        for (form, expected) in [(ReferenceForm::Brackets, old), (ReferenceForm::Plain, "x")] {
            let mut written = config(old, "x", old);
            form.write(&mut written);
            assert_eq!(written, {
                let mut same = config(expected, expected, expected);
                same["BUFFER_PG"]["Ethernet4|3"]["profile"] = "NULL".into();
                same
            });
            let mut steps = [json!({ "op": "add", "path": "/BUFFER_PG/Ethernet0|3", "value": { "profile": "x" } })];
            form.write_steps(&mut steps);
            assert_eq!(steps[0]["value"]["profile"], expected);
        }
    }
}
