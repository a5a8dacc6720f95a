//! The rows of bench/compared/echo.cpp: a task for each end.
use std::net;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;

const MESSAGE_SIZE: usize = 64;

async fn echo(mut socket: impl AsyncRead + AsyncWrite + Unpin, messages: u64, begins: bool) {
    let mut data = [0u8; MESSAGE_SIZE];
    for i in 0..messages {
        let mut n = MESSAGE_SIZE;
        if i != 0 || !begins {
            n = match socket.read(&mut data).await {
                Ok(0) | Err(_) => return, // The other end is done.
                Ok(n) => n,
            };
        }
        if socket.write_all(&data[..n]).await.is_err() {
            return;
        }
    }
}

fn connect_tcp() -> (TcpStream, TcpStream) {
    let acceptor = net::TcpListener::bind((net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let a = net::TcpStream::connect(acceptor.local_addr().unwrap()).unwrap();
    let (b, _) = acceptor.accept().unwrap();
    let taken_over = |socket: net::TcpStream| {
        socket.set_nodelay(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        TcpStream::from_std(socket).unwrap()
    };
    (taken_over(a), taken_over(b))
}

/// As many descriptors as the system lets the process have.
fn raise_descriptor_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
    }
}

pub fn run(messages: u64, protocol: &str, pairs: u64) {
    raise_descriptor_limit();
    let each = messages / (2 * pairs);
    crate::runtime().block_on(async {
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        for _ in 0..pairs {
            if protocol == "unix" {
                let (a, b) = UnixStream::pair().unwrap();
                tasks.extend([tokio::spawn(echo(a, each, true)), tokio::spawn(echo(b, each, false))]);
            } else {
                let (a, b) = connect_tcp();
                tasks.extend([tokio::spawn(echo(a, each, true)), tokio::spawn(echo(b, each, false))]);
            }
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}
