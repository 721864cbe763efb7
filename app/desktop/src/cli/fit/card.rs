//! The card that is asked about: one of the course, a size, or the one in this machine.

use crate::cli::Exit;
use crate::cli::fault::Fault;
use crate::cli::say::Say;
use nvml_wrapper::Nvml;
use vramlab_fit::Card;
use vramlab_shell::fit::cards;
use vramlab_units::Lang;

pub fn find(text: &str, say: &Say) -> Result<Card, Fault> {
    if text == "here" {
        return here(say);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let total_bytes = crate::cli::args::bytes(text).map_err(|_| no_size(text, say))?;
        let source = match say.lang {
            Lang::Zh => "命令行给的大小",
            Lang::En => "the size given on the command line",
        };
        let name = vramlab_units::show::bytes_binary(vramlab_units::Bytes(total_bytes));
        return Ok(Card { name, total_bytes, source: source.to_owned(), gb_per_s: None, bf16_tflop_per_s: None });
    }
    let known = cards::CARDS.iter().map(|(id, _)| id.as_str());
    cards::named(text).map(|(_, card)| card.clone()).ok_or_else(|| Fault::unknown("GPU", text, known))
}

/// A number that is no size of a card is often the number in a card's name.
fn no_size(text: &str, say: &Say) -> Fault {
    let ids: Vec<&str> = cards::CARDS.iter().map(|(id, _)| id.as_str()).collect();
    let number: String = text.chars().take_while(char::is_ascii_digit).collect();
    let near = ids.iter().find(|id| id.ends_with(text)).or_else(|| ids.iter().find(|id| id.contains(&number)));
    let list = ids.join(", ");
    let (what, hint, legal) = match say.lang {
        Lang::Zh => (
            format!("--gpu {text}：既不是课程里的卡，也不是一张卡的大小"),
            near.map(|id| format!("是不是 \"{id}\"？")),
            format!("卡有 {list}；大小要带单位，如 24GiB"),
        ),
        Lang::En => (
            format!("--gpu {text} is neither a card of the course nor the size of one"),
            near.map(|id| format!("did you mean \"{id}\"? ")),
            format!("the cards are {list}; a size has a unit, as in 24GiB"),
        ),
    };
    Fault::usage(what).help(format!("{}{legal}", hint.unwrap_or_default()))
}

/// The card in this machine, as NVML reports it.
fn here(say: &Say) -> Result<Card, Fault> {
    let missing = |why: String| {
        let help = match say.lang {
            Lang::Zh => "vramlab doctor 会说缺什么；--gpu h200 或 --gpu 24GiB 不需要显卡",
            Lang::En => "`vramlab doctor` says what is missing; --gpu h200 or --gpu 24GiB needs no card",
        };
        Fault::new(Exit::NoGpu, why).help(help)
    };
    let nvml = Nvml::init().map_err(|error| missing(format!("NVML: {error}")))?;
    let device = nvml.device_by_index(0).map_err(|error| missing(format!("NVML: {error}")))?;
    let name = device.name().map_err(|error| missing(format!("NVML: {error}")))?;
    let memory = device.memory_info().map_err(|error| missing(format!("NVML: {error}")))?;
    let known = cards::CARDS.iter().map(|(_, card)| card).find(|card| card.name == name);
    Ok(Card {
        total_bytes: memory.total,
        source: "NVML".to_owned(),
        gb_per_s: known.and_then(|card| card.gb_per_s),
        bf16_tflop_per_s: known.and_then(|card| card.bf16_tflop_per_s),
        name,
    })
}
