//! One access, two memories: the sector map above and the bank grid below the same 32 lanes, fed by the same stride.
//!
//! Global memory pays for sectors, shared memory for banks; a stride that ruins one may leave the other alone.

use crate::bank_grid::{self, layout as bank_layout, paint as bank_paint, question as bank_question};
use crate::controls;
use crate::figure::{self, LaneKeys};
use crate::sector_map::{self, layout as sector_layout, paint as sector_paint, question as sector_question};
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use bank_layout::Pointed;
use egui::{PointerButton, Response, Sense, Ui, pos2, vec2};
use sector_layout::{Hit, Side};
use vramlab_kit::Tokens;
use vramlab_model::access::LaneAddrs;
use vramlab_model::bank_conflicts::{self, Conflicts};
use vramlab_model::coalescing::{self, Coalesced};
use vramlab_units::show::THIN;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const STRIDE: Text = Text::new("步长 stride", "Stride");
const OFFSET: Text = Text::new("偏移 offset", "Offset");
const WIDTH: Text = Text::new("宽度 width", "Width");
const ALL_ON: Text = Text::new("全部参与", "All lanes on");
const GLOBAL: Text = Text::new("全局内存：", "Global memory: ");
const SHARED: Text = Text::new("共享内存：", " Shared memory: ");

/// Speed of the player.
const PASSES_PER_SEC: f64 = 2.0;

/// See the module's docs.
pub struct AccessMap {
    sectors: sector_question::Question,
    pad_words: u64,
    has_swizzle: bool,
    steps: Steps,
    cursor: LaneKeys,
}

struct Answered {
    addrs: LaneAddrs,
    found: Coalesced,
    conflicts: Conflicts,
}

/// What is under the pointer or the cursor.
#[derive(Clone, Copy, PartialEq)]
enum Picked {
    Sector(Hit),
    Bank(Pointed),
}

impl AccessMap {
    /// The same stride, in shared memory.
    fn banks(&self) -> bank_question::Question {
        bank_question::Question {
            pattern: bank_question::Pattern::Strided,
            stride_words: self.sectors.stride_elems * self.sectors.elem_bytes / bank_conflicts::WORD.0,
            width_bytes: self.sectors.elem_bytes,
            pad_words: self.pad_words,
            has_swizzle: self.has_swizzle,
            active_mask: self.sectors.active_mask,
        }
    }

