//! The acceptance table: each row a quantity, its goal, what was found, and whether that is enough.

use std::fmt::Write as _;
use vramlab_trace::DeviceFacts;

/// One row. `is_met` is nothing where the quantity is only recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub group: &'static str,
    pub what: String,
    pub goal: String,
    pub found: String,
    pub is_met: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    pub fn push(&mut self, group: &'static str, what: impl Into<String>, goal: &str, found: String, is_met: bool) {
        self.rows.push(Row { group, what: what.into(), goal: goal.to_owned(), found, is_met: Some(is_met) });
    }

    /// A quantity that has no goal.
    pub fn note(&mut self, group: &'static str, what: impl Into<String>, found: String) {
        self.rows.push(Row { group, what: what.into(), goal: String::new(), found, is_met: None });
    }

    pub fn n_missed(&self) -> usize {
        self.rows.iter().filter(|row| row.is_met == Some(false)).count()
    }

    /// The table in Markdown, with the machine and the command that remakes it.
    pub fn markdown(&self, facts: &DeviceFacts, date: &str, program: &str, command: &str) -> String {
        let mut out = String::from("# Measured on a GPU\n\n");
        let versions: Vec<String> = facts.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let _ =
            writeln!(out, "Device: {}, driver {}, {}. Date: {date}.", facts.name, facts.driver, versions.join(", "));
        let _ = writeln!(
            out,
            "Program: {program}. Remade by `{command}`. GB = 10⁹ bytes; copies count bytes read and written.\n"
        );
        let _ = writeln!(out, "| group | what | goal | found | |\n|---|---|---|---|---|");
        for row in &self.rows {
            let mark = match row.is_met {
                Some(true) => "met",
                Some(false) => "**missed**",
                None => "",
            };
            let _ = writeln!(out, "| {} | {} | {} | {} | {mark} |", row.group, row.what, row.goal, row.found);
        }
        let _ = writeln!(out, "\n{} rows, {} missed.", self.rows.len(), self.n_missed());
        out
    }
}
