//! The rows of bench/compared/tls_echo.cpp: a task for each end.
use crate::agreement::{server_name, Cryptography, Identities};
use std::net;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::{TlsAcceptor, TlsConnector};

const MESSAGE_SIZE: usize = 64;

async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin, messages: u64, begins: bool) {
    let mut data = [0u8; MESSAGE_SIZE];
    for i in 0..messages {
        let mut n = MESSAGE_SIZE;
        if i != 0 || !begins {
            n = stream.read(&mut data).await.unwrap();
        }
        stream.write_all(&data[..n]).await.unwrap();
        stream.flush().await.unwrap();
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

pub fn run(cryptography: Cryptography, messages: u64, pairs: u64) {
    crate::raise_descriptor_limit();
    let each = messages / (2 * pairs);
    let those = Identities::new(cryptography);
    let (client, server) = (TlsConnector::from(those.client(false)), TlsAcceptor::from(those.server(1)));
    crate::runtime().block_on(async {
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        for _ in 0..pairs {
            let (a, b) = connect_tcp();
            let (connecting, accepting) = (client.connect(server_name(), a), server.accept(b));
            tasks.push(tokio::spawn(async move { echo(connecting.await.unwrap(), each, true).await }));
            tasks.push(tokio::spawn(async move { echo(accepting.await.unwrap(), each, false).await }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}
