//! An equation with live values: the formula in symbols, the same with the reader's numbers, and the result.

use crate::action::Action;
use crate::app::App;
use crate::page::prose::{self, markdown_ui};
use crate::widgets;
use egui::{Grid, RichText, Ui};
use std::collections::BTreeMap;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::{Chapter, Equation, Registry, Step, Symbol, SymbolSource, answer};
use vramlab_units::{Formula, Lang, Map, Text, show};

const FORMULA: Text = Text::new("公式", "Formula");

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, equation: &Equation, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let title = if step.title.is_empty() { FORMULA.get(lang) } else { step.title.get(lang) };
    let card = widgets::card(ui, &tokens, |ui| {
        widgets::card_header(ui, &tokens, title, "", |ui| {
            widgets::chip(ui, &tokens, &widgets::Evidence::Model, lang);
        });
        let mut sliders = std::mem::take(&mut app.steps.get(&chapter.id, &step.id).sliders);
        sliders_ui(ui, &tokens, lang, equation, &mut sliders);
        formula_ui(ui, &tokens, equation, values(equation, &sliders, &app.library));
        app.steps.get(&chapter.id, &step.id).sliders = sliders;
        symbols_ui(ui, &tokens, lang, step, equation);
        markdown_ui(app, ui, &chapter.id, &equation.text, actions);
    });
    prose::seen(app, ui, card.response.rect, chapter, step, actions);
}

fn sliders_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, equation: &Equation, sliders: &mut BTreeMap<String, f64>) {
    for symbol in &equation.symbols {
        if let SymbolSource::Slider { min, max, step, start } = symbol.source {
            let value = sliders.entry(symbol.name.clone()).or_insert(start);
            let shown = symbol.shown.as_deref().unwrap_or(&symbol.name);
            // A label does not wrap; on a phone the list below says what the name means.
            let is_narrow = ui.available_width() < tokens.px(420.0);
            let label = if is_narrow { shown.to_owned() } else { format!("{} {shown}", symbol.means.get(lang)) };
            widgets::slider(ui, tokens, &label, value, min..=max, step, &symbol.unit);
        }
    }
}

/// The equation with numbers in it, or why it has none.
fn values(
    equation: &Equation,
    sliders: &BTreeMap<String, f64>,
    registry: &dyn Registry,
) -> Result<(BTreeMap<String, f64>, f64), String> {
    let eval = |id: &str, set: &Map| registry.eval(id, set);
    let evaluated = answer::evaluate(equation, sliders, &eval).map_err(|error| error.to_string())?;
    Ok((evaluated.symbols.into_iter().collect(), evaluated.result))
}

fn formula_ui(ui: &mut Ui, tokens: &Tokens, equation: &Equation, values: Result<(BTreeMap<String, f64>, f64), String>) {
    ui.add_space(tokens.space.xs);
    let formula = match Formula::parse(&equation.value) {
        Ok(formula) => formula,
        Err(error) => {
            ui.label(RichText::new(error.to_string()).color(tokens.bad));
            return;
        }
    };
    let names: BTreeMap<String, String> =
        equation.symbols.iter().filter_map(|symbol| Some((symbol.name.clone(), symbol.shown.clone()?))).collect();
    match values {
        Ok((values, result)) => {
            let text = show::with_unit(result, &equation.result_unit);
            vramlab_kit::math::equation(ui, tokens, &equation.result, &formula, &names, &values, &text);
        }
        Err(why) => {
            ui.label(RichText::new(why).font(tokens.font(Type::Note)).color(tokens.bad));
        }
    }
    ui.add_space(tokens.space.xs);
}

fn symbols_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, step: &Step, equation: &Equation) {
    let row = |ui: &mut Ui, symbol: &Symbol| {
        let shown = symbol.shown.as_deref().unwrap_or(&symbol.name);
        ui.label(RichText::new(shown).font(tokens.font(Type::Mono)));
        ui.label(RichText::new(symbol.means.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        let unit = if symbol.unit == "1" { "" } else { &symbol.unit };
        ui.label(RichText::new(unit).font(tokens.font(Type::Mono)).color(tokens.muted));
    };
    if ui.available_width() < tokens.px(420.0) {
        // The cells of a grid do not wrap, and a phone is narrower than name, meaning and unit.
        for symbol in &equation.symbols {
            ui.horizontal_wrapped(|ui| row(ui, symbol));
        }
    } else {
        Grid::new(("symbols", &step.id)).num_columns(3).spacing([tokens.space.m, tokens.space.xxs]).show(ui, |ui| {
            for symbol in &equation.symbols {
                row(ui, symbol);
                ui.end_row();
            }
        });
    }
    ui.add_space(tokens.space.xs);
}