    fn answer(&self) -> Result<Answered, String> {
        let said = |error: vramlab_model::access::AccessError| error.to_string();
        let addrs = self.sectors.lane_addrs().map_err(said)?;
        let found = coalescing::run(&addrs, self.sectors.width()).map_err(said)?;
        let banks = self.banks();
        let conflicts = bank_conflicts::run(&banks.lane_addrs().map_err(said)?, banks.width()).map_err(said)?;
        Ok(Answered { addrs, found, conflicts })
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let asked = &mut self.sectors;
            let range = 1..=sector_question::MAX_STRIDE;
            controls::slider(flow, tokens, STRIDE.get(lang), &mut asked.stride_elems, range, |v| v.to_string());
            let elem = asked.elem_bytes;
            let shown =
                |value: u64| if value == 0 { "0".to_owned() } else { format!("{value} = {}{THIN}B", value * elem) };
            let range = 0..=sector_question::MAX_OFFSET;
            controls::slider(flow, tokens, OFFSET.get(lang), &mut asked.offset_elems, range, shown);
            let widths: Vec<(u64, String)> =
                bank_question::WIDTHS.iter().map(|size| (*size, format!("{size} B"))).collect();
            controls::choice(flow, tokens, WIDTH.get(lang), &mut asked.elem_bytes, &widths);
            let every = (asked.elem_bytes / bank_conflicts::WORD.0).max(1);
            self.pad_words -= self.pad_words % every;
            bank_grid::layout_ui(flow, tokens, lang, &mut self.pad_words, &mut self.has_swizzle, every);
            if asked.active_mask != u32::MAX && controls::button(flow, tokens, ALL_ON.get(lang)) {
                asked.active_mask = u32::MAX;
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, answered: &Answered) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let origin = ui.cursor().min;
        let inset = bank_layout::gutter(tokens.scale);
        let above =
            sector_layout::Geometry::new(origin, width, tokens.scale, &answered.found.lines, Side::Above, inset);
        let below_top = pos2(origin.x, above.rect.bottom());
        let below = bank_layout::Geometry::new(below_top, width, tokens.scale, &answered.conflicts, Some(above.lanes));
        let size = vec2(width, below.rect.bottom() - origin.y);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let picked = self.steer(ui, &response, &above, &below);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let lane = |picked: Option<Picked>| match picked {
            Some(Picked::Sector(Hit::Lane(lane)) | Picked::Bank(Pointed::Lane(lane))) => Some(lane),
            _ => None,
        };
        let (hit, pointed) = match (lane(picked), picked) {
            (Some(lane), _) => (Some(Hit::Lane(lane)), Some(Pointed::Lane(lane))),
            (None, Some(Picked::Sector(hit))) => (Some(hit), None),
            (None, Some(Picked::Bank(pointed))) => (None, Some(pointed)),
            (None, None) => (None, None),
        };
        bank_paint::Scene {
            painter,
            tokens,
            geometry: &below,
            answer: &answered.conflicts,
            n_served: self.steps.now(),
            picked: pointed,
            has_lanes: false,
        }
        .paint();
        sector_paint::Scene {
            painter,
            tokens,
            lang,
            geometry: &above,
            addrs: &answered.addrs,
            elem_bytes: self.sectors.elem_bytes,
            answer: &answered.found,
            picked: hit,
            has_dram: false,
        }
        .paint();
        let words = picked.map(|picked| self.readout(answered, &below, picked, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), words.as_deref().filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, &words.unwrap_or_else(|| scale_note(lang)));
    }

    fn steer(
        &mut self,
        ui: &Ui,
        response: &Response,
        above: &sector_layout::Geometry,
        below: &bank_layout::Geometry,
    ) -> Option<Picked> {
        let at = |pos| above.hit(pos).map(Picked::Sector).or_else(|| below.hit(pos).map(Picked::Bank));
        let hovered = response.hover_pos().and_then(at);
        if let (true, Some(Picked::Sector(Hit::Lane(lane)))) = (response.clicked_by(PointerButton::Primary), hovered) {
            self.sectors.toggle(lane);
            self.cursor.lane = lane;
        }
        if let Some(lane) = self.cursor.steer(ui, response) {
            self.sectors.toggle(lane);
        }
        hovered.or_else(|| response.has_focus().then_some(Picked::Sector(Hit::Lane(self.cursor.lane))))
    }

    fn readout(&self, answered: &Answered, below: &bank_layout::Geometry, picked: Picked, lang: Lang) -> String {
        match picked {
            Picked::Sector(hit @ Hit::Lane(lane)) => {
                let global = sector_map::words::readout(&self.sectors, &answered.addrs, hit, lang);
                let shared = bank_grid::words::readout(below, &answered.conflicts, Pointed::Lane(lane), lang);
                let prefix = format!("lane {lane} · ");
                let shared = shared.strip_prefix(&prefix).unwrap_or(&shared);
                format!("{global} · {shared}")
            }
            Picked::Sector(hit) => sector_map::words::readout(&self.sectors, &answered.addrs, hit, lang),
            Picked::Bank(pointed) => bank_grid::words::readout(below, &answered.conflicts, pointed, lang),
        }
    }
}

fn scale_note(lang: Lang) -> String {
    match lang {
        Lang::Zh => "上面是全局内存的 32 字节扇区，下面是共享内存的 32 个 bank，中间是同样的 32 个 lane。点 lane 可关掉它。",
        Lang::En => {
            "Above: 32-byte sectors of global memory. Below: the 32 banks of shared memory. Between them: the same 32 lanes."
        }
    }
    .to_owned()
}

