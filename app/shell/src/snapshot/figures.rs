//! The cards of the figures: what stands around each, and the controls that they share.

use crate::guide::parts;
use crate::snapshot::desk::Opened;
use crate::snapshot::{filters, rules};
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_kit::widgets::{check_box, segmented};
use vramlab_snapshot::sites::short_text;
use vramlab_units::{Bytes, Lang, Text, show};
use vramlab_views::snapshot::{Colour, Kind, life_lines, moment, stack_lines};

const OVER_TIME: Text = Text::new("显存随时间的变化", "Memory over time");
const COLOURS: Text = Text::new("颜色", "Colour");
const BY: [(Colour, Text); 4] = [
    (Colour::Role, Text::new("按角色", "by role")),
    (Colour::Site, Text::new("按代码位置", "by place in the code")),
    (Colour::Stack, Text::new("按调用栈", "by stack")),
    (Colour::Stream, Text::new("按流", "by stream")),
];
const RESERVED: Text = Text::new("画出保留量", "Show what is reserved");
const RESERVED_LINE: Text = Text::new("保留", "reserved");
const WHOLE: Text = Text::new("看全部", "Show all");
const TO_PEAK: Text = Text::new("到峰值", "To the peak");
const TO_OOM: Text = Text::new("到 OOM", "To the OOM");
const HINT: Text = Text::new(
    "横轴是事件；一个像素里事件再多，也画其中最高的那一刻。横线纹的块录制前就在。拖动放大，双击复原，单击放光标（点上方的阶段就放大它）；点过以后滚轮缩放，加 Shift 平移；键盘：← → 移动（加 Shift 大步），W S 或 + − 缩放，A D 平移，PgUp PgDn 换阶段，0 复原。",
    "Across: events. However many share a pixel, it shows the highest moment among them. Ruled blocks stand from before the recording. Drag to zoom, double click for all, click for the cursor, or on a phase above to enlarge it; once clicked, the wheel zooms and with Shift pans; keys: ← → move (Shift for more), W S or + − zoom, A D pan, PgUp PgDn change the phase, 0 shows all.",
);
const MAP: Text = Text::new("光标处的显存段", "Segments at the cursor");
const MAP_WORDS: Text = Text::new(
    "{at}：{n} 段，共 {reserved}，在用 {allocated}（其中取整多占 {rounding}）；{holes} 个空洞共 {inactive}，最大 {hole}。",
    "{at}: {n} segments, {reserved} in all; {allocated} in use, {rounding} of it by rounding; {holes} holes of {inactive}, the largest {hole}.",
);
const CHOSEN: Text = Text::new("选中的块", "The chosen block");
const LET_GO: Text = Text::new("取消选中", "Let go of it");
const LOG: Text = Text::new("分配器日志", "The allocator's log");
const EVENTS: Text = Text::new("事件", "Events");
const KINDS: [(Kind, Text); 5] = [
    (Kind::All, Text::new("全部", "all")),
    (Kind::Alloc, Text::new("申请", "requests")),
    (Kind::Free, Text::new("释放", "frees")),
    (Kind::Segment, Text::new("段", "segments")),
    (Kind::Other, Text::new("其他", "others")),
];
const IN_WINDOW: Text = Text::new("只看窗口里的", "Only those in the window");
const STACKS: Text = Text::new("光标处的调用栈", "Stacks at the cursor");
const STACKS_HINT: Text = Text::new(
    "越宽占得越多；最外层的调用在上。深色是你自己的代码。点一层放大，再点一次退回。",
    "The wider, the more it holds; the outermost call is on top. Darker frames are your own code. Press one to enlarge it, again to go back.",
);
const SIZES: Text = Text::new("申请的大小", "Sizes of requests");
const SIZES_HINT: Text = Text::new(
    "窗口之内，每根柱一个 2 的幂。点一根，所有的图和日志都只留它。",
    "Those in the window, a bar for each power of two. Press one to narrow every figure and the log to it.",
);

fn small(ui: &mut Ui, tokens: &Tokens, text: &str) {
    ui.add(egui::Label::new(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted)).wrap());
}

