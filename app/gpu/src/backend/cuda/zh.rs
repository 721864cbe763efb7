//! What the driver's codes at start-up mean, in Chinese: the sentences that a reader without a working GPU meets.

/// Meaning and what to do, for the codes with which a device does not open.
pub fn of(code: i32) -> Option<(&'static str, &'static str)> {
    Some(match code {
        2 => ("显卡的空闲显存不够", "关掉占用显存的程序再试"),
        3 => ("这个进程里的驱动没有初始化", "重新启动程序"),
        34 => (
            "载入的 libcuda 是 CUDA toolkit 里的桩库，它只供链接用",
            "把 toolkit 的 `stubs` 目录从 LD_LIBRARY_PATH 里拿掉，让程序找到驱动自己的 libcuda",
        ),
        35 => ("驱动太旧，不支持这个程序用到的 CUDA 调用", "安装 525 分支或更新的驱动"),
        46 => ("显卡正忙，或被另一个程序独占（exclusive 计算模式）", "结束那个程序，再运行一次"),
        100 => ("驱动正常，但没有找到显卡", "看看 CUDA_VISIBLE_DEVICES（设成空会藏起所有显卡）和 `nvidia-smi -L`"),
        101 => ("没有这个编号的显卡", "对照 `nvidia-smi -L` 检查 CUDA_VISIBLE_DEVICES"),
        802 => (
            "驱动在，系统还没就绪；带 NVSwitch 的机器上通常是 fabric manager 没有运行",
            "启动 nvidia-fabricmanager，再运行一次",
        ),
        803 => ("驱动的内核模块与 libcuda 版本不一致，多半是刚更新过", "重启机器"),
        804 => ("找到的是前向兼容的 libcuda，而这块显卡不支持它", "把 `compat` 目录从 LD_LIBRARY_PATH 里拿掉"),
        999 => (
            "驱动报告未知错误，常见于机器休眠之后",
            "重新加载驱动（`sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm`），或重启机器",
        ),
        _ => return None,
    })
}
