//! The chooser in words.

use vramlab_model::sanitizer_matrix::{Fault, Says, Tool, tool_for};
use vramlab_units::{Lang, Text};

pub fn name(fault: Fault) -> Text {
    match fault {
        Fault::OutOfBounds => Text::new("越界一个元素", "out of bounds"),
        Fault::Misaligned => Text::new("未对齐的 float4", "misaligned float4"),
        Fault::SharedRace => Text::new("共享内存竞争", "shared race"),
        Fault::GlobalRace => Text::new("全局内存竞争", "global race"),
        Fault::UninitRead => Text::new("读了没写过的", "unwritten read"),
        Fault::DivergentBarrier => Text::new("有线程不到屏障", "missed barrier"),
        Fault::DoubleFree => Text::new("重复释放", "double free"),
        Fault::Leak => Text::new("没有释放", "leak"),
        Fault::SlackOverrun => Text::new("越界在块的余量里", "slack overrun"),
    }
}

/// The faulty line.
pub fn code(fault: Fault) -> &'static str {
    match fault {
        Fault::OutOfBounds => "out[i] = in[i + 1];           // i = n - 1",
        Fault::Misaligned => "float4 v = *(float4*)(in + 1);",
        Fault::SharedRace => "tile[t] = x;  y = tile[t ^ 1];  // no barrier",
        Fault::GlobalRace => "sum[0] += x;                  // every thread",
        Fault::UninitRead => "cudaMalloc(&p, n);  read<<<…>>>(p);",
        Fault::DivergentBarrier => "if (t < 16) __syncthreads();",
        Fault::DoubleFree => "cudaFree(p);  cudaFree(p);",
        Fault::Leak => "cudaMalloc(&p, n);  return 0;",
        Fault::SlackOverrun => "x = torch.empty(1000)  # x[1000] is in the block",
    }
}

/// What decides whether a tool sees it.
pub fn why(fault: Fault) -> Text {
    match fault {
        Fault::OutOfBounds => Text::new(
            "memcheck 记得每次分配从哪到哪，逐条核对访问的地址。越过一次 cudaMalloc 的末尾，哪怕一个字节也看得见。",
            "memcheck knows where each allocation begins and ends and checks every address. One byte past a cudaMalloc is seen.",
        ),
        Fault::Misaligned => Text::new(
            "16 字节的读要求地址是 16 的倍数。硬件自己也会报错，但只说“某处”；memcheck 说出是哪一行、哪个线程。",
            "A 16-byte load wants an address that is a multiple of 16. The hardware objects as well, but only says that it happened; memcheck names line and thread.",
        ),
        Fault::SharedRace => Text::new(
            "racecheck 记下两个屏障之间谁写、谁读了共享内存的哪个字。结果碰巧对了，它也照样报。",
            "racecheck notes who wrote and who read each word of shared memory between two barriers. It reports the hazard even when the result happens to be right.",
        ),
        Fault::GlobalRace => Text::new(
            "racecheck 只看共享内存，四个工具都不管全局内存上的竞争。靠原子操作，靠固定输入重复跑、比结果。",
            "racecheck looks at shared memory only, and none of the four watches races in global memory. Use atomics; run a fixed input many times and compare.",
        ),
        Fault::UninitRead => Text::new(
            "initcheck 记下全局内存哪些字节写过。新分配的显存里是旧内容，所以程序不会崩，只是结果不对。",
            "initcheck notes which bytes of global memory were written. Fresh memory holds old contents, so nothing crashes; the result is wrong.",
        ),
        Fault::DivergentBarrier => Text::new(
            "synccheck 核对块里还活着的线程是不是都到了屏障。有的卡上它会挂住，有的卡上碰巧跑完。",
            "synccheck checks that every live thread of the block reaches the barrier. Without it the kernel may hang, or end by luck.",
        ),
        Fault::DoubleFree => Text::new(
            "第二次 cudaFree 返回错误码，没人检查就没人知道。memcheck 报告每个失败的 API 调用。",
            "The second cudaFree returns an error code that nobody looks at. memcheck reports every API call that fails.",
        ),
        Fault::Leak => Text::new(
            "退出时还没释放的分配，要用 --leak-check full 才报。PyTorch 里没用：缓存分配器自己一直拿着段。",
            "Allocations that are left at the end, reported with --leak-check full only. It is no use in PyTorch, whose caching allocator keeps its segments anyway.",
        ),
        Fault::SlackOverrun => Text::new(
            "工具看见的分配是一整段 2 MiB 或 20 MiB，张量之间的界它不知道。设 PYTORCH_NO_CUDA_MEMORY_CACHING=1，一个张量一次 cudaMalloc，才有界可查。",
            "The allocation that a tool knows is the segment of 2 or 20 MiB; borders between tensors it does not. Set PYTORCH_NO_CUDA_MEMORY_CACHING=1: then each tensor is a cudaMalloc of its own.",
        ),
    }
}

/// The command to type; nothing where no tool helps.
pub fn command(fault: Fault) -> Option<String> {
    let (tool, says) = tool_for(fault)?;
    let option = match says {
        Says::ReportsWith(option) => format!(" {option}"),
        Says::Nothing | Says::Reports => String::new(),
    };
    Some(format!("compute-sanitizer --tool {}{option} ./app", tool.id()))
}

/// The finding for the chosen fault.
pub fn finding(fault: Fault, n_errors: Option<(Tool, u64)>, lang: Lang) -> String {
    let name = name(fault).get(lang);
    let Some((tool, says)) = tool_for(fault) else {
        return match lang {
            Lang::Zh => format!("{name}：四个工具都看不见。"),
            Lang::En => format!("{}: none of the four tools sees it.", capital(name)),
        };
    };
    let id = tool.id();
    let option = match says {
        Says::ReportsWith(option) => format!(" {option}"),
        Says::Nothing | Says::Reports => String::new(),
    };
    let measured = match (n_errors, lang) {
        (Some((_, n)), Lang::Zh) => format!("我们的内核上实测报了 {n} 处。"),
        (Some((_, n)), Lang::En) => format!(" On our kernel it reported {n}."),
        (None, _) => String::new(),
    };
    match lang {
        Lang::Zh => format!("{name}：用 {id}{option}。{measured}"),
        Lang::En => format!("{}: use {id}{option}.{measured}", capital(name)),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
