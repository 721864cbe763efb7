//! The chooser in words.

use super::measured::Run;
use vramlab_model::sanitizer_matrix::{Fault, Says, tool_for};
use vramlab_units::{Lang, Text};

pub fn name(fault: Fault) -> Text {
    match fault {
        Fault::OutOfBounds => Text::new("越界一个元素", "out of bounds"),
        Fault::PastShared => Text::new("越过共享数组", "past shared array"),
        Fault::Misaligned => Text::new("未对齐的 float4", "misaligned float4"),
        Fault::UseAfterFree => Text::new("释放后再写", "use after free"),
        Fault::SharedRace => Text::new("共享内存竞争", "shared race"),
        Fault::GlobalRace => Text::new("全局内存竞争", "global race"),
        Fault::Uninitialised => Text::new("读了没写过的", "uninitialised"),
        Fault::DivergentBarrier => Text::new("有线程不到屏障", "missed barrier"),
        Fault::TwoBarriers => Text::new("两个分支各一个屏障", "two barriers"),
        Fault::SyncwarpMask => Text::new("掩码写错的屏障", "wrong mask"),
        Fault::DoubleFree => Text::new("重复释放", "double free"),
        Fault::Leak => Text::new("没有释放", "leak"),
        Fault::InsideAPool => Text::new("越界，但在池里", "inside a pool"),
    }
}

/// The faulty line.
pub fn code(fault: Fault) -> &'static str {
    match fault {
        Fault::OutOfBounds => "if (i <= N) out[i] = 1.0f;",
        Fault::PastShared => "__shared__ float row[N];  row[t + 1] = t;",
        Fault::Misaligned => "float4 v = *(const float4*)(in + 4 * t + 1);",
        Fault::UseAfterFree => "cudaFree(p);  set_all<<<1, N>>>(p, N);",
        Fault::DoubleFree => "cudaFree(p);  cudaFree(p);",
        Fault::Leak => "cudaMalloc(&p, n);  return 0;",
        Fault::SharedRace => "row[t] = t;  out[t] = row[(t + 1) % N];",
        Fault::GlobalRace => "*total = *total + 1;",
        Fault::Uninitialised => "cudaMalloc(&in, n);  sum_into<<<1, 1>>>(in, out);",
        Fault::DivergentBarrier => "if (t % 32 < 16) { __syncthreads(); … }",
        Fault::TwoBarriers => "if (t % 32 < 16) __syncthreads(); else __syncthreads();",
        Fault::SyncwarpMask => "if (t % 32 < 16) __syncwarp(0xffffffff);",
        Fault::InsideAPool => "cudaMalloc(&pool, 2 * N);  set_all<<<2, N>>>(pool, N + 1);",
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
        Fault::PastShared => Text::new(
            "共享内存里的数组也有界。memcheck 报出是哪个线程、越过了多少；越到硬件给这个块的共享内存之外，才会自己出错。",
            "Arrays in shared memory have ends too, and memcheck names the thread that went past one. By itself it only fails past what the hardware gave the block.",
        ),
        Fault::UseAfterFree => Text::new(
            "释放过的地址不属于任何分配，memcheck 一眼就看见。PyTorch 里不是这样：块还给了缓存，地址仍在段里。",
            "A freed address belongs to no allocation, and memcheck sees that. Not so in PyTorch, where the block went back to the cache and its address is still inside a segment.",
        ),
        Fault::SharedRace => Text::new(
            "racecheck 记下两个屏障之间谁写、谁读了共享内存的哪个字。结果碰巧对了，它也照样报。",
            "racecheck notes who wrote and who read each word of shared memory between two barriers. It reports the hazard even when the result happens to be right.",
        ),
        Fault::GlobalRace => Text::new(
            "racecheck 只看共享内存，四个工具都不管全局内存上的竞争。靠原子操作，靠固定输入重复跑、比结果。",
            "racecheck looks at shared memory only, and none of the four watches races in global memory. Use atomics; run a fixed input many times and compare.",
        ),
        Fault::Uninitialised => Text::new(
            "initcheck 记下全局内存哪些字节写过。新分配的显存里是旧内容，所以程序不会崩，只是结果不对。",
            "initcheck notes which bytes of global memory were written. Fresh memory holds old contents, so nothing crashes; the result is wrong.",
        ),
        Fault::DivergentBarrier => Text::new(
            "synccheck 该管这个，可实测一声不吭：另一半线程已经结束，结束的线程算作到了。不用工具，它在这块卡上照样跑完。",
            "This is synccheck's business, and yet it said nothing: the other half of the threads had ended, and ended threads count as arrived. Without a tool the kernel ends as if nothing were wrong.",
        ),
        Fault::TwoBarriers => Text::new(
            "两半线程各等各的，谁也等不到：内核停不下来。四个工具下也一样，一个字都没打印。这时只能结束进程，换小的输入，再看代码里的分支。",
            "Each half waits for the other and the kernel never ends, under all four tools alike, and none prints a word. End the process, take a smaller input, and read the branches of the code.",
        ),
        Fault::SyncwarpMask => Text::new(
            "掩码点了名的线程没来，synccheck 报 Invalid arguments。不用工具，它在这块卡上照样跑完。",
            "The mask names threads that do not come, and synccheck says Invalid arguments. Without the tool the kernel ends as if nothing were wrong.",
        ),
        Fault::DoubleFree => Text::new(
            "第二次 cudaFree 返回错误码，没人检查就没人知道。memcheck 报告每个失败的 API 调用。",
            "The second cudaFree returns an error code that nobody looks at. memcheck reports every API call that fails.",
        ),
        Fault::Leak => Text::new(
            "退出时还没释放的分配，要用 --leak-check full 才报。PyTorch 里没用：缓存分配器自己一直拿着段。",
            "Allocations that are left at the end, reported with --leak-check full only. It is no use in PyTorch, whose caching allocator keeps its segments anyway.",
        ),
        Fault::InsideAPool => Text::new(
            "工具只认得 cudaMalloc 的界，池里块与块之间的界它不知道。PyTorch 的段有 2 MiB、20 MiB，张量之间的越界都在段内。设 PYTORCH_NO_CUDA_MEMORY_CACHING=1，一个张量一次 cudaMalloc，才有界可查。",
            "A tool knows the ends of a cudaMalloc and not the borders between blocks of a pool. PyTorch's segments have 2 or 20 MiB, and tensors overrun each other inside them. Set PYTORCH_NO_CUDA_MEMORY_CACHING=1: then each tensor is a cudaMalloc of its own.",
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
pub fn finding(fault: Fault, run: Option<&Run>, lang: Lang) -> String {
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
    let measured = match (run, lang) {
        (Some(run), Lang::Zh) if run.hangs => "我们的内核停不下来，它什么也没报。".to_owned(),
        (Some(run), Lang::En) if run.hangs => " Our kernel never ended, and it reported nothing.".to_owned(),
        (Some(run), Lang::Zh) => format!("我们的内核上实测报了 {} 处。", run.n_errors),
        (Some(run), Lang::En) => format!(" On our kernel it reported {}.", run.n_errors),
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
