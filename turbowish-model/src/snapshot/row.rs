//! One declaration for each kind of row: `row!` makes its struct, its JSON fields, the reader of
//! saved reports and the merge of a group from it.
//!
//! A field is a line:
//!
//! ```text
//! /// Time waited here, open waits included.
//! waited_ns: u64 [sum];
//! ```
//!
//! The word in brackets is the function of [`crate::snapshot::merge`] that merges the field of two
//! rows of a group. The JSON field has the same name; `as name` gives it another one, and
//! `as name(read, write)` another value. Lines that begin with `+` are JSON fields without a field
//! in the struct. The order of the lines is the order in JSON and CSV.
//!
//! The first word of the declaration names a macro that lists the fields, for `turbowish-wire`:
//! `proc_row!(mirror)` expands to `mirror! { ProcRow { proc file … } }`.

macro_rules! row {
    (
        $dollar:tt $list:ident
        $(#[doc = $about:literal])+
        $row:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty [$merge:ident]
                    $(as $json:ident $(($read:expr, $write:expr))?)?;
                $(+ $more:ident($more_read:expr, $more_write:expr);)*
            )+
        }
        $(merged also by $also:expr;)?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $row {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl $crate::snapshot::json::Record for $row {
            fn each_field(&self, see: &mut dyn $crate::snapshot::json::See) {
                $(
                    row!(@read self see $field $(as $json $(($read, $write))?)?);
                    $(
                        let read: $crate::snapshot::json::Read<Self> = $more_read;
                        see.see(stringify!($more), read(self));
                    )*
                )+
            }

            fn setters() -> &'static [$crate::snapshot::json::Setter<Self>] {
                static SETTERS: &[$crate::snapshot::json::Setter<$row>] = &[$(
                    row!(@write $row $field $(as $json $(($read, $write))?)?),
                    $($more_write,)*
                )+];
                SETTERS
            }

            fn merge(&mut self, other: &Self) {
                $(
                    let also: fn(&mut Self, &Self) = $also;
                    also(self, other);
                )?
                $($crate::snapshot::merge::$merge(&mut self.$field, &other.$field);)+
            }
        }

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($dollar callback:ident) => {
                $dollar callback! { $row { $($field)+ } }
            };
        }
    };
    (@read $row:ident $see:ident $field:ident) => {
        row!(@read $row $see $field as $field)
    };
    (@read $row:ident $see:ident $field:ident as $json:ident) => {
        $see.see(stringify!($json), $crate::snapshot::json::Spelled::spell(&$row.$field))
    };
    (@read $row:ident $see:ident $field:ident as $json:ident($read:expr, $write:expr)) => {
        let read: $crate::snapshot::json::Read<Self> = $read;
        $see.see(stringify!($json), read($row))
    };
    (@write $row:ident $field:ident $(as $json:ident)?) => {
        |row, value| $crate::snapshot::json::put(&mut row.$field, value)
    };
    (@write $row:ident $field:ident as $json:ident($read:expr, $write:expr)) => {
        $write
    };
}

pub(super) use row;
