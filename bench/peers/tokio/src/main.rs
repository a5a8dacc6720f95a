//! Rows of Tokio, beside those of bench/compared. All of them run on its single-threaded runtime.
//!
//!   tokio_peer yield N FLOWS    tasks that give way; a socket is open and waits for data
//!   tokio_peer from_thread N 1  another thread spawns tasks that end at once; prints the wall time of each
//!   tokio_peer echo MESSAGES PROTOCOL PAIRS   as bench/compared/echo.cpp says
//!   tokio_peer timer ROW N PENDING   as bench/compared/timer.cpp says
//!   tokio_peer groups ROW N     as bench/compared/groups.cpp says
//!   tokio_peer tasks ROW N      as bench/compared/tasks.cpp says
//!   tokio_peer channels ROW N   as bench/compared/channels.cpp says
//!   tokio_peer locks ROW N      as bench/compared/locks.cpp says
//!   tokio_peer messages ROW N   as bench/compared/messages.cpp says
//!   tokio_peer quiet WHAT SAMPLES FLOWS   as bench/compared/quiet.cpp says
//!   tokio_peer idle N           N tasks, each of which waits for data of a UNIX socket; prints the memory of one
mod channels;
mod echo;
mod groups;
mod locks;
mod messages;
mod quiet;
mod tasks;
mod timer;

use std::os::unix::net::UnixStream as Plain;
use std::time::Instant;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::yield_now;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_io().build().unwrap()
}

async fn wait_for_data(mut socket: UnixStream) {
    let mut data = [0u8; 64];
    let _ = socket.read(&mut data).await;
}

fn yields(n: u64, flows: u64) {
    runtime().block_on(async {
        let (waiting, _silent) = UnixStream::pair().unwrap();
        tokio::spawn(wait_for_data(waiting));
        let tasks: Vec<_> = (0..flows)
            .map(|_| {
                tokio::spawn(async move {
                    for _ in 0..n / flows {
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn from_thread(n: u64) {
    runtime().block_on(async {
        let (waiting, _silent) = UnixStream::pair().unwrap();
        tokio::spawn(wait_for_data(waiting));
        let (last, all_ran) = oneshot::channel();
        let handle = Handle::current();
        let begun = Instant::now();
        let poster = std::thread::spawn(move || {
            for _ in 1..n {
                handle.spawn(async {});
            }
            handle.spawn(async { last.send(()).unwrap() });
        });
        all_ran.await.unwrap();
        println!("{:.3} wall ns", begun.elapsed().as_nanos() as f64 / n as f64);
        poster.join().unwrap();
    });
}

/// What the process keeps in memory of its own. Exact, which the counters of /proc/self/statm are not.
fn own_bytes() -> u64 {
    let all = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = all.lines().find(|l| l.starts_with("Anonymous:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn idle(n: u64) {
    runtime().block_on(async {
        let mut silent = Vec::with_capacity(n as usize);
        let mut waiting = Vec::with_capacity(n as usize);
        for _ in 0..n {
            let (a, b) = Plain::pair().unwrap();
            a.set_nonblocking(true).unwrap();
            waiting.push(a);
            silent.push(b);
        }
        let before = own_bytes();
        for socket in waiting {
            tokio::spawn(wait_for_data(UnixStream::from_std(socket).unwrap()));
        }
        for _ in 0..n {
            yield_now().await; // Each lets some of the tasks run up to where they wait.
        }
        println!("{:.1} bytes", (own_bytes() - before) as f64 / n as f64);
    });
}

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let number = |i: usize| given[i].parse::<u64>().unwrap();
    match given[1].as_str() {
        "yield" => yields(number(2), number(3)),
        "from_thread" => from_thread(number(2)),
        "echo" => echo::run(number(2), &given[3], number(4)),
        "groups" => groups::run(&given[2], number(3)),
        "quiet" => quiet::run(&given[2], number(3), number(4)),
        "tasks" => tasks::run(&given[2], number(3)),
        "channels" => channels::run(&given[2], number(3)),
        "locks" => locks::run(&given[2], number(3)),
        "messages" => messages::run(&given[2], number(3)),
        "timer" => timer::run(&given[2], number(3), number(4)),
        "idle" => idle(number(2)),
        _ => std::process::exit(2),
    }
}
