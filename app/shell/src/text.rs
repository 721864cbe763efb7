//! Interface strings of the shell that are used in more than one place, or that carry a `{}`.

use vramlab_units::Text;

pub const APP: Text = Text::new("显存实验台", "VRAM Lab");
pub const UNREAD_ROUTE: Text =
    Text::new("链接里的 {} 读不懂，已忽略", "{} in the link was not understood and is ignored");
pub const NO_STEP: Text =
    Text::new("本章没有“{}”这一步，显示章首", "this chapter has no step \"{}\"; you are at its beginning");
pub const NO_CHAPTER: Text =
    Text::new("没有“{}”这一章，已打开最接近的一章", "there is no chapter \"{}\"; the nearest one is open");
pub const NOT_SAVED: Text = Text::new(
    "保存失败：{}。内容还在内存里，请先导出",
    "saving failed: {}. Everything is still in memory; export it now",
);
pub const EXPORT_NOW: Text = Text::new("立即导出", "Export now");
pub const RUN_HERE: Text = Text::new("在本机运行", "Run on this machine");
pub const RUN_FULL: Text = Text::new("完整运行", "Full run");
pub const REPLAY: Text = Text::new("重放", "Replay");
pub const CANCEL: Text = Text::new("取消", "Cancel");
pub const RESET: Text = Text::new("复位", "Reset");
pub const COPY_LINK: Text = Text::new("复制链接", "Copy link");
pub const COPIED: Text = Text::new("链接已复制", "The link is copied");
pub const PICTURE_COPIED: Text = Text::new("图已复制", "The picture is copied");
pub const COPY_IMAGE: Text = Text::new("复制图片", "Copy the picture");
pub const SAVE_SVG: Text = Text::new("保存为 SVG…", "Save as SVG…");
pub const PROGRESS_MERGED: Text = Text::new("已并入这份学习进度", "That progress is merged with yours");
pub const UNDO: Text = Text::new("撤销", "Undo");
pub const SHOWN_IN_OTHER: Text = Text::new("仅英文", "Chinese only");
