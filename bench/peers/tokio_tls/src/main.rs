//! Rows of Tokio with rustls, beside those of TLS in bench/compared. All of them run on its single-threaded runtime.
//!
//!   tokio_tls_peer CRYPTOGRAPHY echo MESSAGES PAIRS   as bench/compared/tls_echo.cpp says
//!   tokio_tls_peer CRYPTOGRAPHY handshake N KIND      as bench/compared/tls_handshake.cpp says
//!   tokio_tls_peer CRYPTOGRAPHY idle N                as bench/compared/tls_idle.cpp says
//!   tokio_tls_peer CRYPTOGRAPHY stream DIRECTION FIGURE RECORD MIB   as bench/compared/tls_stream.cpp says
//!
//!   CRYPTOGRAPHY is aws_lc, which rustls has by itself, or openssl
mod agreement;
mod echo;
mod handshake;
mod idle;
mod stream;

use agreement::Cryptography;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_io().build().unwrap()
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

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let number = |i: usize| given[i].parse::<u64>().unwrap();
    let cryptography = match given[1].as_str() {
        "aws_lc" => Cryptography::AwsLc,
        "openssl" => Cryptography::OpenSsl,
        _ => std::process::exit(2),
    };
    match given[2].as_str() {
        "echo" => echo::run(cryptography, number(3), number(4)),
        "handshake" => handshake::run(cryptography, number(3), &given[4]),
        "idle" => idle::run(cryptography, number(3)),
        "stream" => stream::run(cryptography, &given[3], &given[4], number(5) as usize, number(6)),
        _ => std::process::exit(2),
    }
}
