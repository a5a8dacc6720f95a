//! The rows of bench/compared/tasks.cpp: Semaphore and JoinSet.
use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::{yield_now, JoinSet};

async fn take_and_give_back(s: Arc<Semaphore>, n: u64, gives_way: bool) {
    for _ in 0..n {
        let _permit = s.acquire().await.unwrap();
        if gives_way {
            yield_now().await;
        }
    }
}

pub fn run(row: &str, n: u64) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let one = Arc::new(Semaphore::new(1));
        match row {
            "permit" => tokio::spawn(take_and_give_back(one, n, false)).await.unwrap(),
            "permit_handed" => {
                let first = tokio::spawn(take_and_give_back(one.clone(), n / 2, true));
                let second = tokio::spawn(take_and_give_back(one, n / 2, true));
                first.await.unwrap();
                second.await.unwrap();
            }
            "scope" => {
                let mut left = n;
                while left > 0 {
                    let some = left.min(100);
                    left -= some;
                    let mut all = JoinSet::new();
                    for _ in 0..some {
                        all.spawn(async {});
                    }
                    while all.join_next().await.is_some() {}
                }
            }
            _ => std::process::exit(2),
        }
    });
}
