//! The agreement of all programs of TLS, as in bench/compared/tls_agreement.hpp.
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group, Ticketer};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::sync::Arc;

pub const HOST_NAME: &str = "server.test";

pub fn server_name() -> ServerName<'static> {
    ServerName::try_from(HOST_NAME).unwrap()
}

/// Whose cryptography rustls uses: its own choice, or that of OpenSSL.
#[derive(Clone, Copy)]
pub enum Cryptography {
    AwsLc,
    OpenSsl,
}

impl Cryptography {
    fn provider(self) -> Arc<CryptoProvider> {
        Arc::new(match self {
            Cryptography::AwsLc => CryptoProvider {
                cipher_suites: vec![cipher_suite::TLS13_AES_128_GCM_SHA256],
                kx_groups: vec![kx_group::X25519],
                ..default_provider()
            },
            Cryptography::OpenSsl => CryptoProvider {
                cipher_suites: vec![rustls_openssl::cipher_suite::TLS13_AES_128_GCM_SHA256],
                kx_groups: vec![rustls_openssl::kx_group::X25519],
                ..rustls_openssl::default_provider()
            },
        })
    }
}

/// The certificates of both sides; those of rcgen have ECDSA P-256 keys.
pub struct Identities {
    cryptography: Cryptography,
    authority: CertificateDer<'static>,
    server: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identities {
    pub fn new(cryptography: Cryptography) -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut of_authority = CertificateParams::new(Vec::new()).unwrap();
        of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = of_authority.self_signed(&authority_key).unwrap();
        let issuer = Issuer::new(of_authority, authority_key);
        let key = KeyPair::generate().unwrap();
        let of_server = CertificateParams::new(vec![HOST_NAME.to_string()]).unwrap();
        let server = of_server.signed_by(&key, &issuer).unwrap();
        Identities {
            cryptography,
            authority: authority.der().clone(),
            server: server.der().clone(),
            key: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        }
    }

    pub fn client(&self, resumes: bool) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(self.cryptography.provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = if resumes { Resumption::in_memory_sessions(10) } else { Resumption::disabled() };
        Arc::new(config)
    }

    pub fn server(&self, tickets: usize) -> Arc<ServerConfig> {
        let mut config = ServerConfig::builder_with_provider(self.cryptography.provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.server.clone()], self.key.clone_key())
            .unwrap();
        config.ticketer = Ticketer::new().unwrap();
        config.send_tls13_tickets = tickets;
        Arc::new(config)
    }
}
