//! Numbers from which tests with an oracle make their random programs.

/// Numbers that are the same in every run: a xorshift generator; its seed is not 0.
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// One below `limit`.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Whether it is one time in `n`.
    pub const fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
