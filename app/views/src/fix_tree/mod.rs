//! What to mend next, as a way down a row of questions about one profile; every end opens the chapter that helps.
//!
//! `layout.rs` is the geometry, `paint.rs` the picture, `words.rs` the sentences and the chapters. The rule is
//! `model::next_fix`.

mod layout;
mod paint;
mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewAction, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::Geometry;
use paint::Scene;
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_model::next_fix::{Bound, NextFix, Profile};
use vramlab_model::registry::Model as _;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const CASE: Text = Text::new("哪一步", "Which step");
const OWN: Text = Text::new("自定", "custom");
const HINT: Text = Text::new("按一个结论，打开那一章。", "Press an end to open its chapter.");

/// Profiles to start from.
const PRESETS: [(Text, Profile); 4] = [
    // As recorded: copies of 13.5 in 29.3 ms, an end at 2.1 ms, four bytes used of 64.
    (
        Text::new("综合实验，没修", "the capstone, nothing mended"),
        Profile { peak: 0.0, floor: 0.07, copies: 0.46, gaps: 0.0, useful: 0.06, bandwidth: 0.5, arithmetic: 0.0 },
    ),
    (
        Text::new("小内核一串", "a string of small kernels"),
        Profile { peak: 0.3, floor: 0.35, copies: 0.02, gaps: 0.55, useful: 1.0, bandwidth: 0.3, arithmetic: 0.05 },
    ),
    (
        Text::new("批 1 的解码", "decoding at batch 1"),
        Profile { peak: 0.6, floor: 0.86, copies: 0.0, gaps: 0.05, useful: 1.0, bandwidth: 0.86, arithmetic: 0.01 },
    ),
    (
        Text::new("放不下的训练", "training that does not fit"),
        Profile { peak: 1.2, floor: 0.5, copies: 0.0, gaps: 0.1, useful: 1.0, bandwidth: 0.4, arithmetic: 0.5 },
    ),
];

/// The fields of the profile, in the order of the questions.
const KEYS: [&str; 7] =
    ["peak_share", "floor_share", "copy_share", "gap_share", "useful_share", "bandwidth_share", "compute_share"];

/// See the module's docs.
pub struct FixTree {
    profile: Profile,
    cursor: usize,
}

fn value_of(profile: &mut Profile, idx: usize) -> &mut f64 {
    match idx {
        0 => &mut profile.peak,
        1 => &mut profile.floor,
        2 => &mut profile.copies,
        3 => &mut profile.gaps,
        4 => &mut profile.useful,
        5 => &mut profile.bandwidth,
        _ => &mut profile.arithmetic,
    }
}

const LABELS: [Text; 7] = [
    Text::new("峰值 ÷ 卡", "peak over card"),
    Text::new("下限 ÷ 实测", "floor over measured"),
    Text::new("拷贝", "copies"),
    Text::new("空隙", "gaps"),
    Text::new("有用的字节", "useful bytes"),
    Text::new("带宽", "bandwidth"),
    Text::new("算力", "arithmetic"),
];

impl FixTree {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let known = PRESETS.iter().position(|(_, profile)| *profile == self.profile);
            let mut options: Vec<(Option<usize>, String)> =
                PRESETS.iter().enumerate().map(|(idx, (name, _))| (Some(idx), name.get(lang).to_owned())).collect();
            if known.is_none() {
                options.push((None, OWN.get(lang).to_owned()));
            }
            let mut chosen = known;
            if controls::choice(flow, tokens, CASE.get(lang), &mut chosen, &options)
                && let Some(idx) = chosen
            {
                self.profile = PRESETS[idx].1;
            }
            for idx in 0..KEYS.len() {
                share_slider(flow, tokens, lang, idx, &mut self.profile);
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let hovered = response.hover_pos().and_then(|at| geometry.hit(at));
        figure::list_keys(ui, &response, &mut self.cursor, Bound::ALL.len());
        let picked = hovered.or_else(|| response.has_focus().then_some(self.cursor));
        if response.clicked()
            && let Some(bound) = picked.map(|idx| Bound::ALL[idx])
        {
            let (chapter, step) = words::target(bound);
            cx.actions.push(ViewAction::OpenStep { chapter: chapter.to_owned(), step: step.to_owned() });
        }
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, profile: &self.profile, picked }.paint();
        figure::focus_ring(ui, tokens, &response);
        let said = picked.filter(|_| response.has_focus()).map(|idx| words::title(Bound::ALL[idx]).get(lang));
        figure::speak(&response, &self.finding(lang), said);
        figure::readout_ui(ui, tokens, HINT.get(lang));
    }
}

