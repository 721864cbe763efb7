//! The numbers that describe a model: their ids, names and legal ranges. Every reader fills them, nothing else is counted with.

use vramlab_units::Text;

macro_rules! fields {
    ($($variant:ident, $id:literal, $min:literal ..= $max:literal, $zh:literal, $en:literal;)*) => {
        /// One number of the description. Yes-or-no fields hold 0 or 1.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field { $($variant,)* }

        impl Field {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The id in JSON and in settings of the reader.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            pub fn name(self) -> Text {
                match self { $(Self::$variant => Text::new($zh, $en),)* }
            }

            /// Legal values, both ends included.
            pub fn range(self) -> (u64, u64) {
                match self { $(Self::$variant => ($min, $max),)* }
            }
        }
    };
}

fields! {
    Layers, "layers", 1..=4_096, "层数", "layers";
    Hidden, "hidden", 1..=1_048_576, "隐藏宽度", "hidden size";
    Heads, "heads", 1..=65_536, "注意力头", "attention heads";
    KvHeads, "kv_heads", 1..=65_536, "KV 头", "KV heads";
    HeadDim, "head_dim", 1..=65_536, "每头维度", "size of a head";
    Intermediate, "intermediate", 1..=16_777_216, "前馈宽度", "feed-forward width";
    Vocab, "vocab", 1..=67_108_864, "词表", "vocabulary";
    Positions, "positions", 1..=1_073_741_824, "最大位置", "longest sequence";
    Tied, "tied", 0..=1, "词嵌入与输出层共用", "embedding shared with the head";
    QkvBias, "qkv_bias", 0..=1, "q、k、v 有偏置", "bias of q, k and v";
    OutBias, "out_bias", 0..=1, "注意力输出有偏置", "bias of the attention's output";
    MlpBias, "mlp_bias", 0..=1, "前馈有偏置", "bias of the feed-forward part";
    Window, "window", 1..=1_073_741_824, "滑动窗口", "sliding window";
    WindowEvery, "window_every", 1..=4_096, "每几层一层看全部", "every how many layers one sees everything";
    WindowFrom, "window_from", 0..=4_096, "从第几层起用窗口", "first layer with a window";
    Experts, "experts", 1..=65_536, "路由专家", "routed experts";
    ActiveExperts, "active_experts", 1..=65_536, "每个 token 用的专家", "experts a token uses";
    ExpertIntermediate, "expert_intermediate", 1..=16_777_216, "专家的宽度", "width of an expert";
    SharedIntermediate, "shared_intermediate", 0..=16_777_216, "共享专家的总宽度", "width of the shared experts together";
    FirstDense, "first_dense", 0..=4_096, "开头几层没有专家", "first layers without experts";
    MoeEvery, "moe_every", 1..=4_096, "每几层有专家", "every how many layers there are experts";
    RouterBias, "router_bias", 0..=1, "路由有修正偏置", "correction bias of the router";
    QRank, "q_rank", 1..=1_048_576, "query 的秩（MLA）", "rank of the query (MLA)";
    KvRank, "kv_rank", 1..=1_048_576, "KV 的秩（MLA）", "rank of keys and values (MLA)";
    NopeDim, "nope_dim", 1..=65_536, "每头不带位置的维度（MLA）", "size of a head without position (MLA)";
    RopeDim, "rope_dim", 1..=65_536, "每头带位置的维度（MLA）", "size of a head with position (MLA)";
    VHeadDim, "v_head_dim", 1..=65_536, "每头 value 的维度", "size of a head's value";
    MtpLayers, "mtp_layers", 0..=64, "多 token 预测层", "layers for multi-token prediction";
    FullEvery, "full_every", 1..=4_096, "每几层一层是注意力", "every how many layers one is attention";
    VisionLayers, "vision_layers", 1..=4_096, "图像塔的层数", "layers of the image tower";
    VisionHidden, "vision_hidden", 1..=1_048_576, "图像塔的宽度", "width of the image tower";
    VisionIntermediate, "vision_intermediate", 1..=16_777_216, "图像塔的前馈宽度", "feed-forward width of the image tower";
    VisionPatch, "vision_patch", 1..=4_096, "图像块的边长", "side of an image patch";
    VisionImage, "vision_image", 1..=65_536, "图像的边长", "side of an image";
    Params, "n_params", 1..=1_000_000_000_000_000, "参数量", "parameters";
}

impl Field {
    /// Whether it says yes or no.
    pub fn is_flag(self) -> bool {
        self.range() == (0, 1)
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.id() == id)
    }
}
