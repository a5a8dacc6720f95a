//! The rows of bench/compared/tls_stream.cpp. The other end is a thread with rustls.
use crate::agreement::{server_name, Cryptography, Identities};
use rustls::ServerConnection;
use std::io::{Read, Write};
use std::net;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const PIECE: usize = 256 * 1024;
const AROUND: usize = 5 + 1 + 16; // head, type and tag of TLS 1.3 with AES-GCM

/// See bench/compared/tls_stream_end.hpp.
fn other_end(mut socket: net::TcpStream, mut connection: ServerConnection, sends: bool, record: usize, records: usize,
             is_ready: mpsc::Sender<()>) {
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).unwrap();
    }
    let all = records * (record + AROUND);
    if sends {
        let data = vec![0u8; record];
        let mut bytes = Vec::with_capacity(all);
        for _ in 0..records {
            connection.writer().write_all(&data).unwrap();
            while connection.wants_write() {
                connection.write_tls(&mut bytes).unwrap();
            }
        }
        assert!(bytes.len() == all);
        is_ready.send(()).unwrap();
        for piece in bytes.chunks(PIECE) {
            socket.write_all(piece).unwrap();
        }
    } else {
        is_ready.send(()).unwrap();
        let mut data = vec![0u8; PIECE];
        let mut all_read = 0;
        loop {
            let n = socket.read(&mut data).unwrap();
            all_read += n;
            if n == 0 {
                break;
            }
        }
        // A write that finds rustls' buffer almost full makes two records. They have to be rare.
        assert!(all_read >= all && all_read <= all + all / 100);
    }
}

fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

pub fn run(cryptography: Cryptography, direction: &str, figure: &str, record: usize, mib: u64) {
    let sends = direction == "send";
    let records = mib as usize * 1024 * 1024 / record;
    let those = Identities::new(cryptography);
    let acceptor = net::TcpListener::bind((net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let near = net::TcpStream::connect(acceptor.local_addr().unwrap()).unwrap();
    let (far, _) = acceptor.accept().unwrap();
    let connection = ServerConnection::new(those.server(0)).unwrap();
    let (sender, is_ready) = mpsc::channel();
    let other = thread::spawn(move || other_end(far, connection, !sends, record, records, sender));
    near.set_nonblocking(true).unwrap();
    crate::runtime().block_on(async {
        let socket = TcpStream::from_std(near).unwrap();
        let mut stream = TlsConnector::from(those.client(false)).connect(server_name(), socket).await.unwrap();
        is_ready.recv().unwrap();
        let mut data = vec![0u8; record];
        let mut left = records * record;
        let (begun, cpu_begun) = (Instant::now(), cpu_ns());
        while left != 0 {
            if sends {
                stream.write_all(&data).await.unwrap();
                left -= record;
            } else {
                left -= stream.read(&mut data).await.unwrap();
            }
        }
        if sends {
            stream.flush().await.unwrap();
        }
        let ns = if figure == "wall" { begun.elapsed().as_nanos() as u64 } else { cpu_ns() - cpu_begun };
        println!("{:.3} GB/s", (records * record) as f64 / ns as f64);
    });
    other.join().unwrap();
}
