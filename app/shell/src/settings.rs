//! The reader's settings, saved as one small JSON document. Unknown fields are kept out, absent ones take defaults, so
//! that settings of another version never stop the program.

use serde::{Deserialize, Serialize};
use vramlab_units::Lang;

pub const SCHEMA: u32 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    #[default]
    System,
    Light,
    Dark,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub schema: u32,
    pub lang: Option<Lang>,
    pub theme: ThemeChoice,
    /// Scale of all text; the presenter mode multiplies it.
    pub text_scale: f32,
    /// `None` follows the system.
    pub reduced_motion: Option<bool>,
    /// Plain wheel zooms a plot; otherwise it scrolls the page.
    pub wheel_zooms_plots: bool,
    pub is_notebook_open: bool,
    /// Routes that were open when the program ended.
    pub last_route: Option<String>,
    /// Where the web page is hosted, for links from the desktop; empty if nowhere.
    pub web_address: String,
    /// The route by which the curriculum is grouped; by layer if none.
    pub rail_route: Option<String>,
    /// Files opened lately, newest first.
    #[serde(deserialize_with = "crate::intake::read_recent")]
    pub recent: Vec<crate::intake::Recent>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            lang: None,
            theme: ThemeChoice::System,
            text_scale: 1.0,
            reduced_motion: None,
            wheel_zooms_plots: false,
            is_notebook_open: true,
            last_route: None,
            web_address: String::new(),
            rail_route: None,
            recent: Vec::new(),
        }
    }
}

impl Settings {
    /// Smallest and largest text scale that the settings offer.
    pub const TEXT_SCALE: std::ops::RangeInclusive<f32> = 0.8..=2.0;

    pub fn from_json(text: &str) -> Result<Self, String> {
        let mut this: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if !this.text_scale.is_finite() || !Self::TEXT_SCALE.contains(&this.text_scale) {
            this.text_scale = 1.0;
        }
        Ok(this)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("settings are plain data")
    }
}
