//! Steps with each primitive, and what came of them.

use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::start;
use super::sync::{
    MappedMutexGuard, Mutex, MutexGuard, Notify, OnceCell, OwnedMappedMutexGuard, OwnedMutexGuard,
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit,
    RwLock, RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit,
};
use crate::lockstep::Step;

/// One word for each step.
type Trace = Vec<String>;

/// A wait, or what came out of it.
enum Seat<'a, G> {
    Empty,
    Waits(Pin<Box<dyn Future<Output = G> + 'a>>),
    Has(G),
}

impl<'a, G> Seat<'a, G> {
    fn begin(wait: impl Future<Output = G> + 'a) -> (Self, &'static str) {
        Self::Waits(Box::pin(wait)).poll()
    }

    fn poll(self) -> (Self, &'static str) {
        match self {
            Self::Waits(mut wait) => {
                match wait.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(has) => (Self::Has(has), "ready"),
                    Poll::Pending => (Self::Waits(wait), "pending"),
                }
            }
            other => (other, "nothing to poll"),
        }
    }

    fn tried<E: ToString>(tried: Result<G, E>) -> (Self, String) {
        match tried {
            Ok(has) => (Self::Has(has), "has".to_owned()),
            Err(error) => (Self::Empty, error.to_string()),
        }
    }
}

/// Takes `steps` with what there is; `$seats` is the seats, each arm says what comes of its step.
macro_rules! walk {
    ($steps:expr, $seats:ident: $G:ty, {
        begin($begin_kind:ident) $begin:expr,
        try($try_kind:ident) $try:expr,
        change($has:ident, $change_kind:ident) $change:expr,
        act($act_kind:ident) $act:expr,
        state $state:expr,
    }) => {{
        let mut $seats: Vec<Seat<'_, $G>> = (0..6).map(|_| Seat::Empty).collect();
        let mut trace = Trace::new();
        for step in $steps {
            let word: String = match *step {
                Step::Begin(seat, $begin_kind) => {
                    $seats[seat] = Seat::Empty;
                    let (begun, word) = Seat::begin($begin);
                    $seats[seat] = begun;
                    word.to_owned()
                }
                Step::Poll(seat) => {
                    let polled = std::mem::replace(&mut $seats[seat], Seat::Empty);
                    let (polled, word) = polled.poll();
                    $seats[seat] = polled;
                    word.to_owned()
                }
                Step::Drop(seat) => {
                    $seats[seat] = Seat::Empty;
                    "dropped".to_owned()
                }
                Step::Try(seat, $try_kind) => {
                    $seats[seat] = Seat::Empty;
                    let (tried, word) = Seat::tried($try);
                    $seats[seat] = tried;
                    word
                }
                Step::Change(seat, $change_kind) => {
                    match std::mem::replace(&mut $seats[seat], Seat::Empty) {
                        Seat::Has($has) => {
                            let (changed, word) = $change;
                            $seats[seat] = Seat::Has(changed);
                            word
                        }
                        other => {
                            $seats[seat] = other;
                            "nothing to change".to_owned()
                        }
                    }
                }
                Step::Act($act_kind) => $act,
            };
            trace.push(format!("{word} {}", $state));
        }
        trace
    }};
}

enum MutexHas<'a> {
    Guard(MutexGuard<'a, (u8, u8)>),
    Mapped(MappedMutexGuard<'a, u8>),
    Owned(OwnedMutexGuard<(u8, u8)>),
    OwnedMapped(OwnedMappedMutexGuard<(u8, u8), u8>),
}

pub(crate) fn mutex(steps: &[Step]) -> Trace {
    use MutexHas::{Guard, Mapped, Owned, OwnedMapped};
    start();
    let mutex = Arc::new(Mutex::new((0, 0)));
    let wait = |kind: u8| {
        let mutex = &mutex;
        async move {
            match kind % 2 {
                0 => Guard(mutex.lock().await),
                _ => Owned(mutex.clone().lock_owned().await),
            }
        }
    };
    walk!(steps, seats: MutexHas<'_>, {
        begin(kind) wait(kind),
        try(kind) match kind % 2 {
            0 => mutex.try_lock().map(Guard),
            _ => mutex.clone().try_lock_owned().map(Owned),
        },
        change(has, kind) match (has, kind % 2) {
            (Guard(guard), 0) => (Mapped(MutexGuard::map(guard, |all| &mut all.0)), "mapped".to_owned()),
            (Guard(guard), _) => match MutexGuard::try_map(guard, |_| None::<&mut u8>) {
                Ok(mapped) => (Mapped(mapped), "mapped".to_owned()),
                Err(guard) => (Guard(guard), "not mapped".to_owned()),
            },
            (Owned(guard), 0) => {
                let mapped = OwnedMutexGuard::map(guard, |all| &mut all.1);
                (OwnedMapped(mapped), "mapped".to_owned())
            }
            (Owned(guard), _) => match OwnedMutexGuard::try_map(guard, |_| None::<&mut u8>) {
                Ok(mapped) => (OwnedMapped(mapped), "mapped".to_owned()),
                Err(guard) => (Owned(guard), "not mapped".to_owned()),
            },
            (Mapped(mut mapped), _) => {
                *mapped = mapped.wrapping_add(1);
                (Mapped(mapped), "added".to_owned())
            }
            (OwnedMapped(mut mapped), _) => {
                *mapped = mapped.wrapping_add(1);
                (OwnedMapped(mapped), "added".to_owned())
            }
        },
        act(_kind) format!("{mutex:?}").contains("locked").to_string(),
        state mutex.try_lock().is_ok(),
    })
}