fn share_slider(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, idx: usize, profile: &mut Profile) {
    let rest = 1.0 - profile.copies - profile.gaps;
    let value = value_of(profile, idx);
    // Copies and gaps are parts of one step.
    let most = match idx {
        0 => 1.5,
        2 | 3 => (*value + rest).clamp(0.01, 1.0),
        _ => 1.0,
    };
    let slider = Slider::new(LABELS[idx].get(lang), value, 0.0..=most.max(*value)).step(0.01).width(70.0);
    flow.item(|ui| slider.shown(|share| with_unit(share, "%")).show(ui, tokens));
}

impl View for FixTree {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        let bound = self.profile.bound();
        let gain = self.profile.most_gain(bound).map_or_else(|| "–".to_owned(), |gain| with_unit(gain.max(1.0), "×"));
        let numbers = [
            KeyNumber::new(Text::new("卡在", "what binds"), words::title(bound).get(lang)).judged(Verdict::Caution),
            KeyNumber::new(Text::new("修好最多快", "at most, when mended"), gain),
        ];
        controls::key_numbers(ui, tokens, lang, &numbers);
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.profile, lang)
    }

    fn params(&self) -> Map {
        let mut profile = self.profile;
        KEYS.iter().enumerate().map(|(idx, key)| ((*key).to_owned(), (*value_of(&mut profile, idx)).into())).collect()
    }

    fn data(&self) -> DataTable {
        let header = ["question", "value", "limit", "holds"].map(str::to_owned).to_vec();
        let row = |bound: &Bound| {
            let value = self.profile.of(*bound).to_string();
            vec![bound.id().to_owned(), value, bound.limit().to_string(), self.profile.holds(*bound).to_string()]
        };
        DataTable { header, rows: Bound::ALL.iter().map(row).collect() }
    }
}

impl Visualizer for FixTree {
    const ID: &'static str = "fix_tree";
    const TITLE: Text = Text::new("下一步修哪里", "What to mend next");

    fn fields() -> Vec<FieldSpec> {
        let defaults = PRESETS[0].1;
        let defaulted = |(idx, field): (usize, FieldSpec)| {
            let mut profile = defaults;
            field.default_value(*value_of(&mut profile, idx))
        };
        NextFix::question().into_iter().enumerate().map(defaulted).collect()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let mut profile = PRESETS[0].1;
        for (idx, key) in KEYS.iter().enumerate() {
            *value_of(&mut profile, idx) = args.num(key);
        }
        if profile.copies + profile.gaps > 1.0 + 1e-9 {
            let field = if profile.gaps > profile.copies { "gap_share" } else { "copy_share" };
            let reason = "copies and gaps are parts of one step; together at most 100 %";
            return Err(FieldError::conflict(field, reason));
        }
        Ok(Self { profile, cursor: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_models_in_order() {
        let known: Vec<String> = NextFix::question().into_iter().map(|field| field.key.into_owned()).collect();
        assert_eq!(known, KEYS);
    }

    #[test]
    fn presets_end_where_their_names_say() {
        let ends = PRESETS.map(|(_, profile)| profile.bound());
        assert_eq!(ends, [Bound::Copies, Bound::Gaps, Bound::Bandwidth, Bound::Capacity]);
    }

    /// The chapters and steps are there.
    #[test]
    fn every_end_leads_somewhere() {
        for bound in Bound::ALL {
            let (chapter, step) = words::target(bound);
            let path = format!("{}/../../lessons/{chapter}/chapter.toml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).expect("the chapter is there");
            assert!(text.contains(&format!("[[step]]\nid = \"{step}\"\n")), "{chapter}/{step}");
        }
    }
}
