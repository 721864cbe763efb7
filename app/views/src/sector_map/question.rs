//! The question of the sector map: which 32 addresses. Plain data, its fields, and the addresses it stands for.

use vramlab_model::access::{self, ACCESS_BYTES, AccessError, LaneAddrs};
use vramlab_units::{Args, Bytes, FieldError, FieldKind, FieldSpec, Map, Text};

/// How lanes are spread over memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Lane `i` at `offset + i · stride`.
    Strided,
    /// The same addresses, handed to the lanes in another order.
    Shuffled,
    /// One field of 32 neighbouring structs.
    Aos,
    /// The same field kept in an array of its own.
    Soa,
    /// Every lane at the offset.
    Same,
    /// A gather from 16 KiB.
    Random,
}

impl Layout {
    pub const ALL: [Self; 6] = [Self::Strided, Self::Shuffled, Self::Aos, Self::Soa, Self::Same, Self::Random];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Strided => "strided",
            Self::Shuffled => "shuffled",
            Self::Aos => "aos",
            Self::Soa => "soa",
            Self::Same => "same",
            Self::Random => "random",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Strided => Text::new("等步长", "strided"),
            Self::Shuffled => Text::new("打乱", "shuffled"),
            Self::Aos => Text::new("AoS", "AoS"),
            Self::Soa => Text::new("SoA", "SoA"),
            Self::Same => Text::new("同一地址", "same address"),
            Self::Random => Text::new("随机", "random"),
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.id() == id)
    }
}

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub layout: Layout,
    pub stride_elems: u64,
    pub offset_elems: u64,
    pub elem_bytes: u64,
    /// Fields of one struct, each as wide as an element.
    pub struct_elems: u64,
    pub seed: u64,
    /// Bit `i` is lane `i`.
    pub active_mask: u32,
}

pub const MAX_STRIDE: u64 = 64;
pub const MAX_OFFSET: u64 = 32;
pub const STRUCT_ELEMS: (u64, u64) = (2, 16);
pub const MAX_SEED: u64 = 999;
const RANDOM_BUFFER: Bytes = Bytes(16 << 10);

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let int = |key, unit, min: u64, max: u64, doc| FieldSpec::int(key, unit, min as i64, max as i64, doc);
        let choice = |key, unit, options: Vec<String>, doc| {
            let options = options.into_iter().map(Into::into).collect();
            FieldSpec::new(key, unit, FieldKind::Choice { options }, doc)
        };
        let layouts = Layout::ALL.iter().map(|layout| layout.id().to_owned()).collect();
        let widths = ACCESS_BYTES.iter().map(u64::to_string).collect();
        vec![
            int(
                "stride_elems",
                "element",
                1,
                MAX_STRIDE,
                Text::new("相邻 lane 隔几个元素", "Elements between neighbouring lanes"),
            )
            .default_value(1),
            int(
                "offset_elems",
                "element",
                0,
                MAX_OFFSET,
                Text::new("lane 0 从第几个元素开始", "The element at which lane 0 starts"),
            )
            .default_value(0),
            choice("elem_bytes", "B", widths, Text::new("每个元素多少字节", "Bytes of one element")).default_value("4"),
            choice("layout", "", layouts, Text::new("数据怎么放", "How the data lies in memory"))
                .default_value("strided"),
            int(
                "struct_elems",
                "1",
                STRUCT_ELEMS.0,
                STRUCT_ELEMS.1,
                Text::new("AoS：一个结构体有几个字段", "AoS: fields of one struct"),
            )
            .default_value(4),
            int("seed", "1", 0, MAX_SEED, Text::new("随机地址的种子", "Seed of the random addresses")).default_value(1),
            int(
                "active_mask",
                "1",
                0,
                u32::MAX.into(),
                Text::new("参与的 lane：第 i 位是 lane i", "Lanes that take part: bit i is lane i"),
            )
            .default_value(u32::MAX),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let unknown = |key: &str| FieldError::conflict(key, "is not among its options");
        Ok(Self {
            layout: Layout::from_id(args.text("layout")).ok_or_else(|| unknown("layout"))?,
            stride_elems: args.uint("stride_elems"),
            offset_elems: args.uint("offset_elems"),
            elem_bytes: args.text("elem_bytes").parse().map_err(|_| unknown("elem_bytes"))?,
            struct_elems: args.uint("struct_elems"),
            seed: args.uint("seed"),
            active_mask: u32::try_from(args.uint("active_mask")).map_err(|_| unknown("active_mask"))?,
        })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("stride_elems".into(), self.stride_elems.into());
        map.insert("offset_elems".into(), self.offset_elems.into());
        map.insert("elem_bytes".into(), self.elem_bytes.to_string().into());
        map.insert("layout".into(), self.layout.id().into());
        map.insert("struct_elems".into(), self.struct_elems.into());
        map.insert("seed".into(), self.seed.into());
        map.insert("active_mask".into(), self.active_mask.into());
        map
    }

    pub fn width(&self) -> Bytes {
        Bytes(self.elem_bytes)
    }

    /// The byte address of each active lane.
    pub fn lane_addrs(&self) -> Result<LaneAddrs, AccessError> {
        let elem = self.elem_bytes as i64;
        let offset = self.offset_elems as i64 * elem;
        let strided = |stride: u64| access::strided(stride as i64 * elem, offset, self.active_mask);
        match self.layout {
            Layout::Strided => strided(self.stride_elems),
            Layout::Soa => strided(1),
            Layout::Aos => strided(self.struct_elems),
            Layout::Same => strided(0),
            Layout::Shuffled => {
                let stride = self.stride_elems as i64 * elem;
                access::by_lane(self.active_mask, |lane| offset + shuffled(lane) * stride)
            }
            Layout::Random => {
                let places = access::random(self.seed, RANDOM_BUFFER.0 / self.elem_bytes, self.width());
                access::by_lane(self.active_mask, |lane| {
                    places.get(lane as usize).copied().flatten().map_or(0, |addr| addr.0 as i64)
                })
            }
        }
    }

    pub fn n_active(&self) -> u32 {
        self.active_mask.count_ones()
    }

    pub fn toggle(&mut self, lane: usize) {
        self.active_mask ^= 1 << lane;
    }
}

