//! The theme, resolved to egui values. Loaded from `assets/theme.toml`.

/// Tokens.
pub struct Tokens {}
