//! Today's date where the reader is.

/// `2026-11-30`; the date in UTC where the system does not tell its time zone.
pub fn today() -> String {
    jiff::ZonedDateTime::now().date().to_string()
}
