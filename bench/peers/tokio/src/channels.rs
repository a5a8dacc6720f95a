//! The rows of bench/compared/channels.cpp: mpsc, which has no channel without a buffer.
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

async fn send(to: mpsc::Sender<u64>, n: u64) {
    for i in 1..=n {
        to.send(i).await.unwrap();
    }
}

async fn receive(mut from: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(got) = from.recv().await {
        sum += got;
    }
    sum
}

pub fn run(row: &str, n: u64) {
    let (to, mut from) = mpsc::channel(if row == "one" { 1 } else { 64 });
    let runtime = Builder::new_current_thread().build().unwrap();
    let sum = match row {
        "try" => runtime.block_on(async {
            let mut sum = 0;
            for i in 1..=n {
                to.try_send(i).unwrap();
                sum += from.try_recv().unwrap();
            }
            sum
        }),
        "one" | "many" => runtime.block_on(async {
            let receives = tokio::spawn(receive(from));
            tokio::spawn(send(to, n)).await.unwrap();
            receives.await.unwrap()
        }),
        "threads" => {
            let sends = thread::spawn(move || {
                Builder::new_current_thread().build().unwrap().block_on(send(to, n));
            });
            let sum = runtime.block_on(async { tokio::spawn(receive(from)).await.unwrap() });
            sends.join().unwrap();
            sum
        }
        _ => std::process::exit(2),
    };
    assert_eq!(sum, n * (n + 1) / 2);
}
