//! The functions that every program is made of: annotated as users' are, each plays any part of its
//! proc.

use std::panic::resume_unwind;
use std::pin::Pin;

use turbowish_macros::instrument;
use turbowish_model::account::call::PollEnd;

use super::program::Act;
use super::stage::{Part, Scheduled, Turns};
use crate::hot::switch;

/// How many procs there are.
pub(super) const PROCS: usize = 5;
/// How many calls deep one awaits another where it is made; a future that holds itself needs a box.
pub(super) const DEEPEST: usize = 3;

type Deepest = Deep<Deep<Deep<Bottom>>>;
pub(super) type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Bottom;
struct Deep<B>(B);

macro_rules! family {
    ([$($name:ident $number:literal)*] $part:ident $body:block) => {
        /// The calls that a body may await by name.
        trait Below: Send + Sync + 'static {
            $(fn $name(part: Part) -> impl Future<Output = ()> + Send;)*
        }

        impl<B: Below> Below for Deep<B> {
            $(fn $name(part: Part) -> impl Future<Output = ()> + Send {
                $name::<B>(part)
            })*
        }

        impl Below for Bottom {
            $(fn $name(_: Part) -> impl Future<Output = ()> + Send {
                async { unreachable!("programs are less deep") }
            })*
        }

        $(#[instrument]
        async fn $name<B: Below>($part: Part) $body)*

        /// Calls the function of a proc; as the root of a task, if it is marked so.
        pub(super) fn call(proc: usize, part: Part, marked: bool) -> Boxed {
            match proc {
                $($number if marked => Box::pin(crate::task($name::<Deepest>(part))),)*
                $($number => Box::pin($name::<Deepest>(part)),)*
                _ => unreachable!("there are no more procs"),
            }
        }
    };
}

family! {
    [p0 0 p1 1 p2 2 p3 3 p4 4]
    part {
        loop {
            Turns(&part).await;
            match part.take() {
                Some(Act::Create { id, proc, marked, .. }) => part.create(id, proc, marked),
                Some(Act::Drop { id, .. }) => part.drop_call(id),
                Some(Act::Await { id, proc, .. }) => match proc {
                    0 => B::p0(part.of(id)).await,
                    1 => B::p1(part.of(id)).await,
                    2 => B::p2(part.of(id)).await,
                    3 => B::p3(part.of(id)).await,
                    _ => B::p4(part.of(id)).await,
                },
                Some(Act::Wake { .. }) => {}
                Some(Act::Arm) => _ = switch::arm(),
                Some(Act::End { end: PollEnd::Panic, .. }) => resume_unwind(Box::new(Scheduled)),
                _ => return,
            }
        }
    }
}
