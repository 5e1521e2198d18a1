//! Table of all rules: reports, their documentation and its test take ids and texts from here.

/// A rule as documented.
#[derive(Clone, Copy, Debug)]
pub struct RuleRow {
    /// The rule.
    pub rule: Rule,
    /// Name in reports.
    pub id: &'static str,
    /// What a report states of its subject.
    pub text: &'static str,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident $id:literal $text:literal;)*) => {
        /// An impossible or misreported event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[$doc])* $name,)*
        }

        /// Every rule, in the order of [`Rule`].
        pub const RULES: &[RuleRow] = &[$(RuleRow { rule: Rule::$name, id: $id, text: $text },)*];
    };
}

rules! {
    /// The clock of a thread goes back.
    TimeBack "time_back" "earlier than the event before it on this thread";

    /// A call that was not created.
    UnknownCall "unknown_call" "it was never created";
    /// A call that is created while it lives.
    CallTwice "call_twice" "created, and it lives";
    /// The end of a poll that is not open.
    OrphanEnd "orphan_end" "the end of a poll that is not open on this thread";
    /// A poll is still open when one below it ends.
    ForcedEnd "forced_end" "its poll is open when the poll below it ends";
    /// A second poll of a call that is being polled.
    OverlappingPoll "overlapping_poll" "polled, and a poll of it is open";
    /// A poll of a call that has ended.
    EndedCall "ended_call" "polled after it has ended";
    /// A call is dropped in its own poll.
    DroppedInPoll "dropped_in_poll" "dropped, and a poll of it is open";
    /// A call is of another proc than before.
    ProcChanged "proc_changed" "polled as a call of another proc than it was created as";

    /// A task that has not begun.
    UnknownTask "unknown_task" "it has not begun";
    /// A task that begins again.
    TaskTwice "task_twice" "it begins a second time";
    /// A task begins with a call that is not polled here, or is another task's.
    NotARoot "not_a_root" "its root is not polled on this thread, or is the root of another task";
    /// A task that is over does something.
    EndedTask "ended_task" "it has ended";
    /// A task is over and its root lives.
    TaskOutlived "task_outlived" "it has ended, and its root lives";
    /// A task does something on a thread that does not poll it.
    TaskElsewhere "task_elsewhere" "it does something on a thread that does not poll it";
    /// More wakers are dropped than there are.
    WakersBelowZero "wakers_below_zero" "more of its wakers are dropped than were cloned";
    /// Nobody has a waker.
    WokenByNobody "woken_by_nobody" "woken, and nobody has a waker of it";

    /// A resource that was not made.
    UnknownResource "unknown_resource" "it was never made";
    /// A resource that is made again.
    ResourceTwice "resource_twice" "made a second time";
    /// A resource that is gone is used.
    GoneResource "gone_resource" "used after it was dropped";
    /// A ticket is given twice.
    TicketTwice "ticket_twice" "somebody begins to wait under a ticket that was given before";
    /// A claim is served twice.
    ServedTwice "served_twice" "served, and was served before or has left";
    /// What is taken is not what was waited for.
    OtherClaim "other_claim" "taken by another task, in another role or amount than waited for";
    /// What is given back is not held.
    NotHeld "not_held" "given back, and nobody holds it";
    /// Who leaves the line is not in it.
    NotWaiting "not_waiting" "leaves the line, and is not in it";
    /// Two have what one may have alone.
    TwoHolders "two_holders" "taken, and somebody holds what only one may have";
    /// More is held than there is.
    OverCapacity "over_capacity" "more of it is held than there is";
    /// A mutex goes to one who came later.
    OutOfTurn "out_of_turn" "taken, and another one has waited longer";
    /// More items are inside than fit in.
    Overfull "overfull" "more items come in than fit in";
    /// More items went out than came in.
    TookTooMany "took_too_many" "more items go out than came in";
    /// A closed resource is put into.
    ClosedResource "closed_resource" "items come in after it was closed";
    /// A resource is dropped while it is claimed.
    DroppedInUse "dropped_in_use" "dropped, and somebody holds it or waits for it";

    /// Refers to an intent that was not declared.
    UnknownIntent "unknown_intent" "it was never made";
    /// An intent is declared again.
    IntentTwice "intent_twice" "made a second time";
    /// An intent that has ended changes.
    EndedIntent "ended_intent" "it is done or gone";
    /// A certain intent becomes certain again.
    SureTwice "sure_twice" "made sure, and it is";

    /// A name is used for two kinds of data.
    KindChanged "kind_changed" "one name for data of two kinds";

    /// A console connects that is connected.
    ClientTwice "client_twice" "it connects, and is connected";
    /// A console that is not connected does something.
    UnknownClient "unknown_client" "it is not connected";
    /// Accounting is switched to the state it is in.
    SwitchedTwice "switched_twice" "it switches accounting to what it is";
    /// The program is observed while accounting is off.
    Unarmed "unarmed" "an event of the program while accounting is off";
    /// A paused task is paused.
    PausedTwice "paused_twice" "paused, and it is";
    /// A task that is not paused is resumed.
    NotPaused "not_paused" "told to go on, and it is not paused";
    /// A paused task is polled.
    PausedPoll "paused_poll" "polled, and it is paused";
    /// An answer counts other live calls than the stream.
    ReplyDiffers "reply_differs" "its answer counts other calls than live";
}

impl Rule {
    /// Returns the rule's row in the table.
    #[must_use]
    pub const fn row(self) -> &'static RuleRow {
        &RULES[self as usize]
    }
}