/// A fixed permutation of the 32 lanes; 13 and 32 share no factor.
fn shuffled(lane: i64) -> i64 {
    (lane * 13 + 5) % 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::coalescing;

    fn ask(change: impl FnOnce(&mut Question)) -> coalescing::Coalesced {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        change(&mut question);
        coalescing::run(&question.lane_addrs().unwrap(), question.width()).unwrap()
    }

    #[test]
    fn the_order_of_lanes_does_not_matter() {
        for stride in [1, 2, 3, 8] {
            let straight = ask(|q| q.stride_elems = stride);
            let shuffled = ask(|q| (q.stride_elems, q.layout) = (stride, Layout::Shuffled));
            assert_eq!(straight.sectors, shuffled.sectors);
            assert_ne!(straight.sector_of_lane, shuffled.sector_of_lane);
        }
    }

    /// Brief 02, test vector 3: the first float of a 12-byte struct takes 12 sectors; one address takes one.
    #[test]
    fn layouts_take_the_sectors_of_the_brief() {
        assert_eq!(ask(|q| (q.layout, q.struct_elems) = (Layout::Aos, 3)).sectors.len(), 12);
        assert_eq!(ask(|q| (q.layout, q.struct_elems) = (Layout::Soa, 3)).sectors.len(), 4);
        assert_eq!(ask(|q| q.layout = Layout::Same).sectors.len(), 1);
        assert_eq!(ask(|q| q.offset_elems = 1).sectors.len(), 5);
        assert_eq!(ask(|q| q.elem_bytes = 16).sectors.len(), 16);
    }

    #[test]
    fn parameters_come_back_as_they_were() {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        question.toggle(31);
        question.layout = Layout::Random;
        let args = Args::check(&Question::fields(), &question.params()).unwrap();
        assert_eq!(Question::from_args(&args).unwrap(), question);
        assert_eq!(question.n_active(), 31);
    }
}