enum RwLockHas<'a> {
    Read(RwLockReadGuard<'a, u8>),
    Write(RwLockWriteGuard<'a, u8>),
    #[allow(dead_code, reason = "held until it is dropped")]
    Mapped(RwLockMappedWriteGuard<'a, u8>),
    OwnedRead(OwnedRwLockReadGuard<u8>),
    OwnedWrite(OwnedRwLockWriteGuard<u8>),
    #[allow(dead_code, reason = "held until it is dropped")]
    OwnedMapped(OwnedRwLockMappedWriteGuard<u8>),
}

pub(crate) fn rwlocks(steps: &[Step]) -> [Trace; 2] {
    start();
    let limited = RwLock::with_max_readers(0, 3);
    [RwLock::new(0), limited].map(|lock| rwlock(&Arc::new(lock), steps))
}

fn rwlock(lock: &Arc<RwLock<u8>>, steps: &[Step]) -> Trace {
    use RwLockHas::{Mapped, OwnedMapped, OwnedRead, OwnedWrite, Read, Write};
    let wait = |kind: u8| async move {
        match kind % 4 {
            0 => Read(lock.read().await),
            1 => Write(lock.write().await),
            2 => OwnedRead(lock.clone().read_owned().await),
            _ => OwnedWrite(lock.clone().write_owned().await),
        }
    };
    let said = |word: &str| word.to_owned();
    walk!(steps, seats: RwLockHas<'_>, {
        begin(kind) wait(kind),
        try(kind) match kind % 4 {
            0 => lock.try_read().map(Read),
            1 => lock.try_write().map(Write),
            2 => lock.clone().try_read_owned().map(OwnedRead),
            _ => lock.clone().try_write_owned().map(OwnedWrite),
        },
        change(has, kind) match (has, kind % 4) {
            (Write(mut write), 0) => {
                *write = write.wrapping_add(1);
                (Write(write), said("added"))
            }
            (Write(write), 1) => (Read(write.downgrade()), said("downgraded")),
            (Write(write), 2) => (Mapped(RwLockWriteGuard::into_mapped(write)), said("mapped")),
            (Write(write), _) => match RwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>) {
                Ok(read) => (Read(read), said("downgraded")),
                Err(write) => (Write(write), said("not downgraded")),
            },
            (OwnedWrite(mut write), 0) => {
                *write = write.wrapping_add(1);
                (OwnedWrite(write), said("added"))
            }
            (OwnedWrite(write), 1) => (OwnedRead(write.downgrade()), said("downgraded")),
            (OwnedWrite(write), 2) => {
                let mapped = OwnedRwLockWriteGuard::into_mapped(write);
                (OwnedMapped(mapped), said("mapped"))
            }
            (OwnedWrite(write), _) => {
                match OwnedRwLockWriteGuard::try_downgrade_map(write, |_| None::<&u8>) {
                    Ok(read) => (OwnedRead(read), said("downgraded")),
                    Err(write) => (OwnedWrite(write), said("not downgraded")),
                }
            }
            (Read(read), _) => (Read(RwLockReadGuard::map(read, |all| all)), said("mapped")),
            (OwnedRead(read), _) => {
                (OwnedRead(OwnedRwLockReadGuard::map(read, |all| all)), said("mapped"))
            }
            (Mapped(write), _) => {
                (Mapped(RwLockMappedWriteGuard::map(write, |all| all)), said("mapped"))
            }
            (OwnedMapped(write), _) => {
                let mapped = OwnedRwLockMappedWriteGuard::map(write, |all| all);
                (OwnedMapped(mapped), said("mapped"))
            }
        },
        act(_kind) format!("{lock:?}"),
        state format!("{} {}", lock.try_read().is_ok(), lock.try_write().is_ok()),
    })
}

enum Permit<'a> {
    Borrowed(SemaphorePermit<'a>),
    Owned(OwnedSemaphorePermit),
    /// The semaphore is closed.
    None,
}

