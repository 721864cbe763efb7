//! Speculative decoding: a small model drafts, the large one checks a whole draft in one step.
//!
//! Tokens of a checked draft E = (1 − α^(γ+1)) ÷ (1 − α); speed-up S = E ÷ (γc + v), where v is the time of checking γ + 1
//! tokens over that of one. Assumption: each drafted token is accepted with the same probability α, independently; v = 1
//! holds only while a step is bound by memory. Beyond the knee a check takes as long as it has tokens: with a batch of b and a
//! knee at k tokens, v = max(1, b(γ + 1) ÷ k) ÷ max(1, b ÷ k). Source: Leviathan et al. 2023, arXiv 2211.17192, equation 1 and theorem 3.8.

use crate::Problem;

/// Longest draft that is considered.
pub const MAX_DRAFT: u32 = 64;

/// α, and c as time of a draft token over that of a target step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draft {
    pub acceptance: f64,
    pub cost: f64,
    /// Time of checking γ + 1 tokens over that of one; 1 while a step is bound by memory.
    pub verify: f64,
    /// Tokens of one sequence that a step checks before sums decide: the knee over the batch. Infinite: never.
    pub free_tokens: f64,
}

impl Draft {
    pub fn new(acceptance: f64, cost: f64) -> Result<Self, Problem> {
        if !(0.0..=1.0).contains(&acceptance) {
            return Err(Problem::new(
                "acceptance",
                format!("接受率 {acceptance} 不在 0 到 1 之间"),
                format!("acceptance = {acceptance} must be a number from 0 to 1"),
            ));
        }
        if !(cost >= 0.0 && cost.is_finite()) {
            return Err(Problem::new(
                "draft_cost",
                format!("草稿开销 {cost} 不能是负数"),
                format!("draft_cost = {cost} must be a number from 0"),
            ));
        }
        Ok(Self { acceptance, cost, verify: 1.0, free_tokens: f64::INFINITY })
    }

    /// Tokens that one checked draft of `gamma` gives, the corrected one included.
    pub fn tokens(&self, gamma: u32) -> f64 {
        // A sum, so that α = 1 is no special case.
        (0..=gamma).map(|power| self.acceptance.powi(power as i32)).sum()
    }

    /// Time of checking a draft of `gamma` over a plain step.
    pub fn check(&self, gamma: u32) -> f64 {
        let steps = |tokens: f64| (tokens / self.free_tokens).max(1.0);
        if gamma == 0 { 1.0 } else { self.verify * steps(f64::from(gamma) + 1.0) / steps(1.0) }
    }

    /// Wall-clock factor over decoding token by token.
    pub fn speedup(&self, gamma: u32) -> f64 {
        self.tokens(gamma) / (f64::from(gamma) * self.cost + self.check(gamma))
    }

    /// The longest draft that is checked in the time of one step; none if not even one token is.
    pub fn longest_free(&self) -> Option<u32> {
        let free = self.free_tokens.floor().min(f64::from(MAX_DRAFT) + 1.0) as u32;
        free.checked_sub(1).filter(|gamma| *gamma > 0)
    }

    /// Sums over those of plain decoding; `flops` is the draft model's work over the target's.
    pub fn arithmetic(&self, gamma: u32, flops: f64) -> f64 {
        (f64::from(gamma) * flops + f64::from(gamma) + 1.0) / self.tokens(gamma)
    }

    /// The draft length up to `most` with the largest speed-up, the shortest of equals.
    pub fn best(&self, most: u32) -> u32 {
        (1..=most.min(MAX_DRAFT)).fold(0, |best, gamma| {
            let gain = self.speedup(gamma) - self.speedup(best);
            if gain > 1e-12 { gamma } else { best }
        })
    }

    /// Draft cost at which a draft of `gamma` gains nothing: (E − v) ÷ γ.
    pub fn cost_limit(&self, gamma: u32) -> Option<f64> {
        (gamma > 0).then(|| (self.tokens(gamma) - self.check(gamma)) / f64::from(gamma)).filter(|cost| *cost >= 0.0)
    }

