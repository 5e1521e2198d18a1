//! Handshake of TCP connections: console and process prove to each other that they have the same
//! token, and neither sends it.
//!
//! Three frames of fixed size open a TCP connection. HTTP/2 begins right after the last one.
//!
//! | frame | from | bytes |
//! |---|---|---|
//! | hello | console | head, nonce |
//! | answer | process | head, nonce, proof |
//! | proof | console | proof |
//!
//! The head is the name of the protocol and its version. A proof is HMAC-SHA256, keyed with the
//! token, of the head, the role of its maker, and both nonces: a recorded proof fits no other
//! connection, and no other role.
//!
//! The process proves first. A program that has taken its port therefore sees one random number,
//! and nothing on which guesses can be tested. A client of a process does receive such a proof:
//! that is why a token must be random ([`weakness`]).

use std::fmt;
use std::io;

use hmac_sha256::HMAC;

/// Version of these frames.
pub const VERSION: u8 = 1;

/// Size of the console's first frame, in bytes.
pub const HELLO_BYTES: usize = HEAD_BYTES + NONCE_BYTES;

/// Size of the process's answer, in bytes.
pub const ANSWER_BYTES: usize = HEAD_BYTES + NONCE_BYTES + PROOF_BYTES;

/// Size of the console's last frame, in bytes.
pub const PROOF_BYTES: usize = 32;

/// Minimum length of a token with which a process listens, in bytes.
pub const TOKEN_BYTES: usize = 16;

const HEAD: [u8; HEAD_BYTES] = *b"turbowish\x01";
const HEAD_BYTES: usize = 10;
const NONCE_BYTES: usize = 32;
/// Minimum number of distinct bytes of a token. 32 random hexadecimal digits have fewer once in
/// 10¹² times.
const DISTINCT_BYTES: usize = 6;

type Nonce = [u8; NONCE_BYTES];
type Proof = [u8; PROOF_BYTES];

/// Why a token can be guessed; `None` if it is strong enough.
#[must_use]
pub fn weakness(token: &str) -> Option<Weakness> {
    let bytes = token.as_bytes();
    let distinct = (0..=u8::MAX).filter(|byte| bytes.contains(byte)).count();
    if bytes.len() < TOKEN_BYTES {
        Some(Weakness::Short(bytes.len()))
    } else {
        (distinct < DISTINCT_BYTES).then_some(Weakness::Repetitive(distinct))
    }
}

/// Why a token can be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    /// It has only this many bytes.
    Short(usize),
    /// It has only this many distinct bytes.
    Repetitive(usize),
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(bytes) => {
                write!(
                    f,
                    "has {bytes} of the {TOKEN_BYTES} characters that it needs"
                )
            }
            Self::Repetitive(distinct) => {
                write!(f, "has {distinct} different characters")
            }
        }
    }
}

/// Fault in the other end's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeFault {
    /// It is not a frame of this protocol.
    Stranger,
    /// It is a frame of another version.
    Version(u8),
    /// Its proof is wrong: another token.
    Token,
}

/// The console's side of a handshake.
#[derive(Debug)]
pub struct Caller {
    nonce: Nonce,
}

impl Caller {
    /// Begins a handshake.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn begin() -> io::Result<Self> {
        Ok(Self { nonce: nonce()? })
    }

    /// The first frame.
    #[must_use]
    pub fn hello(&self) -> [u8; HELLO_BYTES] {
        let mut frame = [0; HELLO_BYTES];
        frame[..HEAD_BYTES].copy_from_slice(&HEAD);
        frame[HEAD_BYTES..].copy_from_slice(&self.nonce);
        frame
    }

    /// The last frame, for a process that has proved that it knows the token.
    ///
    /// # Errors
    /// If the process has not proved it: it must be sent nothing.
    pub fn prove(&self, token: &str, answer: &[u8; ANSWER_BYTES]) -> Result<Proof, HandshakeFault> {
        let (theirs, proof) = read_head(answer)?.split_at(NONCE_BYTES);
        let process = transcript(Role::Process, token, &self.nonce, theirs);
        if !is_same(process, proof) {
            return Err(HandshakeFault::Token);
        }
        Ok(transcript(Role::Console, token, &self.nonce, theirs).finalize())
    }
}

/// The process's side of a handshake.
#[derive(Debug)]
pub struct Callee {
    theirs: Nonce,
    ours: Nonce,
}

impl Callee {
    /// Reads the first frame.
    ///
    /// # Errors
    /// If it is not a frame of this protocol and version.
    pub fn read(hello: &[u8; HELLO_BYTES]) -> Result<Self, HandshakeFault> {
        let mut theirs = [0; NONCE_BYTES];
        theirs.copy_from_slice(read_head(hello)?);
        // Without a nonce of its own a process cannot tell a fresh proof from a recorded one.
        let ours = nonce().map_err(|_| HandshakeFault::Stranger)?;
        Ok(Self { theirs, ours })
    }

    /// The frame that answers the first one.
    #[must_use]
    pub fn answer(&self, token: &str) -> [u8; ANSWER_BYTES] {
        let proof = transcript(Role::Process, token, &self.theirs, &self.ours).finalize();
        let mut frame = refusal();
        let (nonce, rest) = frame[HEAD_BYTES..].split_at_mut(NONCE_BYTES);
        nonce.copy_from_slice(&self.ours);
        rest.copy_from_slice(&proof);
        frame
    }

