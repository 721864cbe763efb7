//! What the reader sets: a small tensor, the order of its axes in memory, one element.

use std::borrow::Cow;
use vramlab_model::kernels::tensor_strides::{self, AXES, ORDERS, is_dense, order_from, strides_of};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub const MOST: [u64; 4] = [2, 8, 6, 8];
pub const MULTIPLES: [u64; 3] = [1, 4, 8];
pub const PRESETS: [&str; 4] = ["nchw", "nhwc", "chwn", "hwcn"];

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// N, C, H, W as the program sees them.
    pub shape: [u64; 4],
    /// Axes as they lie in memory, the outermost first.
    pub order: [usize; 4],
    pub multiple: u64,
    pub at: [u64; 4],
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let size = |at: usize, start: i64, zh, en| {
            FieldSpec::int(AXES[at], "1", 1, MOST[at] as i64, Text::new(zh, en)).default_value(start)
        };
        let place = |key, at: usize, zh, en| {
            FieldSpec::int(key, "1", 0, MOST[at] as i64 - 1, Text::new(zh, en)).default_value(0)
        };
        let choice =
            |key, options: Vec<Cow<'static, str>>, doc| FieldSpec::new(key, "", FieldKind::Choice { options }, doc);
        vec![
            size(0, 2, "批 N", "Batch, N"),
            size(1, 3, "通道 C", "Channels, C"),
            size(2, 4, "高 H", "Height, H"),
            size(3, 5, "宽 W", "Width, W"),
            choice(
                "order",
                ORDERS.map(Into::into).to_vec(),
                Text::new("内存里的顺序，从外到内", "Order in memory, the outermost axis first"),
            )
            .default_value("nchw"),
            choice(
                "channel_multiple",
                MULTIPLES.map(|multiple| multiple.to_string().into()).to_vec(),
                Text::new("通道补到几的倍数", "Channels are padded to a multiple of this"),
            )
            .default_value("1"),
            place("at_n", 0, "选中元素的 n", "The chosen element's n"),
            place("at_c", 1, "选中元素的 c", "The chosen element's c"),
            place("at_h", 2, "选中元素的 h", "The chosen element's h"),
            place("at_w", 3, "选中元素的 w", "The chosen element's w"),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let shape = AXES.map(|axis| args.uint(axis));
        let at = AXES.map(|axis| args.uint(&format!("at_{axis}")));
        for ((axis, at), size) in AXES.iter().zip(at).zip(shape) {
            if at >= size {
                let said = format!("at_{axis} = {at} is outside 0…{}", size - 1);
                return Err(FieldError::conflict(&format!("at_{axis}"), said));
            }
        }
        let order = order_from(args.text("order")).unwrap_or([0, 1, 2, 3]);
        Ok(Self { shape, order, multiple: args.text("channel_multiple").parse().unwrap_or(1), at })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        for (idx, axis) in AXES.iter().enumerate() {
            map.insert((*axis).to_owned(), self.shape[idx].into());
            map.insert(format!("at_{axis}"), self.at[idx].into());
        }
        map.insert("order".to_owned(), self.name().into());
        map.insert("channel_multiple".to_owned(), self.multiple.to_string().into());
        map
    }

    /// The order's name, `nhwc` say.
    pub fn name(&self) -> String {
        self.order.iter().map(|axis| AXES[*axis]).collect()
    }

    /// The shape that lies in memory: with its padded channels.
    pub fn stored(&self) -> [u64; 4] {
        let [n, c, h, w] = self.shape;
        [n, c.next_multiple_of(self.multiple), h, w]
    }

    pub fn strides(&self) -> [u64; 4] {
        strides_of(self.stored(), self.order)
    }

    pub fn offset(&self, at: [u64; 4]) -> u64 {
        tensor_strides::offset(self.strides(), at)
    }

    pub fn index(&self, offset: u64) -> [u64; 4] {
        tensor_strides::index_at(self.stored(), self.order, offset)
    }

    pub fn n_stored(&self) -> u64 {
        self.stored().iter().product()
    }

    pub fn is_padding(&self, at: [u64; 4]) -> bool {
        at[1] >= self.shape[1]
    }

    /// Whether walking N, C, H, W, or N, H, W, C, walks memory without a gap. Padded channels leave one.
    pub fn is_dense(&self, order: [usize; 4]) -> bool {
        is_dense(self.shape, self.strides(), order)
    }

    /// Stored over used, minus 1.
    pub fn waste(&self) -> f64 {
        self.stored()[1] as f64 / self.shape[1] as f64 - 1.0
    }

    /// The axes of `place` and the one after it change places in memory.
    pub fn swap(&mut self, place: usize) {
        self.order.swap(place, (place + 1) % 4);
    }

    pub fn keep_inside(&mut self) {
        for (at, size) in self.at.iter_mut().zip(self.shape) {
            *at = (*at).min(size - 1);
        }
    }
}
