//! What the page says about what a browser cannot do.

use vramlab_units::Text;

pub const NO_CUDA: Text = Text::new("浏览器里不能用 CUDA", "a browser cannot use CUDA");
pub const NO_CUDA_FIX: Text = Text::new(
    "看录制的运行；要用自己的显卡，请运行桌面程序 vramlab",
    "replay the recorded run; to use your own card, run the desktop program vramlab",
);
pub const NO_CPU: Text = Text::new(
    "浏览器的计时太粗，量不准处理器的缓存",
    "a browser's clock is too coarse to measure a processor's caches",
);
pub const NO_CPU_FIX: Text = Text::new(
    "看录制的运行；要在这颗处理器上实测，请运行桌面程序 vramlab",
    "replay the recorded run; to measure this processor, run the desktop program vramlab",
);
pub const NO_GAUGES: Text = Text::new(
    "浏览器读不到显卡的状态；桌面程序可以",
    "a browser cannot read the card's state; the desktop program can",
);
pub const TOO_LARGE: Text = Text::new(
    "{name} 有 {found} MiB，网页最多打开 {limit} MiB。更大的文件请用桌面程序打开",
    "{name} has {found} MiB; the page opens at most {limit} MiB. Open larger files with the desktop program",
);
pub const UNREADABLE: Text = Text::new(
    "{name} 读不出来（{why}）。如果是文件夹，请先压成 .zip",
    "{name} cannot be read ({why}). If it is a folder, zip it first",
);
pub const NOT_FETCHED: Text = Text::new("{path} 没取到：{why}", "{path} could not be fetched: {why}");
pub const NO_STORAGE: Text = Text::new("浏览器不让这个页面存东西", "the browser does not let this page store anything");