pub(crate) fn semaphore(steps: &[Step]) -> Trace {
    use Permit::{Borrowed, Owned};
    start();
    let semaphore = Arc::new(Semaphore::new(3));
    let wait = |kind: u8| {
        let (semaphore, n) = (&semaphore, u32::from(kind / 2 % 5));
        async move {
            match kind % 2 {
                0 => semaphore
                    .acquire_many(n)
                    .await
                    .map_or(Permit::None, Borrowed),
                _ => {
                    let acquired = semaphore.clone().acquire_many_owned(n).await;
                    acquired.map_or(Permit::None, Owned)
                }
            }
        }
    };
    walk!(steps, seats: Permit<'_>, {
        begin(kind) wait(kind),
        try(kind) match (kind % 2, u32::from(kind / 2 % 5)) {
            (0, n) => semaphore.try_acquire_many(n).map(Borrowed),
            (_, n) => semaphore.clone().try_acquire_many_owned(n).map(Owned),
        },
        change(has, kind) match (has, kind % 3) {
            (Borrowed(permit), 0) => {
                permit.forget();
                (Permit::None, "forgotten".to_owned())
            }
            (Borrowed(mut permit), 1) => {
                let part = permit.split(usize::from(kind / 3 % 4));
                let word = format!("{} {:?}", permit.num_permits(), part.is_some());
                // The part that is left goes, or comes back.
                match part {
                    Some(part) if kind % 2 == 0 => (Borrowed(part), word),
                    Some(part) => {
                        permit.merge(part);
                        (Borrowed(permit), word)
                    }
                    None => (Borrowed(permit), word),
                }
            }
            (Owned(permit), 0) => {
                permit.forget();
                (Permit::None, "forgotten".to_owned())
            }
            (Owned(mut permit), 1) => {
                let part = permit.split(usize::from(kind / 3 % 4));
                let word = format!("{} {:?}", permit.num_permits(), part.is_some());
                match part {
                    Some(part) if kind % 2 == 0 => (Owned(part), word),
                    Some(part) => {
                        permit.merge(part);
                        (Owned(permit), word)
                    }
                    None => (Owned(permit), word),
                }
            }
            (other, _) => (other, "as it was".to_owned()),
        },
        act(kind) match kind % 32 {
            1..16 => {
                semaphore.add_permits(usize::from(kind % 3));
                "added".to_owned()
            }
            16..31 => semaphore.forget_permits(usize::from(kind % 3)).to_string(),
            31 => {
                semaphore.close();
                "closed".to_owned()
            }
            _ => semaphore.is_closed().to_string(),
        },
        state semaphore.available_permits(),
    })
}

pub(crate) fn notify(steps: &[Step]) -> Trace {
    start();
    let notify = Arc::new(Notify::new());
    let wait = |kind: u8| -> Pin<Box<dyn Future<Output = ()> + '_>> {
        match kind % 4 {
            0 => Box::pin(notify.notified()),
            1 => Box::pin(notify.clone().notified_owned()),
            2 => {
                let mut notified = Box::pin(notify.notified());
                notified.as_mut().enable();
                notified
            }
            _ => {
                let mut notified = Box::pin(notify.clone().notified_owned());
                notified.as_mut().enable();
                notified
            }
        }
    };
    walk!(steps, seats: (), {
        begin(kind) wait(kind),
        try(kind) {
            // Made, but not polled before the signal.
            let late = wait(kind);
            notify.notify_waiters();
            let (late, word) = Seat::begin(late);
            match late {
                Seat::Has(()) => Ok(()),
                _ => Err(word),
            }
        },
        change(has, _kind) (has, "as it was".to_owned()),
        act(kind) {
            match kind % 4 {
                0 => {}
                1 => notify.notify_one(),
                2 => notify.notify_last(),
                _ => notify.notify_waiters(),
            }
            (kind % 4).to_string()
        },
        state "",
    })
}

pub(crate) fn once_cell(steps: &[Step]) -> Trace {
    start();
    let cell = OnceCell::new();
    let wait = |kind: u8| {
        let cell = &cell;
        async move {
            match kind % 4 {
                0 => *cell.get_or_init(|| ready(kind)).await,
                1 => cell
                    .get_or_try_init(|| ready(Err(())))
                    .await
                    .copied()
                    .unwrap_or(0),
                2 => *cell.get_or_init(pending).await,
                _ => cell
                    .get_or_try_init(|| ready(Ok::<_, ()>(kind)))
                    .await
                    .copied()
                    .unwrap_or(1),
            }
        }
    };
    walk!(steps, seats: u8, {
        begin(kind) wait(kind),
        try(kind) match kind % 16 {
            0 => cell.set(kind).map(|()| kind).map_err(|error| error.to_string()),
            _ => cell.get().copied().ok_or("none".to_owned()),
        },
        change(has, _kind) (has, has.to_string()),
        act(_kind) cell.initialized().to_string(),
        state format!("{cell:?}"),
    })
}
