//! Request streams by distribution: when they come, how long they are. The same seed, the same stream.
//!
//! Gaps are exponential (a Poisson stream) or gamma with a burstiness, as serving benchmarks have it: 1 is Poisson, below it
//! requests come in bursts, above it evenly. Lengths are fixed, uniform or log-normal, cut to their range.
//! Source of the burstiness: vLLM's serving benchmark (`--burstiness`, shape of the gamma distribution).

use crate::request::{MAX_REQUESTS, MAX_TOKENS};
use crate::{Problem, Random, Request};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gaps {
    /// All at time 0.
    AtOnce,
    /// One every 1 ÷ rate.
    Even { rate: f64 },
    /// Gamma gaps with mean 1 ÷ rate; a burstiness of 1 is a Poisson stream.
    Gamma { rate: f64, burstiness: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    Fixed(u32),
    /// Both ends included.
    Uniform(u32, u32),
    /// Mean and the spread σ of the logarithm, cut to 1 … `most`.
    LogNormal {
        mean: f64,
        sigma: f64,
        most: u32,
    },
}

impl Length {
    fn draw(self, random: &mut Random) -> u32 {
        match self {
            Self::Fixed(n) => n,
            Self::Uniform(low, high) => {
                let span = f64::from(high - low) + 1.0;
                (low + (random.unit() * span) as u32).min(high)
            }
            Self::LogNormal { mean, sigma, most } => {
                // The mean of a log-normal is exp(μ + σ² ÷ 2).
                let mu = mean.ln() - sigma * sigma / 2.0;
                (mu + sigma * random.normal()).exp().round().clamp(1.0, f64::from(most)) as u32
            }
        }
    }

    fn check(self, field: &'static str) -> Result<(), Problem> {
        let is_right = match self {
            Self::Fixed(n) => (1..=MAX_TOKENS).contains(&n),
            Self::Uniform(low, high) => low >= 1 && low <= high && high <= MAX_TOKENS,
            Self::LogNormal { mean, sigma, most } => {
                (1.0..=f64::from(MAX_TOKENS)).contains(&mean)
                    && (0.0..=4.0).contains(&sigma)
                    && (1..=MAX_TOKENS).contains(&most)
            }
        };
        let zh = format!("长度应在 1 到 {MAX_TOKENS} 之间，先小后大；σ 在 0 到 4 之间");
        let en = format!("lengths must be from 1 to {MAX_TOKENS}, the smaller first, and sigma from 0 to 4");
        if is_right { Ok(()) } else { Err(Problem::new(field, zh, en)) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    pub n_requests: usize,
    pub gaps: Gaps,
    pub prompt: Length,
    pub output: Length,
    pub seed: u64,
}

impl Stream {
    pub fn requests(&self) -> Result<Vec<Request>, Problem> {
        self.check()?;
        // Streams of their own: another distribution of lengths leaves the arrivals as they were.
        let mut seeds = Random::new(self.seed);
        let [mut gaps, mut prompts, mut outputs] = [0; 3].map(|_: i32| Random::new(seeds.word()));
        let mut now = 0.0;
        let requests = (0..self.n_requests).map(|idx| {
            if idx > 0 {
                now += match self.gaps {
                    Gaps::AtOnce => 0.0,
                    Gaps::Even { rate } => 1.0 / rate,
                    Gaps::Gamma { rate, burstiness } => gaps.gamma(burstiness) / (rate * burstiness),
                };
            }
            Request::new(now, self.prompt.draw(&mut prompts), self.output.draw(&mut outputs))
        });
        Ok(requests.collect())
    }

    fn check(&self) -> Result<(), Problem> {
        if !(1..=MAX_REQUESTS).contains(&self.n_requests) {
            let en = format!("n_requests = {} must be an integer from 1 to {MAX_REQUESTS}", self.n_requests);
            return Err(Problem::new("n_requests", format!("请求数应在 1 到 {MAX_REQUESTS} 之间"), en));
        }
        let (rate, burstiness) = match self.gaps {
            Gaps::AtOnce => (1.0, 1.0),
            Gaps::Even { rate } => (rate, 1.0),
            Gaps::Gamma { rate, burstiness } => (rate, burstiness),
        };
        if !(1e-6..=1e9).contains(&rate) {
            let en = format!("rate = {rate} must be a number from 1e-6 to 1e9");
            return Err(Problem::new("rate", format!("到达率 {rate} 不在 1e-6 到 1e9 之间"), en));
        }
        if !(0.01..=1000.0).contains(&burstiness) {
            let en = format!("burstiness = {burstiness} must be a number from 0.01 to 1000");
            return Err(Problem::new("burstiness", format!("burstiness {burstiness} 不在 0.01 到 1000 之间"), en));
        }
        self.prompt.check("prompt")?;
        self.output.check("output")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(gaps: Gaps) -> Stream {
        let output = Length::LogNormal { mean: 200.0, sigma: 1.0, most: 4096 };
        Stream { n_requests: 50_000, gaps, prompt: Length::Uniform(10, 30), output, seed: 7 }
    }

    /// Mean and coefficient of variation of the gaps: 1 ÷ rate, and 1 ÷ √shape for a gamma distribution.
    #[test]
    fn gaps_have_the_mean_and_the_spread_that_are_asked_for() {
        for burstiness in [0.25, 1.0, 4.0] {
            let requests = stream(Gaps::Gamma { rate: 20.0, burstiness }).requests().unwrap();
            let gaps: Vec<f64> = requests.windows(2).map(|pair| pair[1].arrival - pair[0].arrival).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean * 20.0 - 1.0).abs() < 0.03, "{burstiness}: {mean}");
            assert!((variance.sqrt() / mean * f64::sqrt(burstiness) - 1.0).abs() < 0.03, "{burstiness}");
        }
        let even = stream(Gaps::Even { rate: 4.0 }).requests().unwrap();
        assert!((even[8].arrival - 2.0).abs() < 1e-12);
        assert!(stream(Gaps::AtOnce).requests().unwrap().iter().all(|one| one.arrival == 0.0));
    }

    #[test]
    fn lengths_have_their_range_and_mean() {
        let requests = stream(Gaps::AtOnce).requests().unwrap();
        let mean = |of: fn(&Request) -> u32| requests.iter().map(|one| f64::from(of(one))).sum::<f64>() / 50_000.0;
        assert!(requests.iter().all(|one| (10..=30).contains(&one.prompt) && (1..=4096).contains(&one.output)));
        assert!(requests.iter().any(|one| one.prompt == 10) && requests.iter().any(|one| one.prompt == 30));
        assert!((mean(|one| one.prompt) - 20.0).abs() < 0.1);
        assert!((mean(|one| one.output) / 200.0 - 1.0).abs() < 0.03);
    }

    #[test]
    fn a_seed_is_a_stream() {
        let one = stream(Gaps::Gamma { rate: 2.0, burstiness: 1.0 });
        assert_eq!(one.requests(), one.requests());
        assert_ne!(Stream { seed: 8, ..one }.requests(), one.requests());
        let fixed = Stream { output: Length::Fixed(5), ..one }.requests().unwrap();
        assert_eq!(fixed[100].arrival, one.requests().unwrap()[100].arrival);
    }

    #[test]
    fn ranges_are_named() {
        let one = stream(Gaps::AtOnce);
        let field = |stream: Stream| stream.requests().unwrap_err().field;
        assert_eq!(field(Stream { n_requests: 0, ..one }), "n_requests");
        assert_eq!(field(Stream { gaps: Gaps::Even { rate: 0.0 }, ..one }), "rate");
        assert_eq!(field(Stream { gaps: Gaps::Gamma { rate: f64::NAN, burstiness: 1.0 }, ..one }), "rate");
        assert_eq!(field(Stream { gaps: Gaps::Gamma { rate: 1.0, burstiness: 0.0 }, ..one }), "burstiness");
        assert_eq!(field(Stream { prompt: Length::Uniform(3, 2), ..one }), "prompt");
        assert_eq!(field(Stream { output: Length::Fixed(0), ..one }), "output");
    }
}
