//! What a finding means and what to do about it, in both languages.

use super::{Finding, Kind};
use vramlab_units::Localized;

/// One or two sentences on a finding: what happened, and where to look.
pub fn explain(finding: &Finding) -> Localized {
    let place = finding.site.line.clone().unwrap_or_else(|| finding.site.kernel.clone());
    match &finding.kind {
        Kind::OutOfBounds { beyond } => out_of_bounds(finding, &place, beyond.as_deref()),
        Kind::Misaligned => Localized::both(
            format!(
                "{place}：一次 {0} 字节的访问，地址不能被 {0} 整除。float4 之类的指针要从 {0} 字节对齐的地方开始。",
                finding.bytes
            ),
            format!(
                "{place}: an access of {0} bytes at an address that {0} does not divide. A pointer to float4 and its like \
                 must start on a multiple of its own size.",
                finding.bytes
            ),
        ),
        Kind::Uninitialised => Localized::both(
            format!("{place}：读了从来没有写过的显存。cudaMalloc 不清零，里面是别人留下的东西。"),
            format!(
                "{place}: memory is read that was never written. cudaMalloc clears nothing: it holds what was left there."
            ),
        ),
        Kind::Race { other } => {
            let other = other.line.clone().unwrap_or_else(|| other.kernel.clone());
            Localized::both(
                format!("{place} 写、{other} 读共享内存的同一个字，中间没有屏障，谁先谁后没人管。加 __syncthreads()。"),
                format!(
                    "{place} and {other} touch one word of shared memory, and nothing says which comes first. A \
                     __syncthreads() between them does."
                ),
            )
        }
        Kind::Barrier { reason } => Localized::both(
            format!("{place}：屏障等不齐（{reason}）。该来的线程必须都能走到同一个屏障。"),
            format!(
                "{place}: a barrier waits for threads that cannot come ({reason}). All who must come need a way to the same barrier."
            ),
        ),
        Kind::Leak => Localized::both(
            format!("有 {} 字节申请了没有还。看分配时的调用栈，找它的主人。", finding.bytes),
            format!(
                "{} bytes were allocated and never freed. The backtrace of the allocation names the owner.",
                finding.bytes
            ),
        ),
        Kind::Call { name, error, is_echo: true } => Localized::both(
            format!("{name} 返回 {error}：前面的错误已经毁了上下文，这不是另一个错。"),
            format!("{name} returns {error}: an earlier fault has ended the context. This is not a fault of its own."),
        ),
        Kind::Call { name, error, is_echo: false } => Localized::both(
            format!("驱动拒绝了 {name}：{error}。同一块还了两次，或指针不是它给的。"),
            format!(
                "The driver refused {name}: {error}. A block was freed twice, or the pointer was never one of its own."
            ),
        ),
    }
}

fn out_of_bounds(finding: &Finding, place: &str, beyond: Option<&str>) -> Localized {
    let (zh, en) = match beyond {
        Some(beyond) => (format!("（{beyond}）"), format!(" ({beyond})")),
        None => (String::new(), String::new()),
    };
    let (access, bytes) = (&finding.access, finding.bytes);
    Localized::both(
        format!("{place}：{access}，{bytes} 字节，落在所有分配之外{zh}。看最大的下标和边界判断。"),
        format!(
            "{place}: a {access} of {bytes} bytes outside of every allocation{en}. Look at the largest index and at the guard."
        ),
    )
}
