//! The rows of bench/compared/tls_handshake.cpp.
use crate::agreement::{server_name, Cryptography, Identities};
use rustls::HandshakeKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

async fn serve(acceptor: TlsAcceptor, socket: UnixStream) {
    let mut stream = acceptor.accept(socket).await.unwrap();
    stream.write_all(&[0]).await.unwrap();
    stream.flush().await.unwrap();
}

pub fn run(cryptography: Cryptography, n: u64, kind: &str) {
    let resumes = kind == "resumed";
    let those = Identities::new(cryptography);
    let (client, server) = (TlsConnector::from(those.client(resumes)), TlsAcceptor::from(those.server(1)));
    crate::runtime().block_on(async {
        for i in 0..n {
            let (a, b) = UnixStream::pair().unwrap();
            tokio::spawn(serve(server.clone(), b));
            let mut stream = client.connect(server_name(), a).await.unwrap();
            let mut data = [0u8; 1];
            stream.read_exact(&mut data).await.unwrap();
            let is_resumed = stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
            assert!(is_resumed == (resumes && i != 0));
        }
    });
}
