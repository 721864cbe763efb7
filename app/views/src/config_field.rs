//! A field for a `config.json` of the reader's: a button that opens a text area, to paste into; a dropped file comes by
//! [`ConfigField::offer`]. The text is read by the model `kv_config`; what is wrong with it is said in the reader's language.

use egui::{Label, RichText, Role, TextEdit, Ui, WidgetInfo};
use vramlab_kit::{Button, Tokens, Type};
use vramlab_modelfile::kv::Cache;
use vramlab_modelfile::{Head, read};
use vramlab_units::{Lang, Localized, Map, Text, Value};

pub const BUTTON: Text = Text::new("贴一份 config.json", "Paste a config.json");
const AREA: Text = Text::new("config.json 的全文", "The text of a config.json");
const HINT: Text = Text::new(
    "贴上模型的 config.json，或把文件拖进窗口。什么都不会离开这台机器。",
    "Paste a model's config.json, or drop the file on the window. Nothing leaves this machine.",
);
/// As much as the model takes.
const MOST_TEXT: usize = 65_536;

/// What a configuration says; what it does not say is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigFacts {
    pub model_type: String,
    pub layers: Option<u64>,
    pub attention_layers: Option<u64>,
    pub q_heads: Option<u64>,
    pub kv_heads: Option<u64>,
    pub head_dim: Option<u64>,
    pub kv_rank: Option<u64>,
    pub rope_dim: Option<u64>,
    pub window: Option<u64>,
    pub window_layers: Option<u64>,
    pub context: Option<u64>,
    pub n_params: Option<u64>,
    pub active_params: Option<u64>,
    pub bytes_per_token: u64,
}

/// Reads a configuration.
pub fn facts(text: &str) -> Result<ConfigFacts, Localized> {
    let question = Map::from_iter([("config".to_owned(), Value::from(text))]);
    let got = vramlab_model::eval("kv_config", &question).map_err(|error| why(text, &error.to_string()))?;
    let number = |key: &str| got.get(key).and_then(Value::as_u64);
    Ok(ConfigFacts {
        model_type: got.get("model_type").and_then(Value::as_str).unwrap_or_default().to_owned(),
        layers: number("layers"),
        attention_layers: number("attention_layers"),
        q_heads: number("q_heads"),
        kv_heads: number("kv_heads"),
        head_dim: number("head_dim"),
        kv_rank: number("kv_rank"),
        rope_dim: number("rope_dim"),
        window: number("window"),
        window_layers: number("window_layers"),
        context: number("context"),
        n_params: number("n_params"),
        active_params: number("active_params"),
        bytes_per_token: number("bytes_per_token").unwrap_or_default(),
    })
}

/// The problem in both languages.
fn why(text: &str, otherwise: &str) -> Localized {
    let problem = match read(Head::whole(text.as_bytes()), &[]) {
        Err(problem) => Some(problem),
        Ok(model) => Cache::of(&model.arch).err(),
    };
    problem.map_or_else(|| Localized::both(otherwise.to_owned(), otherwise.to_owned()), |problem| problem.text)
}

/// See the module's docs.
#[derive(Clone, Debug, Default)]
pub struct ConfigField {
    is_open: bool,
    draft: String,
    wrong: Option<Localized>,
}

impl ConfigField {
    /// What was pasted or dropped last.
    pub fn text(&self) -> &str {
        &self.draft
    }

    /// The button that opens and closes the field.
    pub fn button_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        if Button::quiet(BUTTON.get(lang)).selected(self.is_open).show(ui, tokens).clicked() {
            self.is_open = !self.is_open;
        }
    }

    /// The field, if it is open; the facts when the text has just changed to one that can be read.
    pub fn area_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) -> Option<ConfigFacts> {
        if !self.is_open {
            return None;
        }
        let edit = TextEdit::multiline(&mut self.draft)
            .font(tokens.font(Type::Mono))
            .desired_rows(4)
            .desired_width(f32::INFINITY)
            .char_limit(MOST_TEXT);
        let area = egui::ScrollArea::vertical()
            .min_scrolled_height(tokens.px(160.0))
            .max_height(tokens.px(160.0))
            .id_salt("config");
        let response = area.show(ui, |ui| ui.add(edit)).inner;
        response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, AREA.get(lang)));
        let found = response.changed().then(|| self.take()).flatten();
        let (said, color) = match &self.wrong {
            Some(wrong) => (wrong.get(lang), tokens.bad),
            None => (HINT.get(lang), tokens.muted),
        };
        ui.add(Label::new(RichText::new(said).font(tokens.font(Type::Small)).color(color)).wrap());
        found
    }

    /// A dropped file: kept in the field, so that it can be looked at and changed.
    pub fn offer(&mut self, text: &str) -> Result<ConfigFacts, Localized> {
        text.clone_into(&mut self.draft);
        let read = facts(text);
        self.wrong = read.as_ref().err().cloned();
        self.is_open = self.wrong.is_some();
        read
    }

    fn take(&mut self) -> Option<ConfigFacts> {
        if self.draft.trim().is_empty() {
            self.wrong = None;
            return None;
        }
        match facts(&self.draft) {
            Ok(facts) => {
                self.wrong = None;
                Some(facts)
            }
            Err(wrong) => {
                self.wrong = Some(wrong);
                None
            }
        }
    }
}
