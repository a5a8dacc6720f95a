//! The rows of bench/compared/locks.cpp. It has no condition variable and no latch: programs take a Notify beside a
//! Mutex, or beside a counter. A limiter of rates is in other crates.
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore};
use tokio::task::yield_now;

async fn lock_and_unlock(m: Arc<Mutex<()>>, n: u64, gives_way: bool) {
    for _ in 0..n {
        let _guard = m.lock().await;
        if gives_way {
            yield_now().await;
        }
    }
}
async fn read_and_unlock(m: Arc<RwLock<()>>, n: u64, gives_way: bool) {
    for _ in 0..n {
        let _guard = m.read().await;
        if gives_way {
            yield_now().await;
        }
    }
}
async fn write_and_unlock(m: Arc<RwLock<()>>, n: u64) {
    for _ in 0..n {
        let _guard = m.write().await;
        yield_now().await;
    }
}
async fn take_and_give_back(s: Arc<Semaphore>, n: u64) {
    for _ in 0..n {
        let _permit = s.acquire().await.unwrap();
    }
}
async fn take_and_give(from: Arc<Semaphore>, to: Arc<Semaphore>, n: u64) {
    for _ in 0..n {
        from.acquire().await.unwrap().forget();
        to.add_permits(1);
    }
}
async fn wake_each_other(mine: Arc<Notify>, other: Arc<Notify>, n: u64) {
    for _ in 0..n {
        mine.notified().await;
        other.notify_one();
    }
}
async fn take_turns(turn: Arc<Mutex<u64>>, changed: Arc<Notify>, mine: u64, n: u64) {
    for _ in 0..n {
        let mut now = turn.lock().await;
        while *now != mine {
            let notified = changed.notified();
            drop(now);
            notified.await;
            now = turn.lock().await;
        }
        *now = 1 - mine;
        changed.notify_one();
    }
}
async fn count_down(n: u64) {
    for _ in 0..n / 10 {
        let left = AtomicU64::new(10); // Another task may count, too.
        let is_zero = Notify::new();
        for _ in 0..10 {
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                is_zero.notify_waiters();
            }
        }
        if left.load(Ordering::Acquire) != 0 {
            is_zero.notified().await;
        }
    }
}
async fn meet(b: Arc<Barrier>, n: u64) {
    for _ in 0..n {
        b.wait().await;
    }
}
async fn do_nothing() -> u64 {
    1
}
async fn ask(once: Arc<OnceCell<u64>>, n: u64) {
    for _ in 0..n {
        once.get_or_init(do_nothing).await;
    }
}

async fn both<A, B>(a: A, b: B)
where
    A: Future<Output = ()> + Send + 'static,
    B: Future<Output = ()> + Send + 'static,
{
    let first = tokio::spawn(a);
    let second = tokio::spawn(b);
    first.await.unwrap();
    second.await.unwrap();
}

/// Runs `there` in a runtime with a thread of its own. The two begin together.
async fn between<A, B>(here: A, there: B)
where
    A: Future<Output = ()> + Send + 'static,
    B: Future<Output = ()> + Send + 'static,
{
    let both_run = Arc::new(std::sync::Barrier::new(2));
    let also_here = both_run.clone();
    let other = thread::spawn(move || {
        Builder::new_current_thread().build().unwrap().block_on(async {
            both_run.wait();
            tokio::spawn(there).await.unwrap();
        })
    });
    also_here.wait();
    tokio::spawn(here).await.unwrap();
    other.join().unwrap();
}

pub fn run(row: &str, n: u64) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let m = Arc::new(Mutex::new(()));
        let s = Arc::new(RwLock::new(()));
        let one = Arc::new(Semaphore::new(1));
        let half = n / 2;
        match row {
            "lock" => tokio::spawn(lock_and_unlock(m, n, false)).await.unwrap(),
            "lock_handed" => both(lock_and_unlock(m.clone(), half, true), lock_and_unlock(m, half, true)).await,
            "lock_threads" => between(lock_and_unlock(m.clone(), half, false), lock_and_unlock(m, half, false)).await,
            "shared" => tokio::spawn(read_and_unlock(s, n, false)).await.unwrap(),
            "shared_handed" => both(read_and_unlock(s.clone(), half, true), write_and_unlock(s, half)).await,
            "permit_threads" => between(take_and_give_back(one.clone(), half), take_and_give_back(one, half)).await,
            "turns_threads" => {
                let none = Arc::new(Semaphore::new(0));
                between(take_and_give(one.clone(), none.clone(), half), take_and_give(none, one, half)).await
            }
            "event" => {
                let (a, b) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
                a.notify_one();
                both(wake_each_other(a.clone(), b.clone(), half), wake_each_other(b, a, half)).await
            }
            "condition" => {
                let (turn, changed) = (Arc::new(Mutex::new(0)), Arc::new(Notify::new()));
                both(take_turns(turn.clone(), changed.clone(), 0, half), take_turns(turn, changed, 1, half)).await
            }
            "latch" => tokio::spawn(count_down(n)).await.unwrap(),
            "barrier" => {
                let ten = Arc::new(Barrier::new(10));
                let all: Vec<_> = (0..10).map(|_| tokio::spawn(meet(ten.clone(), n / 10))).collect();
                for each in all {
                    each.await.unwrap();
                }
            }
            "once" => tokio::spawn(ask(Arc::new(OnceCell::new()), n)).await.unwrap(),
            _ => std::process::exit(2),
        }
    });
}
