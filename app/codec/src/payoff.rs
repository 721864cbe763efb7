//! When packing pays: a link, a ratio, and how fast the packed bytes are opened.
//!
//! One after the other: 1 ÷ (r · link) + 1 ÷ decoder < 1 ÷ link, so decoder > link · r ÷ (r − 1). At the same time: the slower
//! of r · link and the decoder. A ring all-reduce moves 2 (n − 1) ÷ n of the bytes for each rank, sparse gradients are gathered:
//! (n − 1) · k · (value + index). Source: brief of chapter 25; Thakur et al. 2005 for the ring.

/// Plain bytes a second of a link with codec, rates in one unit. `ratio` is plain over packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    pub rate: f64,
    pub ratio: f64,
    pub decoder: f64,
}

impl Link {
    /// First transferred, then opened.
    pub fn serial(&self) -> f64 {
        1.0 / (1.0 / (self.ratio * self.rate) + 1.0 / self.decoder)
    }

    /// Opened while the next piece is on its way.
    pub fn overlapped(&self) -> f64 {
        (self.ratio * self.rate).min(self.decoder)
    }

    /// The decoder that a gain needs when one follows the other; none if the bytes do not shrink.
    pub fn least_decoder(&self) -> Option<f64> {
        (self.ratio > 1.0).then(|| self.rate * self.ratio / (self.ratio - 1.0))
    }
}

/// Gradients among `ranks` ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    pub n_values: u64,
    pub ranks: u64,
    pub value_bytes: u64,
    pub index_bytes: u64,
}

impl Exchange {
    /// Bytes that a rank sends in a ring all-reduce of everything.
    pub fn dense_bytes(&self) -> f64 {
        let n = self.ranks as f64;
        2.0 * (n - 1.0) / n * self.n_values as f64 * self.value_bytes as f64
    }

    /// How many values a density keeps, rounded up.
    pub fn kept(&self, density: f64) -> u64 {
        // A hair off, so that 0.1 of 10 is 1 and not 2.
        ((self.n_values as f64 * density * (1.0 - 1e-15)).ceil() as u64).min(self.n_values)
    }

    /// Bytes that a rank receives when `kept` values of each other rank are gathered.
    pub fn sparse_bytes(&self, kept: u64) -> f64 {
        (self.ranks - 1) as f64 * kept as f64 * (self.value_bytes + self.index_bytes) as f64
    }

    /// Density at which both move as much.
    pub fn limit(&self) -> f64 {
        2.0 * self.value_bytes as f64 / (self.ranks as f64 * (self.value_bytes + self.index_bytes) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 25: 25,557,032 fp32 parameters on 8 ranks, 0.1 %, 125 MB/s, 5 ms.
    #[test]
    fn gradients_of_the_brief() {
        let exchange = Exchange { n_values: 25_557_032, ranks: 8, value_bytes: 4, index_bytes: 4 };
        assert_eq!(exchange.dense_bytes(), 178_899_224.0);
        let sparse = exchange.sparse_bytes(exchange.kept(0.001));
        assert_eq!(sparse, 1_431_248.0);
        assert!((exchange.dense_bytes() / 125e6 - 1.431_194).abs() < 1e-6);
        assert!((sparse / 125e6 + 0.005 - 0.016_450).abs() < 1e-6);
        assert_eq!(exchange.limit(), 0.125);
        // Check question 3: 1 % of the values is 8 % of the traffic.
        let round = Exchange { n_values: 1_000_000, ..exchange };
        assert!((round.sparse_bytes(round.kept(0.01)) / round.dense_bytes() - 0.08).abs() < 1e-12);
    }

    #[test]
    fn decoders_of_the_brief() {
        let link = |rate: f64, decoder: f64| Link { rate, ratio: 1.43, decoder };
        assert!((link(55.0, 1.0).least_decoder().unwrap() - 182.9).abs() < 0.05);
        assert!((link(4.8, 1.0).least_decoder().unwrap() - 15.96).abs() < 0.005);
        let even = link(55.0, link(55.0, 1.0).least_decoder().unwrap());
        assert!((even.serial() - 55.0).abs() < 1e-9);
        assert!((even.overlapped() - 78.65).abs() < 1e-9);
        assert_eq!(link(55.0, 60.0).overlapped(), 60.0);
        assert_eq!(Link { ratio: 0.996, ..even }.least_decoder(), None, "what grows never pays");
    }
}
