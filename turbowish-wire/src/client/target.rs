//! Targets of connections: opening one gives a stream, or an error that says why not.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tonic::transport::{Channel, Endpoint};

use super::ClientError;
use crate::discovery;
use crate::handshake::{ANSWER_BYTES, Caller, HandshakeFault, VERSION};

/// Process to connect to.
#[derive(Clone, PartialEq, Eq)]
pub enum Target {
    /// A process of this user on this host, found by its socket.
    Pid(u32),
    /// The only process of this user on this host with this name.
    Name(String),
    /// A Unix socket by its path.
    Socket(PathBuf),
    /// A process that listens on TCP.
    Tcp {
        /// `host:port`.
        addr: String,
        /// The token: the value of `TURBOWISH_TOKEN` in the process.
        token: Option<String>,
    },
}

impl Target {
    /// Parses `4242`, `path/to/4242.sock` or `host:port`; the token is used for the last only.
    #[must_use]
    pub fn parse(text: &str, token: Option<&str>) -> Option<Self> {
        if let Ok(pid) = text.parse() {
            return Some(Self::Pid(pid));
        }
        if text.contains('/') {
            return Some(Self::Socket(text.into()));
        }
        let (host, port) = text.rsplit_once(':')?;
        let sound = !host.is_empty() && port.parse::<u16>().is_ok();
        sound.then(|| Self::Tcp {
            addr: text.to_owned(),
            token: token.map(ToOwned::to_owned),
        })
    }

    pub(super) async fn open(&self) -> Result<Channel, ClientError> {
        match self {
            Self::Pid(pid) => open_pid(*pid).await,
            Self::Name(name) => super::named::open(name).await,
            Self::Socket(path) => self.local(UnixStream::connect(path).await).await,
            Self::Tcp { addr, token } => {
                let stream = tcp(addr).await.map_err(|cause| self.unreachable(cause))?;
                let stream = greet(addr, stream, token.as_deref()).await?;
                self.channel(stream).await
            }
        }
    }

    /// Connects over a Unix socket whose other end belongs to this user. A process of another user
    /// would close the connection, and what it sends cannot be trusted.
    async fn local(&self, stream: io::Result<UnixStream>) -> Result<Channel, ClientError> {
        let stream = stream.map_err(|cause| self.unreachable(cause))?;
        let peer = stream
            .peer_cred()
            .map_err(|cause| self.unreachable(cause))?;
        if peer.uid() != discovery::uid() {
            return Err(ClientError::Foreign {
                target: self.to_string(),
                uid: peer.uid(),
            });
        }
        self.channel(stream).await
    }

    async fn channel<S>(&self, stream: S) -> Result<Channel, ClientError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let once = Mutex::new(Some(stream));
        // A broken connection must not be reopened: another process may have the address by then.
        let connector = tower::service_fn(move |_| {
            let stream = once.lock().map_or(None, |mut stream| stream.take());
            std::future::ready(
                stream
                    .map(TokioIo::new)
                    .ok_or(io::ErrorKind::ConnectionAborted),
            )
        });
        let connector = tower::ServiceExt::map_err(connector, io::Error::from);
        Endpoint::from_static("http://turbowish")
            .connect_with_connector(connector)
            .await
            .map_err(|e| ClientError::Stranger {
                target: self.to_string(),
                cause: super::error::chain(&e),
            })
    }

    fn unreachable(&self, cause: io::Error) -> ClientError {
        let target = self.to_string();
        match (self, cause.kind()) {
            // The backlog of a stopped process is full: it exists, but accepts no connection.
            (Self::Pid(_) | Self::Socket(_), io::ErrorKind::WouldBlock) => ClientError::Silent {
                target,
                after: std::time::Duration::ZERO,
            },
            _ => ClientError::Unreachable { target, cause },
        }
    }
}

async fn tcp(addr: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Performs the mutual handshake. An end that does not know the token receives nothing but a random
/// number.
async fn greet(
    target: &str,
    mut stream: TcpStream,
    token: Option<&str>,
) -> Result<TcpStream, ClientError> {
    let target = || target.to_owned();
    let token = token.ok_or_else(|| ClientError::NoToken { target: target() })?;
    let stranger = |cause: String| ClientError::Stranger {
        target: target(),
        cause,
    };
    let proved = async {
        let caller = Caller::begin()?;
        stream.write_all(&caller.hello()).await?;
        let mut answer = [0; ANSWER_BYTES];
        stream.read_exact(&mut answer).await?;
        let proof = caller.prove(token, &answer);
        if let Ok(proof) = &proof {
            stream.write_all(proof).await?;
        }
        io::Result::Ok(proof)
    };
    match proved.await.map_err(|cause| stranger(cause.to_string()))? {
        Ok(_) => Ok(stream),
        Err(HandshakeFault::Token) => Err(ClientError::Token { target: target() }),
        Err(HandshakeFault::Stranger) => Err(stranger("its greeting differs".to_owned())),
        Err(HandshakeFault::Version(theirs)) => Err(stranger(format!(
            "its greeting has version {theirs}, that of this console {VERSION}"
        ))),
    }
}

/// Opens the first socket of that process that accepts, in the folders where it may be.
async fn open_pid(pid: u32) -> Result<Channel, ClientError> {
    let target = Target::Pid(pid);
    for folder in discovery::folders() {
        let path = discovery::socket(&folder, pid);
        if !is_ours(&folder).map_err(|cause| target.unreachable(cause))? {
            continue;
        }
        match UnixStream::connect(&path).await {
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                ) => {}
            stream => return target.local(stream).await,
        }
    }
    Err(ClientError::NoProcess {
        pid,
        alive: discovery::is_alive(pid),
    })
}

fn is_ours(folder: &Path) -> io::Result<bool> {
    match discovery::verify(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        other => other.map(|()| true),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => write!(f, "process {pid}"),
            Self::Name(name) => write!(f, "process {name}"),
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Tcp { addr, .. } => f.write_str(addr),
        }
    }
}

/// Omits the token, which must not appear in logs.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn targets_are_read() {
        let tcp = |addr: &str| {
            Some(Target::Tcp {
                addr: addr.into(),
                token: Some("secret".into()),
            })
        };
        for (text, expected) in [
            ("4242", Some(Target::Pid(4242))),
            (
                "/run/user/7/turbowish/4242.sock",
                Some(Target::Socket("/run/user/7/turbowish/4242.sock".into())),
            ),
            ("./4242.sock", Some(Target::Socket("./4242.sock".into()))),
            ("127.0.0.1:6680", tcp("127.0.0.1:6680")),
            ("[::1]:6680", tcp("[::1]:6680")),
            ("localhost:6680", tcp("localhost:6680")),
            ("localhost", None),
            (":6680", None),
            ("localhost:web", None),
            ("localhost:66800", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(Target::parse(text, Some("secret")), expected, "{text}");
        }
    }

    #[test]
    fn the_token_is_never_printed() {
        let target = Target::parse("127.0.0.1:6680", Some("secret")).unwrap();
        assert_eq!(
            format!("{target} {target:?}"),
            "127.0.0.1:6680 Target(127.0.0.1:6680)"
        );
    }
}
