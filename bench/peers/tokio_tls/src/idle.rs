//! The rows of bench/compared/tls_idle.cpp.
use crate::agreement::{server_name, Cryptography, Identities};
use rustls::ClientConnection;
use std::cell::Cell;
use std::io::Read;
use std::os::unix::net::UnixStream as Plain;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::task::{yield_now, LocalSet};
use tokio_rustls::TlsAcceptor;

/// What the process keeps in memory of its own. Exact, which the counters of /proc/self/statm are not.
fn own_bytes() -> u64 {
    let all = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = all.lines().find(|l| l.starts_with("Anonymous:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// In a process of their own, so that their memory does not count.
fn shake_hands_as_clients(those: &Identities, sockets: Vec<Plain>) -> ! {
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let config = those.client(false);
    for mut socket in &sockets {
        let mut connection = ClientConnection::new(Arc::clone(&config), server_name()).unwrap();
        connection.complete_io(&mut socket).unwrap();
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).unwrap();
        }
    }
    let mut rest = [0u8; 4096];
    loop {
        let _ = (&sockets[0]).read(&mut rest);
    }
}

async fn serve(acceptor: TlsAcceptor, socket: UnixStream, agreed: Rc<Cell<u64>>) {
    let mut stream = acceptor.accept(socket).await.unwrap();
    agreed.set(agreed.get() + 1);
    let mut data = [0u8; 64];
    let _ = stream.read(&mut data).await;
}

pub fn run(cryptography: Cryptography, n: u64) {
    crate::raise_descriptor_limit();
    let those = Identities::new(cryptography);
    let (mut clients, mut servers) = (Vec::with_capacity(n as usize), Vec::with_capacity(n as usize));
    for _ in 0..n {
        let (a, b) = Plain::pair().unwrap();
        a.set_nonblocking(true).unwrap();
        servers.push(a);
        clients.push(b);
    }
    if unsafe { libc::fork() } == 0 {
        drop(servers);
        shake_hands_as_clients(&those, clients);
    }
    drop(clients);
    let acceptor = TlsAcceptor::from(those.server(1));
    crate::runtime().block_on(LocalSet::new().run_until(async move {
        let agreed = Rc::new(Cell::new(0));
        let before = own_bytes();
        for (i, socket) in servers.into_iter().enumerate() {
            let socket = UnixStream::from_std(socket).unwrap();
            tokio::task::spawn_local(serve(acceptor.clone(), socket, Rc::clone(&agreed)));
            while agreed.get() == i as u64 {
                yield_now().await;
            }
        }
        yield_now().await; // The last one waits then, too.
        println!("{:.1} bytes", (own_bytes() - before) as f64 / n as f64);
        std::process::exit(0);
    }));
}