    /// Acceptance from which on a draft of `gamma` gains; none if even certainty does not.
    pub fn acceptance_limit(&self, gamma: u32) -> Option<f64> {
        let gains = |acceptance: f64| Self { acceptance, ..*self }.speedup(gamma) >= 1.0;
        if gamma == 0 || !gains(1.0) {
            return None;
        }
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        if gains(low) {
            return Some(0.0);
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if gains(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(acceptance: f64, cost: f64) -> Draft {
        Draft::new(acceptance, cost).unwrap()
    }

    #[track_caller]
    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() <= expected.abs() * 1e-6, "{got} and not {expected}");
    }

    /// Brief 21, first vector.
    #[test]
    fn the_vectors_of_the_brief() {
        for (alpha, gamma, tokens) in [(0.8, 4, 3.3616), (0.6, 5, 2.38336), (0.0, 4, 1.0), (1.0, 4, 5.0)] {
            near(draft(alpha, 0.0).tokens(gamma), tokens);
        }
        near(draft(0.8, 0.05).speedup(4), 2.801_333);
        near(draft(0.3, 0.3).speedup(4), 0.647_773);
        near(draft(0.5, 0.3).speedup(3), 1.875 / 1.9);
        assert_eq!(draft(0.8, 0.05).best(16), 8);
        near(draft(0.8, 0.05).speedup(8), 3.092_080);
        assert_eq!(draft(0.6, 0.1).best(16), 3);
        assert_eq!(draft(0.3, 0.3).best(16), 0, "ties take the smaller");
    }

    #[test]
    fn break_even_is_where_nothing_is_gained() {
        let one = draft(0.8, 0.05);
        let cost = one.cost_limit(4).unwrap();
        near(cost, (3.3616 - 1.0) / 4.0);
        near(draft(0.8, cost).speedup(4), 1.0);
        let acceptance = one.acceptance_limit(4).unwrap();
        near(draft(acceptance, 0.05).speedup(4), 1.0);
        assert_eq!(draft(0.5, 1.5).acceptance_limit(1), None, "a draft that costs more than a step");
        assert_eq!(draft(0.5, 0.0).acceptance_limit(3), Some(0.0), "a draft for nothing");
        // A check that takes twice as long as a step moves the limit.
        let slow = Draft { verify: 2.0, ..one };
        near(slow.speedup(4), 3.3616 / 2.2);
        assert!(slow.acceptance_limit(4) > one.acceptance_limit(4));
    }

    /// 206 tokens are free on an H200: a batch of 64 checks 3.2 tokens each, one of 8 checks 25.
    #[test]
    fn beyond_the_knee_a_check_costs_its_tokens() {
        let of = |batch: f64| Draft { free_tokens: 206.0 / batch, ..draft(0.8, 0.05) };
        near(of(64.0).check(4), 5.0 * 64.0 / 206.0);
        near(of(64.0).speedup(4), 3.3616 / (0.2 + 320.0 / 206.0));
        assert_eq!((of(8.0).check(8), of(64.0).longest_free(), of(8.0).longest_free()), (1.0, Some(2), Some(24)));
        // A step that is bound by sums already: checking n tokens takes n times as long, and nothing is gained.
        near(of(412.0).check(3), 4.0);
        assert_eq!((of(412.0).best(16), of(412.0).longest_free()), (0, None));
        assert!(of(8.0).best(16) > of(64.0).best(16));
        assert_eq!(draft(0.8, 0.05).longest_free(), Some(MAX_DRAFT));
    }

    #[test]
    fn ranges_are_named() {
        for alpha in [-0.1, 1.1, f64::NAN] {
            assert_eq!(Draft::new(alpha, 0.1).unwrap_err().field, "acceptance");
        }
        assert!(Draft::new(1.5, 0.1).unwrap_err().to_string().contains("from 0 to 1"));
        assert_eq!(Draft::new(0.5, -1.0).unwrap_err().field, "draft_cost");
    }
}
