//! `mirror!` writes both directions between a type of the model and its message, field by field,
//! and the way from the type to the bytes. A field that only one side has does not compile.

use turbowish_model::snapshot::Page;
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::quantile::Distribution;

use super::{Fault, Malformed};
use crate::encode::{Encode, Output, Packed, as_another, put};
use crate::proto;

/// A value of the model that a field of a message stands for.
pub(super) trait Mirror<P>: Sized {
    /// The field's value.
    fn send(self) -> P;

    /// The value of `field`, which is named `Message.field`.
    fn receive(sent: P, field: &'static str) -> Result<Self, Malformed>;
}

/// `mirror!(Party = Party { kind id name })`: a type of the model, its message, and the fields of
/// both. `and { … }` sets fields that only the message has.
macro_rules! mirror {
    ($row:ident { $($field:ident)+ }) => {
        mirror!($row = $row { $($field)+ });
    };
    (
        $model:ident = $sent:ident { $($field:ident)+ } $(and { $($own:ident: $value:expr)+ })?
    ) => {
        impl From<$model> for $crate::proto::$sent {
            fn from($model { $($field),+ }: $model) -> Self {
                Self {
                    $($field: $crate::convert::mirror::Mirror::send($field),)+
                    $($($own: $value,)+)?
                }
            }
        }

        impl TryFrom<$crate::proto::$sent> for $model {
            type Error = $crate::convert::Malformed;

            #[inline(never)]
            fn try_from(sent: $crate::proto::$sent) -> Result<Self, Self::Error> {
                Ok(Self {
                    $($field: $crate::convert::mirror::Mirror::receive(
                        sent.$field,
                        concat!(stringify!($sent), ".", stringify!($field)),
                    )?,)+
                })
            }
        }

        impl $crate::encode::Encode for $model {
            fn encode(&self, output: &mut $crate::encode::Output) {
                let Self { $($field),+ } = self;
                $crate::encode::put!(output, $sent { $($field)+ });
            }
        }

        $crate::convert::mirror::message!($model = $sent);
    };
}

/// A type that has both conversions can be a field, alone or required.
macro_rules! message {
    ($model:ty = $sent:ident) => {
        impl $crate::convert::mirror::Mirror<$crate::proto::$sent> for $model {
            fn send(self) -> $crate::proto::$sent {
                self.into()
            }

            fn receive(
                sent: $crate::proto::$sent,
                _: &'static str,
            ) -> Result<Self, $crate::convert::Malformed> {
                sent.try_into()
            }
        }

        impl $crate::convert::mirror::Mirror<Option<$crate::proto::$sent>> for $model {
            fn send(self) -> Option<$crate::proto::$sent> {
                Some(self.into())
            }

            fn receive(
                sent: Option<$crate::proto::$sent>,
                field: &'static str,
            ) -> Result<Self, $crate::convert::Malformed> {
                sent.ok_or($crate::convert::Malformed::missing(field))?
                    .try_into()
            }
        }
    };
}

/// `mirror_enum!(Severity = Severity { Alert Warning Note })`: messages carry an enum as a number,
/// of which 0 is no value.
macro_rules! mirror_enum {
    ($model:ident = $sent:ident { $($value:ident)+ }) => {
        impl From<$model> for $crate::proto::$sent {
            fn from(value: $model) -> Self {
                match value {
                    $($model::$value => Self::$value,)+
                }
            }
        }

        $crate::encode::as_another! {
            $model: value => u64::from($crate::proto::$sent::from(*value) as u32);
        }

        impl $crate::convert::mirror::Mirror<i32> for $model {
            fn send(self) -> i32 {
                $crate::proto::$sent::from(self).into()
            }

            fn receive(
                sent: i32,
                field: &'static str,
            ) -> Result<Self, $crate::convert::Malformed> {
                match $crate::proto::$sent::try_from(sent) {
                    $(Ok($crate::proto::$sent::$value) => Ok(Self::$value),)+
                    Ok($crate::proto::$sent::Unspecified) | Err(_) => {
                        Err($crate::convert::Malformed::unknown(field, sent))
                    }
                }
            }
        }
    };
}

pub(super) use {message, mirror, mirror_enum};

macro_rules! plain {
    ($($type:ty)+) => {$(
        impl Mirror<$type> for $type {
            fn send(self) -> Self {
                self
            }

            fn receive(sent: Self, _: &'static str) -> Result<Self, Malformed> {
                Ok(sent)
            }
        }
    )+};
}

plain!(bool u32 u64 i64 String);

impl<M: Mirror<P>, P> Mirror<Option<P>> for Option<M> {
    fn send(self) -> Option<P> {
        self.map(M::send)
    }

    fn receive(sent: Option<P>, field: &'static str) -> Result<Self, Malformed> {
        sent.map(|sent| M::receive(sent, field)).transpose()
    }
}

impl<M: Mirror<P>, P> Mirror<Vec<P>> for Vec<M> {
    fn send(self) -> Vec<P> {
        self.into_iter().map(M::send).collect()
    }

