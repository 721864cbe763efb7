//! Prints the JSON Schema of a chapter file.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(vramlab_lesson::schema::schema_text().as_bytes())
}
