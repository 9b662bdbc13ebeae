//! Java's `SplittableRandom`, so that the same seed gives the payloads of Kafka's tool.

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(super) struct SplittableRandom {
    seed: u64,
}

impl SplittableRandom {
    pub(super) fn new(seed: i64) -> SplittableRandom {
        SplittableRandom { seed: seed.cast_unsigned() }
    }

    fn next_u32(&mut self) -> u32 {
        self.seed = self.seed.wrapping_add(GOLDEN_GAMMA);
        let mut bits = self.seed;
        bits = (bits ^ (bits >> 33)).wrapping_mul(0x62a9_d9ed_7997_05f5);
        bits = (bits ^ (bits >> 28)).wrapping_mul(0xcb24_d0a5_c88c_35b3);
        u32::try_from(bits >> 32).unwrap_or_default()
    }

    /// A number from 0 up to `bound`, which is above 0 and fits an `i32`.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let mask = bound.wrapping_sub(1);
        let drawn = self.next_u32();
        if bound & mask == 0 {
            return drawn & mask;
        }
        let mut half = drawn >> 1;
        loop {
            let rest = half % bound;
            // Beyond the last whole multiple some numbers would come more often: drawn again.
            if half + mask - rest <= u32::MAX >> 1 {
                return rest;
            }
            half = self.next_u32() >> 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_java() {
        let mut random = SplittableRandom::new(0);
        let letters: String =
            (0..16).map(|_| char::from_u32(65 + random.below(26)).unwrap()).collect();
        assert_eq!(letters, "YQHHNEBSEPDNSEIF");
        let mut random = SplittableRandom::new(5);
        let pairs: Vec<_> =
            (0..3).map(|_| (random.below(16), random.below(1_000_000_007))).collect();
        assert_eq!(pairs, [(12, 231_481_691), (13, 593_727_043), (1, 138_903_379)]);
    }
}
