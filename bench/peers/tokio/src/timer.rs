//! The rows of bench/compared/timer.cpp: those with one timer have tasks in place of handlers.
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::{sleep, Instant, Sleep};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

const HOUR: Duration = Duration::from_secs(3600);

/// As good as any for deadlines that are not in order.
fn next_random(state: &mut u64) -> u64 {
    *state = *state * 48271 % 0x7fffffff;
    *state
}

/// Only a timer that was polled is known to the runtime.
async fn register(timer: &mut Pin<Box<Sleep>>) {
    poll_fn(|context| {
        let _ = timer.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
}

async fn make(n: u64, least: Duration, most: Duration) -> Vec<Pin<Box<Sleep>>> {
    let (mut state, span) = (1, (most - least).as_micros() as u64 + 1);
    let mut timers = Vec::with_capacity(n as usize);
    for _ in 0..n {
        let after = least + Duration::from_micros(next_random(&mut state) % span);
        let mut timer = Box::pin(sleep(after));
        register(&mut timer).await;
        timers.push(timer);
    }
    timers
}

async fn give_way(i: u64) {
    if i % 64 == 0 {
        yield_now().await;
    }
}

pub fn run(row: &str, mut n: u64, pending: u64) {
    runtime().block_on(async {
        match row {
            "many" => {
                while n > 0 {
                    let block = n.min(pending);
                    drop(make(block, Duration::from_secs(10), Duration::from_secs(15)).await);
                    n -= block;
                }
            }
            "expire" => {
                while n > 0 {
                    let block = n.min(pending);
                    for timer in make(block, Duration::ZERO, Duration::from_millis(1)).await {
                        timer.await;
                    }
                    n -= block;
                }
            }
            _ => {
                let _others = make(pending, HOUR, 2 * HOUR).await;
                one_timer(row, n).await;
            }
        }
    });
}

async fn one_timer(row: &str, n: u64) {
    let mut kept = Box::pin(sleep(HOUR));
    let mut state = 1;
    for i in 0..n {
        match row {
            "cancel" => {
                let mut timer = Box::pin(sleep(HOUR));
                register(&mut timer).await;
                drop(timer);
                give_way(i).await;
            }
            "rearm" => {
                let after = HOUR + Duration::from_micros(next_random(&mut state));
                kept.as_mut().reset(Instant::now() + after);
                register(&mut kept).await;
                give_way(i).await;
            }
            "due_awaited" => sleep(Duration::ZERO).await,
            _ => std::process::exit(2),
        }
    }
}
