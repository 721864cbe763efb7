//! What the number line says.

use super::super::Answer;
use super::Found;
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub const LINE: Text = Text::new("数轴：格点在上，块里的值在下", "The format's numbers, values below");
pub const PLOT: Text = Text::new("按大小：横线是格点，每列一个值", "By size: lines are the format's numbers");
pub const HOW: Text = Text::new(
    "拖右边的把手，或按上下键改离群值；左右键走到别的值。",
    "Drag the handle at the right, or press up and down, for the outlier; left and right walk along the values.",
);

/// A power of two, as a fraction below 1.
pub fn power(exponent: f64) -> String {
    let size = exponent.abs().exp2();
    if exponent < 0.0 { format!("1/{}", number(size)) } else { number(size) }
}

pub fn shift(value: f64) -> String {
    format!("× {}", power(value))
}

pub fn outlier(value: f64, lang: Lang) -> String {
    match lang {
        _ if value >= 1.0 => with_unit(value, "σ"),
        Lang::Zh => "没有".to_owned(),
        Lang::En => "none".to_owned(),
    }
}

pub fn last(value: f64, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("最大的格点 {}", number(value)),
        Lang::En => format!("the largest, {}", number(value)),
    }
}

/// The value under the cursor.
pub fn value(found: &Found, column: usize, lang: Lang) -> String {
    let (Some(value), Some(kept)) = (found.values.get(column), found.stored.get(column)) else {
        return String::new();
    };
    let (x, y, off) = (number(*value), number(*kept), number(kept - value));
    let n = column + 1;
    match lang {
        Lang::Zh => format!("第 {n} 个：{x} 存成 {y}，差 {off}。"),
        Lang::En => format!("Value {n}: {x} is stored as {y}, off by {off}."),
    }
}

pub fn finding(format: &str, outlier: f64, answer: &Answer, lang: Lang) -> String {
    let scale = power(answer.num("scale_exponent"));
    let error = with_unit(answer.num("rms_error"), "σ");
    let (zero, cut) = (answer.count("n_zero"), answer.count("n_cut"));
    let with = match lang {
        _ if outlier <= 0.0 => String::new(),
        Lang::Zh => format!("，有一个 {} 的离群值", with_unit(outlier, "σ")),
        Lang::En => format!(" with an outlier of {}", with_unit(outlier, "σ")),
    };
    match lang {
        Lang::Zh => {
            format!("{format}，缩放 {scale}{with}：32 个值里 {zero} 个变成 0，{cut} 个被截，其余误差 {error}。")
        }
        Lang::En => {
            format!(
                "{format} under a scale of {scale}{with}: of 32 values {zero} became 0 and {cut} were cut; rms error {error}."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers() {
        assert_eq!([power(-7.0), power(0.0), power(5.0)], ["1/128", "1", "32"]);
    }
}
