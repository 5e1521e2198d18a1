//! TCP listener: only if requested, on loopback, with a token that cannot be guessed. Otherwise one
//! line says why not.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::task::{Context, Poll};

use tokio::net::{TcpListener, TcpStream};

use turbowish_wire::handshake;

use super::Config;
use super::accept::Listen;
use super::lobby::Lobby;

/// Listens, or prints why not.
pub(super) async fn bind(listen: &str, config: &Config) -> Option<Lobby<Port>> {
    match open(listen, config.token.as_deref()).await {
        Ok((port, token)) => {
            // Port 0 requests any port, so the chosen one is printed.
            if parse(listen).is_some_and(|asked| asked.port() == 0) {
                (config.say)(&format!("listening on {}", port.address));
            }
            let say = config.say.clone();
            Some(Lobby::new(port, token, config.hello_time, say))
        }
        Err(reason) => {
            (config.say)(&format!("not listening on {listen}: {reason}"));
            None
        }
    }
}

async fn open<'t>(listen: &str, token: Option<&'t str>) -> Result<(Port, &'t str), String> {
    let (address, token) = allowed(listen, token)?;
    let listener = TcpListener::bind(address).await.map_err(refusal)?;
    let address = listener.local_addr().map_err(refusal)?;
    Ok((Port { listener, address }, token))
}

fn refusal(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "the port is in use; choose another one in TURBOWISH_LISTEN (port 0 picks a free one)"
                .to_owned()
        }
        _ => format!("{error}; choose another address in TURBOWISH_LISTEN"),
    }
}

/// The address, if listening on it is permitted, and the token.
fn allowed<'t>(listen: &str, token: Option<&'t str>) -> Result<(SocketAddr, &'t str), String> {
    let address = parse(listen)
        .ok_or("not an address; TURBOWISH_LISTEN is like 127.0.0.1:6680 or [::1]:6680")?;
    if !address.ip().to_canonical().is_loopback() {
        return Err(format!(
            "other machines could reach it, unencrypted; use 127.0.0.1:{port} and a tunnel, \
             such as ssh -L {port}:127.0.0.1:{port} HOST",
            port = address.port()
        ));
    }
    let token = token
        .filter(|token| !token.is_empty())
        .ok_or_else(|| format!("every user of this host could connect; {MAKE_TOKEN}"))?;
    if !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "TURBOWISH_TOKEN may contain only printable ASCII characters, and no spaces".to_owned(),
        );
    }
    match handshake::weakness(token) {
        Some(weakness) => Err(format!(
            "TURBOWISH_TOKEN {weakness}, and can be guessed; {MAKE_TOKEN}"
        )),
        None => Ok((address, token)),
    }
}

const MAKE_TOKEN: &str =
    "set TURBOWISH_TOKEN to a random one, such as `openssl rand -hex 16` prints";

fn parse(listen: &str) -> Option<SocketAddr> {
    let local = |port: &str| {
        let port = port.parse().ok()?;
        Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
    };
    listen
        .parse()
        .ok()
        .or_else(|| local(listen.strip_prefix("localhost:")?))
}

/// A listening TCP port.
pub(super) struct Port {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listen for Port {
    type Stream = TcpStream;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        self.listener
            .poll_accept(context)
            .map_ok(|(stream, _)| stream)
    }

    fn may_enter(stream: &TcpStream) -> bool {
        // A failure only costs latency.
        let _ = stream.set_nodelay(true);
        stream
            .peer_addr()
            .is_ok_and(|peer| peer.ip().to_canonical().is_loopback())
    }

    fn name(&self) -> String {
        self.address.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn only_loopback_with_a_token_is_allowed() {
        let check = |listen: &str, token: Option<&str>, expected: Result<&str, &str>| {
            let answer = allowed(listen, token).map(|(address, _)| address.to_string());
            match (&answer, expected) {
                (Ok(address), Ok(wanted)) => assert_eq!(address, wanted),
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{listen}: {reason}"),
                _ => panic!("{listen}: {answer:?}, not {expected:?}"),
            }
        };
        let token = Some("5f2c9a7be01d4386");
        check("127.0.0.1:6680", token, Ok("127.0.0.1:6680"));
        check("127.9.9.9:6680", token, Ok("127.9.9.9:6680"));
        check("[::1]:6680", token, Ok("[::1]:6680"));
        check("localhost:6680", token, Ok("127.0.0.1:6680"));
        check(
            "[::ffff:127.0.0.1]:6680",
            token,
            Ok("[::ffff:127.0.0.1]:6680"),
        );
        check("0.0.0.0:6680", token, Err("ssh -L 6680:127.0.0.1:6680"));
        check("[::]:6680", token, Err("other machines"));
        check("192.168.1.7:6680", token, Err("other machines"));
        check("[::ffff:192.168.1.7]:6680", token, Err("other machines"));
        check("0.0.0.0:6680", None, Err("other machines"));
        check("127.0.0.1:6680", None, Err("set TURBOWISH_TOKEN"));
        check("127.0.0.1:6680", Some(""), Err("set TURBOWISH_TOKEN"));
        check("127.0.0.1:6680", Some("two words"), Err("no spaces"));
        check(
            "127.0.0.1:6680",
            Some("gehe\u{ef}m"),
            Err("printable ASCII"),
        );
        check("127.0.0.1:6680", Some("x"), Err("has 1 of the 16"));
        let short = Some("5f2c9a7be01d438");
        check("127.0.0.1:6680", short, Err("has 15 of the 16"));
        let repetitive = Some("abababababababab");
        check("127.0.0.1:6680", repetitive, Err("2 different"));
        check("127.0.0.1", token, Err("not an address"));
        check("6680", token, Err("not an address"));
        check(":6680", token, Err("not an address"));
        check("example.org:6680", token, Err("not an address"));
        check("127.0.0.1:66800", token, Err("not an address"));
        check("", token, Err("not an address"));
    }
}
