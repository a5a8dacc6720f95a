//! The rows of bench/compared/messages.cpp: oneshot, watch and broadcast.
use std::sync::{Arc, Mutex};
use tokio::runtime::Builder;
use tokio::sync::{broadcast, oneshot, watch};
use tokio::task::yield_now;

type Place = Arc<Mutex<Option<oneshot::Sender<u64>>>>;

async fn send_to_itself(n: u64) -> u64 {
    let mut sum = 0;
    for i in 1..=n {
        let (sender, receiver) = oneshot::channel();
        sender.send(i).unwrap();
        sum += receiver.await.unwrap();
    }
    sum
}
async fn make_and_receive(p: Place, n: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..n {
        let (sender, receiver) = oneshot::channel();
        p.lock().unwrap().replace(sender);
        sum += receiver.await.unwrap();
    }
    sum
}
async fn send_what_is_asked(p: Place, n: u64) {
    let mut i = 1;
    while i <= n {
        let asked = p.lock().unwrap().take();
        if let Some(sender) = asked {
            sender.send(i).unwrap();
            i += 1;
        }
        yield_now().await;
    }
}
async fn watch_all(mut from: watch::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while from.changed().await.is_ok() {
        sum += *from.borrow_and_update();
    }
    sum
}
async fn receive(mut from: broadcast::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Ok(got) = from.recv().await {
        sum += got;
    }
    sum
}

pub fn run(row: &str, n: u64) {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (sum, expected) = runtime.block_on(async {
        match row {
            "oneshot" => (tokio::spawn(send_to_itself(n)).await.unwrap(), n * (n + 1) / 2),
            "oneshot_handed" => {
                let place = Place::default();
                let receives = tokio::spawn(make_and_receive(place.clone(), n));
                tokio::spawn(send_what_is_asked(place, n));
                (receives.await.unwrap(), n * (n + 1) / 2)
            }
            "watch" => {
                let (to, from) = watch::channel(0);
                let receives = tokio::spawn(watch_all(from));
                tokio::spawn(async move {
                    for i in 1..=n {
                        to.send(i).unwrap();
                        yield_now().await;
                    }
                });
                (receives.await.unwrap(), n * (n + 1) / 2)
            }
            "broadcast" => {
                let n = n / 10;
                let (to, _) = broadcast::channel(64);
                let all: Vec<_> = (0..10).map(|_| tokio::spawn(receive(to.subscribe()))).collect();
                tokio::spawn(async move {
                    for i in 1..=n {
                        to.send(i).unwrap();
                        yield_now().await;
                    }
                });
                let mut sum = 0;
                for each in all {
                    sum += each.await.unwrap();
                }
                (sum, 10 * (n * (n + 1) / 2))
            }
            _ => std::process::exit(2),
        }
    });
    assert_eq!(sum, expected);
}
