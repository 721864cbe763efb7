//! Sentences of an answer that the window and the command line share.

use crate::answer::{Answer, Limit};
use crate::ask::Work;
use crate::instead::SLOW_PERCENT;
use crate::plan::Plan;
use vramlab_units::{Bytes, Localized, show};

/// `1 request`, `2 requests`.
fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

impl Plan {
    /// The extra time, or that nobody can tell.
    pub fn time_words(&self) -> Localized {
        if !self.is_time_known() {
            return Localized::both("多花多少时间说不准", "how much more time is not known");
        }
        let percent = self.percent;
        Localized::both(format!("估计多花 {percent:.0} % 的时间"), format!("about {percent:.0} % more time"))
    }
}

impl Answer {
    /// How far the work can go, in words.
    pub fn limit_words(&self) -> Option<Localized> {
        let both = |zh: String, en: String| Some(Localized::both(zh, en));
        match (self.limit?, &self.ask.work) {
            (Limit::Serve { context: 0, .. }, _) => {
                let zh = "一个请求也放不下：权重和其余部分已经超出";
                both(zh.to_owned(), "No request fits: weights and the rest are too much already".to_owned())
            }
            (Limit::Serve { requests, context, room, is_bounded }, Work::Serve(work)) => {
                let asked = work.context;
                // The model may have fewer positions than the card has room for.
                let (zh, en) = if context < room {
                    (
                        format!("（模型只有 {context} 个位置；显存够 {room}）"),
                        format!(" (the model has {context} positions; memory would do for {room})"),
                    )
                } else if is_bounded {
                    Default::default()
                } else {
                    (
                        "（只按显存算；文件没有说模型有多少个位置）".to_owned(),
                        " (by memory alone: how many positions the model has, its file does not say)".to_owned(),
                    )
                };
                let longest = count(context, "token");
                if requests == 0 {
                    return both(
                        format!("{asked} token 的请求一个也放不下；单个请求最长 {context} token{zh}"),
                        format!("Not one request of {asked} tokens fits; a single one may have {longest}{en}"),
                    );
                }
                let most = count(requests, "request");
                both(
                    format!("按 {asked} token 最多 {requests} 个请求；只有一个请求时最长 {context} token{zh}"),
                    format!("At most {most} of {asked} tokens; a single one may have {longest}{en}"),
                )
            }
            (Limit::Train { batch: 0 }, _) => {
                both("微批为 1 也放不下".to_owned(), "Not even a micro-batch of 1 fits".to_owned())
            }
            (Limit::Train { batch }, _) => {
                both(format!("每卡最大微批：{batch}"), format!("Largest micro-batch on a card: {batch}"))
            }
            (Limit::Serve { .. }, Work::Train(_)) => None,
        }
    }

    /// Why there is no plan, or what its slowness means.
    pub fn plan_words(&self) -> Option<Localized> {
        match (&self.plan, &self.ask.work) {
            (Some(plan), _) if !plan.is_time_known() => Some(Localized::both(
                "装得下；要多花多少时间说不准，因为只给了大小，没说是哪张卡。",
                "It fits; how much longer it takes is not known, since only a size was given, not a card.",
            )),
            (Some(plan), _) if plan.percent > SLOW_PERCENT => {
                let times = 1.0 + plan.percent / 100.0;
                Some(Localized::both(
                    format!("装得下，但要花 {times:.0} 倍的时间。"),
                    format!("It fits, and takes {times:.0} times as long."),
                ))
            }
            (Some(_), _) => None,
            (None, Work::Train(_)) => Some(Localized::both(
                "不改变训练的内容，重算、分块、精度和卸载怎样组合都装不下。",
                "Without changing what is trained, no mix of recompute, chunks, precision and offload makes it fit.",
            )),
            (None, Work::Serve(_)) => Some(Localized::both(
                "请求不减少、不缩短，权重格式、KV 格式、分块和卸载怎样组合都装不下。",
                "With as many requests of that length, no mix of formats, chunks and host memory makes it fit.",
            )),
        }
    }

    /// How many cards would do, unchanged; or what is left to do where nothing helps.
    pub fn cards_words(&self) -> Option<Localized> {
        if let Some(enough) = &self.enough {
            let (n, each) = (enough.ask.n_cards, show::bytes_binary(Bytes(enough.total)));
            let (zh, en) = match enough.with.len() {
                0 => ("什么都不改", "Unchanged"),
                1 => ("只加重算", "With each layer recomputed"),
                _ => ("加上重算和损失分块", "With each layer recomputed and the loss in chunks"),
            };
            let (shards_zh, shards_en) = match self.ask.work {
                Work::Train(work) => {
                    let stage = work.zero;
                    (format!("，切成分片（ZeRO-{stage}）"), format!(", in shards (ZeRO-{stage})"))
                }
                Work::Serve(_) => Default::default(),
            };
            return Some(Localized::both(
                format!("{zh}，要 {n} 张这样的卡{shards_zh}：每张 {each}"),
                format!("{en}, it takes {n} such cards{shards_en}: {each} on each"),
            ));
        }
        (self.plan.is_none() && self.instead.is_none())
            .then(|| Localized::both("要更小的模型，或更大的卡。", "That takes a smaller model, or larger cards."))
    }
}