    /// Whether the last frame proves that the console knows the token.
    #[must_use]
    pub fn is_proof(&self, token: &str, proof: &Proof) -> bool {
        is_same(
            transcript(Role::Console, token, &self.theirs, &self.ours),
            proof,
        )
    }
}

/// The answer to a console of another version: it contains this version, and no proof.
#[must_use]
pub fn refusal() -> [u8; ANSWER_BYTES] {
    let mut frame = [0; ANSWER_BYTES];
    frame[..HEAD_BYTES].copy_from_slice(&HEAD);
    frame
}

/// The maker of a proof.
#[derive(Clone, Copy)]
enum Role {
    Process,
    Console,
}

fn transcript(role: Role, token: &str, console: &[u8], process: &[u8]) -> HMAC {
    let role: &[u8] = match role {
        Role::Process => b" process",
        Role::Console => b" console",
    };
    let mut mac = HMAC::new(token);
    for part in [&HEAD, role, console, process] {
        mac.update(part);
    }
    mac
}

/// Compares in constant time.
fn is_same(expected: HMAC, proof: &[u8]) -> bool {
    proof
        .try_into()
        .is_ok_and(|proof| expected.finalize_verify(proof))
}

/// The rest of a frame after the head.
fn read_head(frame: &[u8]) -> Result<&[u8], HandshakeFault> {
    let (head, rest) = frame.split_at(HEAD_BYTES);
    let (name, version) = head.split_at(HEAD_BYTES - 1);
    if name != &HEAD[..HEAD_BYTES - 1] {
        return Err(HandshakeFault::Stranger);
    }
    match version {
        [VERSION] => Ok(rest),
        [other] => Err(HandshakeFault::Version(*other)),
        _ => Err(HandshakeFault::Stranger),
    }
}

fn nonce() -> io::Result<Nonce> {
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(io::Error::from)?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::{Callee, Caller, HandshakeFault, Weakness, refusal, weakness};

    const TOKEN: &str = "5f2c9a7be01d4386";

    #[test]
    fn two_that_have_the_token_agree() {
        let console = Caller::begin().unwrap();
        let process = Callee::read(&console.hello()).unwrap();
        let proof = console.prove(TOKEN, &process.answer(TOKEN)).unwrap();
        assert!(process.is_proof(TOKEN, &proof));
    }

    #[test]
    fn another_token_proves_nothing() {
        let console = Caller::begin().unwrap();
        let process = Callee::read(&console.hello()).unwrap();
        for other in [
            "",
            "5f2c9a7be01d4387",
            "5f2c9a7be01d43860",
            "5F2C9A7BE01D4386",
        ] {
            let answer = console.prove(TOKEN, &process.answer(other));
            assert_eq!(answer, Err(HandshakeFault::Token), "{other}");
            let proof = console.prove(other, &process.answer(other)).unwrap();
            assert!(!process.is_proof(TOKEN, &proof), "{other}");
        }
    }

    #[test]
    fn what_was_recorded_is_of_no_use() {
        let console = Caller::begin().unwrap();
        let process = Callee::read(&console.hello()).unwrap();
        let answer = process.answer(TOKEN);
        let proof = console.prove(TOKEN, &answer).unwrap();
        // Replayed to another console, to another process, and to its sender.
        let next = Caller::begin().unwrap();
        assert_eq!(next.prove(TOKEN, &answer), Err(HandshakeFault::Token));
        let again = Callee::read(&console.hello()).unwrap();
        assert!(!again.is_proof(TOKEN, &proof));
        let mut own = [0; super::PROOF_BYTES];
        own.copy_from_slice(&answer[answer.len() - super::PROOF_BYTES..]);
        assert!(!process.is_proof(TOKEN, &own), "reflected");
    }

    #[test]
    fn each_bit_of_a_frame_counts() {
        let console = Caller::begin().unwrap();
        let process = Callee::read(&console.hello()).unwrap();
        let answer = process.answer(TOKEN);
        for bit in 0..answer.len() * 8 {
            let mut changed = answer;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(console.prove(TOKEN, &changed).is_err(), "bit {bit}");
        }
        let proof = console.prove(TOKEN, &answer).unwrap();
        for bit in 0..proof.len() * 8 {
            let mut changed = proof;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!process.is_proof(TOKEN, &changed), "bit {bit}");
        }
    }

    #[test]
    fn other_frames_are_told_apart() {
        let console = Caller::begin().unwrap();
        let mut later = console.hello();
        later[9] = 7;
        assert_eq!(
            Callee::read(&later).unwrap_err(),
            HandshakeFault::Version(7)
        );
        let mut http = console.hello();
        http[..10].copy_from_slice(b"PRI * HTTP");
        assert_eq!(Callee::read(&http).unwrap_err(), HandshakeFault::Stranger);
        let mut theirs = refusal();
        assert_eq!(console.prove(TOKEN, &theirs), Err(HandshakeFault::Token));
        theirs[9] = 2;
        assert_eq!(
            console.prove(TOKEN, &theirs),
            Err(HandshakeFault::Version(2))
        );
    }

    #[test]
    fn a_token_is_long_and_varied() {
        for (token, expected) in [
            ("", Some(Weakness::Short(0))),
            ("x", Some(Weakness::Short(1))),
            ("5f2c9a7be01d438", Some(Weakness::Short(15))),
            ("1111111111111111", Some(Weakness::Repetitive(1))),
            ("abcabcabcabcabcabc", Some(Weakness::Repetitive(3))),
            (TOKEN, None),
        ] {
            assert_eq!(weakness(token), expected, "{token}");
        }
    }
}
