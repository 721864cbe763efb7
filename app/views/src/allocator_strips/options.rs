//! The settings of the allocators in sight, folded away until they are wanted.

use super::question::{DIVISIONS, Engine, JaxPolicy, Question};
use super::words::size;
use crate::controls::{self, Flow};
use egui::Ui;
use vramlab_alloc::MIB;
use vramlab_kit::{Slider, Tokens};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

const OFF: Text = Text::new("关", "off");
const SPLIT_STOPS: [f64; 6] = [0.0, 32.0, 64.0, 128.0, 256.0, 512.0];
const LOOSE_STOPS: [f64; 5] = [1.0, 10.0, 20.0, 40.0, 100.0];
const SEGMENT_STOPS: [f64; 6] = [10.0, 20.0, 32.0, 64.0, 128.0, 256.0];
const KEPT_STOPS: [f64; 7] = [0.0, 32.0, 64.0, 128.0, 256.0, 1024.0, 1_048_576.0];
const LIMIT_STOPS: [f64; 9] = [0.0, 16.0, 20.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// Settings of the allocators that are shown, changed in `question`.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let has = |engine| question.engines.contains(&engine);
    let (has_pytorch, has_pool) = (has(Engine::Native) || has(Engine::Expandable), has(Engine::StreamPool));
    let (has_bfc, has_jax) = (has(Engine::Bfc), has(Engine::Jax));
    controls::row(ui, tokens, |flow| {
        if has_pytorch {
            pytorch(flow, tokens, lang, question);
        }
        if has_pool {
            let name = Text::new("池：释放阈值", "pool: release threshold").get(lang);
            mib(flow, tokens, lang, name, &mut question.settings.release_threshold_mib, &KEPT_STOPS, "0");
        }
        if has_bfc {
            bfc(flow, tokens, lang, question);
        }
        if has_jax {
            let policies: Vec<(JaxPolicy, String)> =
                JaxPolicy::ALL.iter().map(|policy| (*policy, policy.label().get(lang).to_owned())).collect();
            controls::choice(flow, tokens, "JAX", &mut question.settings.jax_policy, &policies);
            let name = Text::new("JAX：份额", "JAX: share").get(lang);
            share(flow, tokens, lang, name, &mut question.settings.jax_fraction, (0.05, 1.0));
        }
    });
}

fn pytorch(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let settings = &mut question.settings;
    let off = OFF.get(lang);
    mib(flow, tokens, lang, "max_split_size", &mut settings.max_split_mib, &SPLIT_STOPS, off);
    if settings.max_split_mib > 0 {
        let place = &mut settings.max_non_split_rounding_mib;
        mib(flow, tokens, lang, "max_non_split_rounding", place, &LOOSE_STOPS, off);
    }
    mib(flow, tokens, lang, "large_segment_size", &mut settings.large_segment_mib, &SEGMENT_STOPS, off);
    share(flow, tokens, lang, "memory_fraction", &mut settings.memory_fraction, (0.0, 1.0));
    share(flow, tokens, lang, "garbage_collection", &mut settings.gc_threshold, (0.0, 0.95));
    let divisions: Vec<(u32, String)> =
        DIVISIONS.iter().map(|n| (*n, if *n == 1 { off.to_owned() } else { n.to_string() })).collect();
    controls::choice(flow, tokens, "roundup_power2", &mut settings.divisions, &divisions);
}

fn bfc(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let settings = &mut question.settings;
    let ways = [(true, Text::new("区域翻倍", "regions double")), (false, Text::new("一次拿满", "all at once"))];
    let ways = ways.map(|(grows, text)| (grows, text.get(lang).to_owned()));
    controls::choice(flow, tokens, "BFC", &mut settings.bfc_grows, &ways);
    let name = Text::new("BFC：上限", "BFC: limit").get(lang);
    let card = Text::new("整张卡", "the card").get(lang);
    mib(flow, tokens, lang, name, &mut settings.bfc_limit_mib, &LIMIT_STOPS, card);
}

fn mib(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, name: &str, value: &mut u64, stops: &[f64], zero: &str) {
    let most = Text::new("不释放", "never").get(lang);
    let shown = |number: f64| match number as u64 {
        0 => zero.to_owned(),
        1_048_576 => most.to_owned(),
        mib => size(mib * MIB),
    };
    let mut number = *value as f64;
    let range = 0.0..=stops.last().copied().unwrap_or(1.0).max(number);
    let slider = Slider::new(name, &mut number, range).stops(stops).width(90.0).shown(shown);
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        *value = number.round().max(0.0) as u64;
    }
}

fn share(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, name: &str, value: &mut f64, (low, high): (f64, f64)) {
    let off = OFF.get(lang);
    let shown = |number: f64| if number <= 0.0 { off.to_owned() } else { with_unit(number, "%") };
    let mut number = *value;
    let slider = Slider::new(name, &mut number, low..=high).step(0.05).width(90.0).shown(shown);
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        *value = (number * 100.0).round() / 100.0;
    }
}