impl View for AccessMap {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        match self.answer() {
            Ok(answered) => {
                self.steps.set_total(answered.conflicts.wavefronts() as usize);
                self.steps.tick(cx);
                self.figure_ui(ui, tokens, lang, &answered);
                self.steps.ui(ui, cx);
                ui.add_space(tokens.space.xs);
                let mut numbers = sector_map::key_numbers(&answered.found, lang);
                numbers.truncate(5); // DRAM is the sector map's own subject
                numbers.extend(bank_grid::key_numbers(&answered.conflicts));
                controls::key_numbers(ui, tokens, lang, &numbers);
            }
            Err(problem) => figure::problem_ui(ui, tokens, &problem),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        let answered = match self.answer() {
            Ok(answered) => answered,
            Err(problem) => return problem,
        };
        let global = sector_map::words::finding(&self.sectors, &answered.found, lang);
        let shared = bank_grid::words::finding(&self.banks(), &answered.conflicts, lang);
        format!("{}{global}{}{shared}", GLOBAL.get(lang), SHARED.get(lang))
    }

    fn params(&self) -> Map {
        let mut map = self.sectors.params();
        map.retain(|key, _| KEYS.contains(&key.as_str()));
        map.insert("pad_words".into(), self.pad_words.into());
        map.insert("swizzle".into(), if self.has_swizzle { "xor" } else { "none" }.into());
        map
    }

    fn data(&self) -> DataTable {
        let header =
            ["lane", "address (B)", "sector (32 B)", "word", "bank", "phase", "pass"].map(str::to_owned).to_vec();
        let Ok(answered) = self.answer() else { return DataTable { header, rows: Vec::new() } };
        let phases = answered.conflicts.phases.iter().enumerate();
        let rows = phases.flat_map(|(phase_idx, phase)| {
            let addrs = &answered.addrs;
            phase.hits.iter().map(move |hit| {
                let addr = addrs.get(hit.lane).copied().flatten().map_or(0, |addr| addr.0);
                let sector = addr / coalescing::SECTOR.0;
                [hit.lane as u64, addr, sector, hit.word, hit.bank.into(), phase_idx as u64, hit.pass.into()]
                    .map(|value: u64| value.to_string())
                    .to_vec()
            })
        });
        DataTable { header, rows: rows.collect() }
    }

    fn is_playing(&self) -> bool {
        self.steps.is_playing()
    }
}

/// The fields of the sector map that this figure has too.
const KEYS: [&str; 4] = ["stride_elems", "offset_elems", "elem_bytes", "active_mask"];

impl Visualizer for AccessMap {
    const ID: &'static str = "access_map";
    const TITLE: Text = Text::new("一次访问，两种内存（access map）", "Access map");

    fn fields() -> Vec<FieldSpec> {
        let mut fields = sector_question::Question::fields();
        fields.retain(|field| KEYS.contains(&field.key.as_ref()));
        for field in &mut fields {
            if field.key == "elem_bytes" {
                let options = bank_question::WIDTHS.iter().map(|size| size.to_string().into()).collect();
                field.kind = FieldKind::Choice { options };
            }
        }
        let shared = bank_question::Question::fields().into_iter();
        fields.extend(shared.filter(|field| matches!(field.key.as_ref(), "pad_words" | "swizzle")));
        fields
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let mut all = args.map().clone();
        all.retain(|key, _| KEYS.contains(&key.as_str()));
        let sectors = sector_question::Question::from_args(&Args::check(&sector_question::Question::fields(), &all)?)?;
        let pad_words = args.uint("pad_words");
        let every = sectors.elem_bytes / bank_conflicts::WORD.0;
        if !pad_words.is_multiple_of(every) {
            let reason = format!("{pad_words} is not a multiple of {every}, the words that a lane takes at once");
            return Err(FieldError::conflict("pad_words", reason));
        }
        let has_swizzle = args.text("swizzle") == "xor";
        let mut this = Self {
            sectors,
            pad_words,
            has_swizzle,
            steps: Steps::new(0, 0, PASSES_PER_SEC),
            cursor: LaneKeys::default(),
        };
        let total = this.answer().map_or(0, |answered| answered.conflicts.wavefronts() as usize);
        this.steps = Steps::new(total, total, PASSES_PER_SEC);
        Ok(this)
    }
}
