//! Which auto traits a type has, as a value, so that two types can be compared.

use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::MutexGuard;

/// A type, without a value of it.
pub(crate) struct Of<T: ?Sized>(PhantomData<*const T>);

/// The type of a value.
pub(crate) const fn of<T>(_: &T) -> Of<T> {
    Of(PhantomData)
}

impl<T: ?Sized> Of<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

macro_rules! questions {
    ($($Trait:ident $question:ident $No:ident)*) => {$(
        impl<T: ?Sized + $Trait> Of<T> {
            pub(crate) const fn $question(&self) -> bool {
                true
            }
        }

        /// What answers where the trait is missing.
        pub(crate) trait $No {
            fn $question(&self) -> bool {
                false
            }
        }

        impl<T: ?Sized> $No for Of<T> {}
    )*};
}

questions! {
    Send send NotSend
    Sync sync NotSync
    Unpin unpin NotUnpin
    UnwindSafe unwind_safe NotUnwindSafe
    RefUnwindSafe ref_unwind_safe NotRefUnwindSafe
}

/// A name, and whether each of the five traits is there.
pub(crate) type Answer = (String, [bool; 5]);

/// The answers for types and for values, with a name for what they hold.
macro_rules! answers {
    ($of:expr; $(type $Type:ty,)* $(value $name:ident = $value:expr,)*) => {{
        #[allow(unused_imports, reason = "not all are asked of every type")]
        use crate::traits::{NotRefUnwindSafe, NotSend, NotSync, NotUnpin, NotUnwindSafe};
        macro_rules! ask {
            ($type:expr) => {{
                let it = $type;
                [it.send(), it.sync(), it.unpin(), it.unwind_safe(), it.ref_unwind_safe()]
            }};
        }
        vec![
            $((concat!($of, ": ", stringify!($Type)).to_owned(), ask!(crate::traits::Of::<$Type>::new())),)*
            $((concat!($of, ": ", stringify!($name)).to_owned(), ask!(crate::traits::of(&$value))),)*
        ]
    }};
}

/// Things to put into a channel or a lock: each lacks something.
macro_rules! payloads {
    ($($(#[$doc:meta])* $Name:ident($Lacks:ty))*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        pub(crate) struct $Name(PhantomData<$Lacks>);

        impl Clone for $Name {
            fn clone(&self) -> Self {
                Self(PhantomData)
            }
        }
    )*};
}

payloads! {
    /// Nothing is missing.
    Plain(())
    /// Not `Sync`, not `RefUnwindSafe`.
    Unshared(Cell<u8>)
    /// Not `Send`.
    Bound(MutexGuard<'static, u8>)
    /// Neither `Send` nor `Sync`.
    Local(*const u8)
    /// Not `Unpin`.
    Pinned(PhantomPinned)
    /// Not `UnwindSafe`.
    Unsafe(&'static mut u8)
}

/// All answers of a function-like macro that takes a name and a payload.
macro_rules! for_payloads {
    ($table:ident) => {{
        use crate::traits::{Bound, Local, Pinned, Plain, Unsafe, Unshared};
        let mut all: Vec<crate::traits::Answer> = Vec::new();
        all.extend($table!("Plain", Plain));
        all.extend($table!("Unshared", Unshared));
        all.extend($table!("Bound", Bound));
        all.extend($table!("Local", Local));
        all.extend($table!("Pinned", Pinned));
        all.extend($table!("Unsafe", Unsafe));
        all
    }};
}
