#![allow(unused_variables)]

#[turbowish::instrument(intends)]
async fn without_any(tx: u8) {}

#[turbowish::instrument(may())]
async fn with_none(tx: u8) {}

#[turbowish::instrument(intends = "send(tx)")]
async fn as_text(tx: u8) {}

#[turbowish::instrument(intends(post(tx)))]
async fn unknown_verb(tx: u8) {}

#[turbowish::instrument(intends(send))]
async fn without_place(tx: u8) {}

#[turbowish::instrument(intends(lock()))]
async fn without_lock(tx: u8) {}

#[turbowish::instrument(intends(tx))]
async fn without_verb(tx: u8) {}

#[turbowish::instrument(intends(send(tx, rx)))]
async fn two_places(tx: u8, rx: u8) {}

#[turbowish::instrument(intends(send(tx) recv(rx)))]
async fn without_comma(tx: u8, rx: u8) {}

#[turbowish::instrument(intends(send(tx), send(tx)))]
async fn said_twice(tx: u8) {}

#[turbowish::instrument(intends(send(tx)), may(send(tx)))]
async fn will_and_may(tx: u8) {}

#[turbowish::instrument(intends(send(tx)), intends(recv(rx)))]
async fn two_lists(tx: u8, rx: u8) {}

#[turbowish::instrument(intends(lock(self.db())))]
async fn a_call(tx: u8) {}

#[turbowish::instrument(intends(lock(shards[0])))]
async fn an_index(shards: [u8; 2]) {}

#[turbowish::instrument(intends(send(&tx)))]
async fn a_reference(tx: u8) {}

#[turbowish::instrument(intends(send(nobody)))]
async fn unknown_name(tx: u8) {}

struct Type;

#[turbowish::instrument(intends(send(tx)))]
impl Type {
    async fn method(&self) {}
}

async fn body(tx: u8) {
    let _ = turbowish::intend!(will post(tx));
    let _ = turbowish::intend!(will send);
    let _ = turbowish::intend!(may lock());
    let _ = turbowish::intend!(send(tx));
    let _ = turbowish::intend!(maybe send(tx));
    let _ = turbowish::intend!();
    let _ = turbowish::intend!(will send(nobody));
}

fn main() {
    // The items are there all the same: no second error.
    drop((without_any(1), with_none(1), as_text(1), unknown_verb(1), without_place(1), without_lock(1)));
    drop((without_verb(1), two_places(1, 1), without_comma(1, 1), said_twice(1), will_and_may(1)));
    drop((two_lists(1, 1), a_call(1), an_index([1, 1]), a_reference(1), Type.method(), body(1)));
}