/// Memory over time.
pub fn timeline(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, OVER_TIME.get(lang));
        ui.horizontal_wrapped(|ui| {
            let mut colour = opened.scene.colour;
            let options = BY.map(|(colour, text)| (colour, text.get(lang)));
            if segmented(ui, tokens, COLOURS.get(lang), &mut colour, &options) {
                opened.scene = opened.scene.in_colours(colour);
            }
            check_box(ui, tokens, &mut opened.look.shows_reserved, RESERVED.get(lang));
            let n = opened.scene.n_events();
            if (opened.look.from, opened.look.until) != (0, n) && widgets::link(ui, tokens, WHOLE.get(lang)).clicked() {
                opened.look.show(0.0, n as f64, n);
            }
            let peak = opened.peak;
            if opened.look.cursor != peak && widgets::link(ui, tokens, TO_PEAK.get(lang)).clicked() {
                opened.look.point_at(peak, n);
            }
            let oom = opened.scene.analysis.ooms.first().map(|oom| oom.event + 1);
            if let Some(oom) = oom.filter(|oom| opened.look.cursor != *oom)
                && widgets::link(ui, tokens, TO_OOM.get(lang)).clicked()
            {
                opened.look.point_at(oom, n);
            }
            rules::link(ui, tokens, lang, opened);
        });
        rules::ui(ui, tokens, lang, opened);
        filters::ui(ui, tokens, lang, opened);
        ui.add_space(tokens.space.s);
        opened.timeline.ui(ui, tokens, lang, &opened.scene, &mut opened.look);
        ui.add_space(tokens.space.xs);
        bands_ui(ui, tokens, lang, opened);
        small(ui, tokens, &opened.timeline.drawn(lang));
        small(ui, tokens, HINT.get(lang));
    });
}

/// What each colour is, with what it holds at the cursor.
fn bands_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &Opened) {
    let scene = &opened.scene;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.m;
        for (idx, band) in scene.bands.all.iter().enumerate() {
            // All others have a colour, but nothing to name while there are none.
            if band.key.is_none() && band.value(opened.look.cursor) == 0 {
                continue;
            }
            let size = show::bytes_binary(Bytes(band.value(opened.look.cursor)));
            let words = format!("{}  {size}", short_text(band.label.get(lang)));
            vramlab_views::snapshot::band_chip(ui, tokens, scene.color(tokens, idx), &words, false);
        }
        if opened.look.shows_reserved {
            let reserved = scene.analysis.timeline.reserved.value(opened.look.cursor);
            let words = format!("{}  {}", RESERVED_LINE.get(lang), show::bytes_binary(Bytes(reserved)));
            vramlab_views::snapshot::band_chip(ui, tokens, tokens.ink, &words, true);
        }
    });
}

/// The address space.
pub fn map(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, MAP.get(lang));
        let found = opened.map.at_cursor(&opened.scene, &opened.look);
        let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
        let metrics = found.metrics;
        let words = MAP_WORDS
            .get(lang)
            .replace("{at}", &moment(&opened.scene, opened.look.cursor, lang))
            .replace("{n}", &found.segments.len().to_string())
            .replace("{reserved}", &bytes(metrics.reserved))
            .replace("{allocated}", &bytes(metrics.allocated))
            .replace("{rounding}", &bytes(metrics.rounding))
            .replace("{holes}", &metrics.n_holes.to_string())
            .replace("{inactive}", &bytes(metrics.inactive))
            .replace("{hole}", &bytes(metrics.largest_hole));
        parts::note(ui, tokens, &words, tokens.ink);
        ui.add_space(tokens.space.xs);
        opened.map.legend_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        opened.map.ui(ui, tokens, lang, &opened.scene, &mut opened.look);
        chosen_ui(ui, tokens, lang, opened);
    });
}

/// The block that was pressed: for whoever has no pointer to rest on it.
fn chosen_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let Some(idx) = opened.look.life else { return };
    let Some(stack) = opened.scene.life(idx).map(|life| life.stack) else { return };
    ui.add_space(tokens.space.s);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(CHOSEN.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
        if widgets::link(ui, tokens, LET_GO.get(lang)).clicked() {
            opened.look.life = None;
        }
    });
    for line in life_lines(&opened.scene, idx, lang) {
        parts::note(ui, tokens, &line, tokens.ink);
    }
    for line in stack_lines(&opened.scene, stack, 16, lang) {
        ui.add(egui::Label::new(RichText::new(line).font(tokens.font(Type::MonoSmall)).color(tokens.muted)).wrap());
    }
}

/// The log with its filters.
pub fn log(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, LOG.get(lang));
        ui.horizontal_wrapped(|ui| {
            let options = KINDS.map(|(kind, text)| (kind, text.get(lang)));
            segmented(ui, tokens, EVENTS.get(lang), &mut opened.look.filter.kind, &options);
            check_box(ui, tokens, &mut opened.look.filter.is_in_window, IN_WINDOW.get(lang));
        });
        ui.add_space(tokens.space.xs);
        opened.log.ui(ui, tokens, lang, &opened.scene, &mut opened.look);
    });
}

/// Stacks and sizes.
pub fn stacks(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, STACKS.get(lang));
        small(ui, tokens, STACKS_HINT.get(lang));
        ui.add_space(tokens.space.xs);
        opened.icicle.ui(ui, tokens, lang, &opened.scene, &opened.look);
    });
    ui.add_space(tokens.space.m);
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, SIZES.get(lang));
        small(ui, tokens, SIZES_HINT.get(lang));
        opened.histogram.ui(ui, tokens, lang, &opened.scene, &mut opened.look);
    });
}
