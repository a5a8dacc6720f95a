//! The same as bench/redis/workload.hpp.

pub const SKIPPED: i32 = 77;
pub const MESSAGES_AT_ONCE: u64 = 1000;
pub const VALUE: &str = "the value has thirty-two bytes..";
pub const CHANNEL: &str = "news";
pub const SCRIPT: &str = "for i = 1, 1000 do redis.call('PUBLISH', 'news', ARGV[1]) end return 1";

pub const SCRIPT_FOR_MANY: &str =
    "for i = 0, 999 do redis.call('PUBLISH', 'news:' .. i % ARGV[2], ARGV[1]) end return 1";

pub const STREAM: &str = "orders";
pub const GROUP: &str = "billing";
pub const CONSUMER: &str = "worker-1";
pub const FIELD: &str = "order";
pub const ENTRIES_AT_ONCE: usize = 100;
pub const SCRIPT_THAT_ADDS: &str =
    "for i = 1, 1000 do redis.call('XADD', 'orders', '*', 'order', ARGV[1]) end return 1";

pub const SMALL_KEY: &str = "small";
pub const SMALL_SIZE: usize = 64;
pub const LARGE_KEY: &str = "large";
pub const LARGE_SIZE: usize = 16 * 1024 * 1024;

pub fn key_of(caller: u64) -> String {
    format!("key:{}", 10_000 + caller % 10_000)
}

pub struct Settings {
    pub way: String,
    pub mode: String,
    pub n: u64,
    pub callers: u64,
    pub address: String,
}

impl Settings {
    pub fn given() -> Settings {
        let given: Vec<String> = std::env::args().collect();
        if given.len() != 6 {
            std::process::exit(2);
        }
        let number = |i: usize| given[i].parse().unwrap();
        Settings {
            way: given[1].clone(),
            mode: given[2].clone(),
            n: number(3),
            callers: number(4),
            address: given[5].clone(),
        }
    }
    /// Of the caller with this number.
    pub fn share(&self, caller: u64) -> u64 {
        self.n / self.callers + u64::from(caller < self.n % self.callers)
    }
    pub fn scripts(&self) -> u64 {
        self.n.div_ceil(MESSAGES_AT_ONCE)
    }
}
