//! One model in every format: the bytes of its file, sorted, and what each block is made of.
//!
//! `question.rs` is the model and the rows, `facts.rs` what a block holds, `paint.rs` the bars, `words.rs` the sentences. All
//! sizes are the model `weights`'.

mod facts;
mod paint;
mod question;
mod words;

use crate::config_field::ConfigField;
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{PointerButton, Sense, Ui};
use paint::{Geometry, Scene};
use question::{Answer, PRESETS, Question, Sort};
use vramlab_kit::{Mark, Role, Tokens, legend};
use vramlab_units::show::{bytes_binary, grouped, with_unit};
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, Lang, Map, Text};

const MODEL: Text = Text::new("模型", "Model");
const ORDER: Text = Text::new("排列", "Order");

/// See the module's docs.
pub struct FormatTable {
    question: Question,
    answer: Answer,
    row: usize,
    config: ConfigField,
}

impl FormatTable {
    fn new(question: Question) -> Result<Self, FieldError> {
        let answer = Answer::new(&question)?;
        let row = answer.rows.iter().position(|row| row.format.id == "q4_k").unwrap_or(0);
        Ok(Self { question, answer, row, config: ConfigField::default() })
    }

    fn set(&mut self, next: Question) -> Result<(), FieldError> {
        if next != self.question {
            let shown = self.answer.rows.get(self.row).map(|row| row.format.id);
            let answer = Answer::new(&next)?;
            self.row = answer.rows.iter().position(|row| Some(row.format.id) == shown).unwrap_or(0);
            (self.question, self.answer) = (next, answer);
        }
        Ok(())
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question.clone();
        controls::row(ui, tokens, |flow| {
            let models: Vec<(&str, String)> =
                PRESETS.iter().map(|preset| (preset.id, preset.label.to_owned())).collect();
            // None of them once the file is the reader's.
            let before = if next.config.is_empty() { next.preset.id } else { "" };
            let mut id = before;
            controls::choice(flow, tokens, MODEL.get(lang), &mut id, &models);
            if let Some(preset) = PRESETS.iter().find(|preset| preset.id == id && id != before) {
                next = Question { preset, config: String::new(), ..next.clone() };
            }
            let sorts = Sort::ALL.map(|sort| (sort, sort.label().get(lang).to_owned()));
            controls::choice(flow, tokens, ORDER.get(lang), &mut next.sort, &sorts);
            flow.item(|ui| self.config.button_ui(ui, tokens, lang));
        });
        // A preset that cannot be asked for does not exist.
        let _ = self.set(next);
        if self.config.area_ui(ui, tokens, lang).is_some() {
            let text = self.config.text().to_owned();
            let _ = self.own(&text);
        }
    }

    /// The file of a configuration in the place of the preset's.
    fn own(&mut self, text: &str) -> Result<(), FieldError> {
        self.set(Question { config: question::compact(text), ..self.question.clone() })
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let n = self.answer.rows.len();
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, n);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.row, n);
        let over = response.hover_pos().and_then(|at| geometry.row_at(at));
        if let (true, Some(row)) = (response.clicked_by(PointerButton::Primary), over) {
            self.row = row;
        }
        let looked = over.unwrap_or(self.row);
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            answer: &self.answer,
            looked,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        let said = self.answer.rows.get(looked).map(|row| words::row(row, lang)).unwrap_or_default();
        figure::speak(&response, &self.finding(lang), Some(said.as_str()).filter(|_| response.has_focus()));
        let marks = [
            (Mark::Square(tokens.role(Role::Parameters)), words::LINEAR),
            (Mark::Square(tokens.tint(tokens.role(Role::Parameters), 0.4)), words::REST),
        ];
        legend(ui, tokens, &marks.map(|(mark, text)| (mark, text.get(lang))));
        figure::readout_ui(ui, tokens, &said);
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let Some(row) = self.answer.rows.get(self.row) else { return Vec::new() };
        let exact = |bytes: f64| format!("{} B · {}", grouped(bytes), bytes_binary(Bytes(bytes.max(0.0) as u64)));
        vec![
            KeyNumber::new(Text::new("选中的文件", "this file"), words::gb(row.bytes)).exact(exact(row.bytes)),
            KeyNumber::new(Text::new("平均每个参数", "a parameter"), with_unit(row.bits, "bit"))
                .exact(format!("{:.6} bit", row.bits)),
            KeyNumber::new(Text::new("bf16 的几成", "of bf16"), with_unit(row.bits / 16.0, "%")),
            KeyNumber::new(Text::new("参数量", "parameters"), words::count(self.answer.n_params))
                .exact(grouped(self.answer.n_params)),
        ]
    }
}

impl View for FormatTable {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.answer, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["format", "bytes (B)", "linear layers (B)", "bits a parameter"].map(str::to_owned).to_vec();
        let rows = self.answer.rows.iter().map(|row| {
            vec![row.format.name.to_owned(), row.bytes.to_string(), row.linear_bytes.to_string(), row.bits.to_string()]
        });
        DataTable { header, rows: rows.collect() }
    }

    fn offer(&mut self, text: &str) -> Option<Result<(), vramlab_units::Localized>> {
        let read = self.config.offer(text);
        Some(read.and_then(|_| self.own(text).map_err(|error| words::refused(&error))))
    }
}

impl Visualizer for FormatTable {
    const ID: &'static str = "format_table";
    const TITLE: Text = Text::new("一个模型，每种格式多大", "One model in every format");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Self::new(Question::from_args(args)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(given: &[(&str, &str)]) -> FormatTable {
        let given: Map = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        FormatTable::open(&Args::check(&FormatTable::fields(), &given).unwrap()).unwrap()
    }

    fn bytes(view: &FormatTable, id: &str) -> f64 {
        view.answer.rows.iter().find(|row| row.format.id == id).unwrap().bytes
    }

    /// Llama 3 8B: 16,060,522,496 B is the `total_size` of its safetensors index; AWQ's file on its page is 5.73 GB.
    #[test]
    fn sizes_that_are_published() {
        let view = open(&[("model", "llama3_8b")]);
        assert_eq!(bytes(&view, "bf16"), 16_060_522_496.0);
        assert_eq!(format!("{:.2}", bytes(&view, "awq4_g128") / 1e9), "5.73");
        let sorted: Vec<f64> = view.answer.rows.iter().map(|row| row.bytes).collect();
        assert!(sorted.is_sorted_by(|a, b| a >= b));
        assert_eq!(view.answer.rows.len(), facts::FORMATS.len());
        assert_eq!(bytes(&open(&[("model", "llama2_7b")]), "bf16"), 2.0 * 6_738_415_616.0);
    }

    #[test]
    fn a_file_of_the_readers_own() {
        let mut view = open(&[]);
        let config = r#"{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4,
            "intermediate_size": 512, "vocab_size": 1000, "tie_word_embeddings": true}"#;
        assert_eq!(view.offer(config), Some(Ok(())));
        assert!(view.answer.n_params < 2e6, "{}", view.answer.n_params);
        let again = Args::check(&FormatTable::fields(), &view.params()).unwrap();
        assert_eq!(FormatTable::open(&again).unwrap().answer, view.answer);
        assert!(view.offer("{\"model_type\": \"llama\"}").unwrap().is_err());
    }
}
