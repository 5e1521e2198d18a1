//! Verbs of intents, as users write them.

use turbowish_model::account::resource::Role;

/// A verb of an intent.
pub trait Verb: Copy {
    /// The role in which the verb uses the resource.
    const ROLE: Role;
}

macro_rules! verbs {
    ($($(#[$doc:meta])* $Verb:ident = $Role:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Verb;

        impl Verb for $Verb {
            const ROLE: Role = Role::$Role;
        }
    )*};
}

verbs! {
    /// `send(tx)`
    Send = Send;
    /// `recv(rx)`
    Recv = Receive;
    /// `lock(mutex)`
    Lock = Lock;
    /// `read(rwlock)`
    Read = Read;
    /// `write(rwlock)`
    Write = Write;
    /// `acquire(semaphore)`
    Acquire = Acquire;
    /// `wait(notify)`
    Wait = Wait;
}
