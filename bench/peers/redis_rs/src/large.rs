use crate::workload::{Settings, LARGE_KEY, LARGE_SIZE, SMALL_KEY, SMALL_SIZE};
use crate::{config, connect};
use redis::aio::MultiplexedConnection;
use redis::AsyncCommands;
use std::time::Instant;

async fn read_large(mut connection: MultiplexedConnection) {
    loop {
        let value: Vec<u8> = connection.get(LARGE_KEY).await.unwrap();
        assert_eq!(value.len(), LARGE_SIZE);
    }
}

/// With `is_apart` the large values are read on a connection of their own.
pub async fn small(s: &Settings, is_apart: bool) {
    let mut connection = connect(s, config("")).await;
    let text = "s".repeat(SMALL_SIZE);
    let () = connection.set(SMALL_KEY, &text).await.unwrap();
    let _: usize = connection.setrange(LARGE_KEY, LARGE_SIZE as isize - 1, "x").await.unwrap();
    let others = if is_apart { connect(s, config("")).await } else { connection.clone() };
    for _ in 0..s.callers {
        tokio::spawn(read_large(others.clone()));
    }
    let mut all = Vec::with_capacity(s.n as usize);
    for _ in 0..s.n {
        let begun = Instant::now();
        let value: String = connection.get(SMALL_KEY).await.unwrap();
        all.push(begun.elapsed().as_nanos());
        assert_eq!(value, text);
    }
    all.sort();
    let us = |part: f64| all[(part * (all.len() - 1) as f64) as usize] as f64 / 1000.0;
    println!("p50 {:.1} us, p99 {:.1} us, longest {:.1} us", us(0.5), us(0.99), us(1.0));
    println!("{:.1} us", us(0.99));
}
