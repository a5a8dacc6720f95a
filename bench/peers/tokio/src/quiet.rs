//! The rows of bench/compared/quiet.cpp.
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Builder;
use tokio::time::sleep_until;

async fn go_on(mut near: UnixStream, mut far: UnixStream) {
    let mut data = [0u8; 64];
    loop {
        near.write_all(&data).await.unwrap();
        far.read_exact(&mut data).await.unwrap();
    }
}

async fn socket(samples: usize) -> Vec<u64> {
    let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let mut near = UnixStream::from_std(near).unwrap();
    let start = Instant::now();
    let sender = std::thread::spawn(move || loop {
        std::thread::sleep(Duration::from_micros(300));
        let now = start.elapsed().as_nanos() as u64;
        if far.write_all(&now.to_ne_bytes()).is_err() {
            return; // The receiver has enough.
        }
    });
    let mut all = Vec::with_capacity(samples);
    let mut stamp = [0u8; 8];
    while all.len() < samples {
        near.read_exact(&mut stamp).await.unwrap();
        all.push(start.elapsed().as_nanos() as u64 - u64::from_ne_bytes(stamp));
    }
    drop(near);
    sender.join().unwrap();
    all
}

async fn timer(samples: usize) -> Vec<u64> {
    let mut all = Vec::with_capacity(samples);
    while all.len() < samples {
        let due = Instant::now() + Duration::from_millis(1);
        sleep_until(due.into()).await;
        all.push(due.elapsed().as_nanos() as u64);
    }
    all
}

pub fn run(what: &str, samples: u64, flows: u64) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut all = runtime.block_on(async {
        for _ in 0..flows {
            let (near, far) = UnixStream::pair().unwrap();
            tokio::spawn(go_on(near, far));
        }
        let samples = samples as usize;
        let measured = if what == "timer" { tokio::spawn(timer(samples)) } else { tokio::spawn(socket(samples)) };
        measured.await.unwrap()
    });
    all.sort();
    let us = |part: f64| all[(part * (all.len() - 1) as f64) as usize] as f64 / 1000.0;
    println!("p50 {:.1} us, p99 {:.1} us, longest {:.1} us", us(0.5), us(0.99), us(1.0));
    println!("{:.1} us", us(0.999));
}
