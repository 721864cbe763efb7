//! Why a file could not be read, in the reader's language. The English words are those of the errors themselves.

use crate::pickle::PickleError;
use crate::read::ReadError;
use crate::unpack::UnpackError;
use vramlab_units::{Bytes, Localized, show};

impl ReadError {
    /// The error in both languages.
    pub fn told(&self) -> Localized {
        let zh = match self {
            Self::Pickle(error) => of_pickle(error),
            Self::Unpack(error) => of_unpack(error),
            Self::Missing { field } => {
                format!("缺少 {field}；显存快照是一个字典，里面有 segments 和 device_traces")
            }
            Self::Wrong { path, found, legal } => {
                // A place in the file may be followed by what of it is meant.
                let path = path.replace(", its size,", " 的大小").replace(", its address,", " 的地址");
                let path = path.replace("the file", "整个文件");
                format!("{path} 是{}；应该是{}", zh_of(found), zh_of(legal))
            }
            Self::Checkpoint => "这是 torch.save 写的 zip：一份检查点（权重），不是显存快照；\
                                 快照由 torch.cuda.memory._dump_snapshot() 写出"
                .to_owned(),
            Self::Zip => "这是 zip 压缩包，不是显存快照；快照由 torch.cuda.memory._dump_snapshot() 写出，\
                          直接打开，不必打包（.gz、.zst 可以）"
                .to_owned(),
            Self::Unfolds { limit } => {
                format!("文件反复引用同一份数据：展开后超过 {}", size(*limit))
            }
        };
        Localized::both(zh, self.to_string())
    }
}

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

fn of_pickle(error: &PickleError) -> String {
    match error {
        PickleError::Truncated { offset, what } => {
            format!("文件在第 {offset} 字节处断了：{}只有一半", zh_of(what))
        }
        PickleError::Class { offset, name } => {
            format!("第 {offset} 字节：pickle 里引用了类 {name}；快照里只有普通数据，任何类都不会加载")
        }
        PickleError::Opcode { offset, code } => {
            format!("第 {offset} 字节：操作码 0x{code:02x} 不属于普通数据")
        }
        PickleError::Damaged { offset, what } => format!("第 {offset} 字节：{}", zh_of(what)),
        PickleError::Protocol { offset, version } => {
            format!("第 {offset} 字节：pickle 协议 {version}；能读的是 0 到 5")
        }
        PickleError::Cancelled { offset } => format!("读到第 {offset} 字节时取消了"),
        PickleError::TooLarge { needs, limit } => {
            format!("读它大约要 {} 内存；最多允许 {}", size(*needs), size(*limit))
        }
    }
}

fn of_unpack(error: &UnpackError) -> String {
    match error {
        UnpackError::Damaged { kind, n_bytes, why } => {
            format!("{kind} 压缩流在解出 {n_bytes} 字节之后损坏（{why}）")
        }
        UnpackError::TooLarge { limit } => format!("文件解压后超过 {}", size(*limit as u64)),
    }
}

/// The words of the reader that stand in its errors.
const WORDS: &[(&str, &str)] = &[
    ("an opcode", "一个操作码"),
    ("a long integer", "一个长整数"),
    ("an integer", "一个整数"),
    ("a float", "一个浮点数"),
    ("a text", "一段文字"),
    ("bytes", "一串字节"),
    ("a frame", "一帧"),
    ("a memo index", "一个 memo 序号"),
    ("a class", "一个类名"),
    ("the protocol", "协议号"),
    ("more values are open at once than plain data has", "同时展开的值太多，普通数据不会这样"),
    ("the stack is empty", "栈是空的"),
    ("there is no mark", "缺少标记"),
    ("more containers than plain data of this length holds", "容器太多，这么长的普通数据装不下"),
    ("an event that stands in two places", "同一个事件出现在两处"),
    ("a memo index that was never set", "这个 memo 序号从未写入"),
    ("a memo index beyond the size of the file", "memo 序号超出了文件大小"),
    ("the file remembers more than plain data of this length does", "文件要记住的太多，这么长的普通数据不会这样"),
    ("a key without a value", "有键没有值"),
    ("items for something that is no dictionary", "往不是字典的东西里放键值"),
    (
        "items for something that is no dictionary, or for one that was complete",
        "往不是字典的东西、或已经读完的字典里放键值",
    ),
    ("an item for something that is no dictionary", "往不是字典的东西里放键值"),
    ("items for something that is no list, or for one that was complete", "往不是列表的东西、或已经读完的列表里放元素"),
    ("an item for something that is no list", "往不是列表的东西里放元素"),
    ("an integer that is no number", "整数写的不是数字"),
    ("a float that is no number", "浮点数写的不是数字"),
    ("a text without its quotes", "文字缺引号"),
    ("a memo index that is no number", "memo 序号不是数字"),
    ("None", " None"),
    ("True or False", " True 或 False"),
    ("bytes or a very large integer", "一串字节或极大的整数"),
    ("nothing", "空的"),
    ("an event", "一个事件"),
    ("a frame of a stack", "调用栈的一帧"),
    ("a list", "列表"),
    ("a tuple", "元组"),
    ("a dictionary", "字典"),
    ("an event with an action", "带 action 的事件"),
    ("a block in an unknown state", "状态不认识的块"),
    ("active_allocated, active_pending_free or inactive", " active_allocated、active_pending_free 或 inactive"),
    ("negative or beyond any device", "负数，或超过任何设备的显存"),
    ("0 to 2^44 bytes", " 0 到 2^44 字节"),
    ("at the end of all addresses", "地址空间的末尾"),
    ("below 2^64 - 2^46", "小于 2^64 − 2^46"),
];

fn zh_of(words: &'static str) -> &'static str {
    WORDS.iter().find(|(en, _)| *en == words).map_or(words, |(_, zh)| zh)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text that the reader hands to one of its errors has its Chinese words.
    #[test]
    fn the_reader_has_no_words_without_a_translation() {
        let sources = [
            include_str!("pickle.rs"),
            include_str!("pickle/items.rs"),
            include_str!("pickle/values.rs"),
            include_str!("read.rs"),
            include_str!("read/values.rs"),
        ];
        let calls =
            ["damaged(\"", ".byte(\"", ".u32(\"", ".length(\"", ".line(\"", "found: \"", "legal: \"", "other, \""];
        let more = [".array::<2>(\"", ".array::<4>(\"", ".array::<8>(\"", "take(n, \""];
        let mut n = 0;
        for call in calls.into_iter().chain(more) {
            for words in sources.iter().flat_map(|text| text.split(call).skip(1)) {
                let words = words.split('"').next().unwrap();
                assert!(WORDS.iter().any(|(en, _)| *en == words), "{call}{words}");
                n += 1;
            }
        }
        assert!(n > 40, "{n}");
    }

    #[test]
    fn errors_are_told_in_both_languages() {
        let class = crate::read(b"cposix\nsystem\n.", 1 << 20).unwrap_err();
        assert_eq!(
            class.told().zh.unwrap(),
            "第 0 字节：pickle 里引用了类 posix.system；快照里只有普通数据，任何类都不会加载"
        );
        assert_eq!(class.told().en.unwrap(), class.to_string());
        let list = crate::read(b"\x80\x04K\x03.", 1 << 20).unwrap_err();
        assert_eq!(list.told().zh.unwrap(), "整个文件 是一个整数；应该是字典");
        let cut = crate::read(b"\x80\x04X\xff\x00\x00\x00abc", 1 << 20).unwrap_err();
        assert_eq!(cut.told().zh.unwrap(), "文件在第 10 字节处断了：一段文字只有一半");
    }
}
