//! The rows of bench/compared/groups.cpp: select! and join!.
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Builder;
use tokio::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

async fn send_to_and_fro(mut socket: UnixStream, begins: bool, n: u64) {
    let mut byte = [b'x'];
    for _ in 0..n {
        if begins {
            socket.write_all(&byte).await.unwrap();
        }
        tokio::select! {
            biased;
            _ = socket.read(&mut byte) => {}
            _ = sleep(HOUR) => {}
        }
        if !begins {
            socket.write_all(&byte).await.unwrap();
        }
    }
}

pub fn run(row: &str, n: u64) {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime.block_on(async {
        match row {
            "race" => {
                let (a, b) = UnixStream::pair().unwrap();
                let first = tokio::spawn(send_to_and_fro(a, true, n / 2));
                let second = tokio::spawn(send_to_and_fro(b, false, n / 2));
                first.await.unwrap();
                second.await.unwrap();
            }
            "both" => {
                for _ in 0..n {
                    tokio::join!(sleep(Duration::ZERO), sleep(Duration::ZERO));
                }
            }
            _ => std::process::exit(2),
        }
    });
}