    fn receive(sent: Vec<P>, field: &'static str) -> Result<Self, Malformed> {
        let mut rows = Self::with_capacity(sent.len());
        for sent in sent {
            rows.push(M::receive(sent, field)?);
        }
        Ok(rows)
    }
}

/// The last user of a channel's end.
impl Mirror<proto::End> for Option<String> {
    fn send(self) -> proto::End {
        proto::End { task: self }
    }

    fn receive(sent: proto::End, _: &'static str) -> Result<Self, Malformed> {
        Ok(sent.task)
    }
}

/// An attribute.
impl Mirror<proto::Attribute> for (String, String) {
    fn send(self) -> proto::Attribute {
        let (name, value) = self;
        proto::Attribute { name, value }
    }

    fn receive(sent: proto::Attribute, _: &'static str) -> Result<Self, Malformed> {
        Ok((sent.name, sent.value))
    }
}

impl Encode for (String, String) {
    fn encode(&self, output: &mut Output) {
        let (name, value) = self;
        put!(output, Attribute { name value });
    }
}

as_another! {
    Pitfall: value => *value.id();
}

impl Mirror<String> for Pitfall {
    fn send(self) -> String {
        self.id().to_owned()
    }

    fn receive(sent: String, field: &'static str) -> Result<Self, Malformed> {
        Self::from_id(&sent).ok_or_else(|| Malformed::name(field, sent))
    }
}

/// The populations that were added to the protocol later: absent ones are empty.
const NEWER: [&str; 4] = [
    "AwaitRow.await_wait",
    "ProcRow.ready_latency",
    "ProcRow.call_wall",
    "Snapshot.ready_latency",
];

impl Mirror<Option<proto::Distribution>> for Distribution {
    fn send(self) -> Option<proto::Distribution> {
        Some(self.into())
    }

    fn receive(sent: Option<proto::Distribution>, field: &'static str) -> Result<Self, Malformed> {
        match sent {
            Some(sent) => sent.try_into(),
            None if NEWER.contains(&field) => Ok(Self::default()),
            None => Err(Malformed::missing(field)),
        }
    }
}

impl From<Distribution> for proto::Distribution {
    fn from(distribution: Distribution) -> Self {
        let Distribution {
            n,
            sum_ns,
            max_ns,
            buckets,
        } = distribution;
        let (upper_ns, count) = buckets.into_iter().unzip();
        Self {
            n,
            sum_ns,
            max_ns,
            upper_ns,
            count,
        }
    }
}

impl Encode for Distribution {
    fn encode(&self, output: &mut Output) {
        let Self {
            n,
            sum_ns,
            max_ns,
            buckets,
        } = self;
        let (upper_ns, count) = (
            Packed(buckets, |bucket| bucket.0),
            Packed(buckets, |bucket| bucket.1),
        );
        put!(output, Distribution { n sum_ns max_ns } and { upper_ns: &upper_ns, count: &count });
    }
}

impl TryFrom<proto::Distribution> for Distribution {
    type Error = Malformed;

    fn try_from(distribution: proto::Distribution) -> Result<Self, Malformed> {
        let proto::Distribution {
            n,
            sum_ns,
            max_ns,
            upper_ns,
            count,
        } = distribution;
        let field = "Distribution.upper_ns";
        if upper_ns.len() != count.len() {
            let fault = Fault::Lengths {
                upper: upper_ns.len(),
                count: count.len(),
            };
            return Err(Malformed { field, fault });
        }
        if !upper_ns.is_sorted_by(|a, b| a < b) {
            return Err(Malformed {
                field,
                fault: Fault::Unordered,
            });
        }
        Ok(Self {
            n,
            sum_ns,
            max_ns,
            buckets: upper_ns.into_iter().zip(count).collect(),
        })
    }
}

/// The tables that every process sends. One that lacks another table is of an earlier version, and
/// has no rows.
const ALWAYS: [&str; 3] = ["Snapshot.procs", "Snapshot.tasks", "Snapshot.awaits"];

/// The pages of all tables, which have the same three fields.
macro_rules! pages {
    ($($(#[doc = $about:literal])+ $field:ident: $table:ident, $row:ty, $page:ident;)+) => {$(
        impl Encode for Page<$row> {
            fn encode(&self, output: &mut Output) {
                let Self { rows, total, matched } = self;
                put!(output, $page { rows total matched });
            }
        }

        impl Mirror<Option<proto::$page>> for Page<$row> {
            fn send(self) -> Option<proto::$page> {
                let Self { rows, total, matched } = self;
                let rows = rows.send();
                Some(proto::$page { rows, total, matched })
            }

            fn receive(sent: Option<proto::$page>, field: &'static str) -> Result<Self, Malformed> {
                match sent {
                    Some(proto::$page { rows, total, matched }) => {
                        let rows = Vec::receive(rows, field)?;
                        Ok(Self { rows, total, matched })
                    }
                    None if ALWAYS.contains(&field) => Err(Malformed::missing(field)),
                    None => Ok(Self::default()),
                }
            }
        }
    )+};
}

turbowish_model::tables!(pages);
