//! Arguments, locals and temporaries are dropped in the order of the plain function: done, cancelled, panicked, never polled.

use crate::twice::{Guard, Loud, later, say};

twice! {
    pub async fn names(x: Loud, y: Loud, z: Loud) {
        let _local = Loud("local");
        later(()).await;
        let _ = &y;
        let _late = Loud("late");
        later(()).await;
    }
    pub async fn unused(_x: Loud, _: Loud, mut _z: Loud, _w: u32) {
        later(()).await;
    }
    pub async fn only_underscores(_: Loud, _: Loud) {
        later(()).await;
    }
    pub async fn nothing_at_all(x: Loud, y: Loud) {}
    pub async fn patterns(x: Loud, (a, b): (Loud, Loud), _: Loud, mut y: Loud, z: Loud) {
        later(()).await;
        y = Loud("assigned");
        later(()).await;
        let _ = &y;
    }
    pub async fn partly((a, _): (Loud, Loud), [_, ref b, ..]: [Loud; 3]) {
        later(()).await;
    }
    pub struct Fields {
        pub first: Loud,
        pub second: Loud,
        pub third: Loud,
    }
    pub struct Tuple(pub Loud, pub Loud);
    impl Fields {
        pub fn new(first: &'static str, second: &'static str, third: &'static str) -> Self {
            Fields { first: Loud(first), second: Loud(second), third: Loud(third) }
        }
        pub async fn consumed(self, x: Loud, y: Loud) -> usize {
            later(()).await;
            self.second.0.len()
        }
        pub async fn taken_apart(mut self, x: Loud) -> Loud {
            later(()).await;
            let Fields { second, .. } = self;
            second
        }
        pub async fn boxed(self: Box<Self>, _: Loud) {
            later(()).await;
        }
        pub async fn shared(self: std::rc::Rc<Self>, _: Loud) {
            later(()).await;
        }
    }
    pub async fn out_of_order(Fields { third, first, .. }: Fields, z: Loud) {
        later(()).await;
    }
    pub async fn out_of_order_whole(Tuple(a, b): Tuple, Fields { third: c, second: d, first: e }: Fields) {
        later(()).await;
    }
    pub async fn by_reference(ref a: Loud, ref mut b: Loud, c: Loud) {
        later(()).await;
        *b = Loud("replaced");
        later(()).await;
    }
    pub async fn bound(a @ (_, _): (Loud, Loud), b @ _: Loud) {
        later(()).await;
    }
    pub async fn after_references(a: &str, n: u32, x: Loud, text: Option<&str>, y: Loud) -> usize {
        later(()).await;
        a.len() + text.map_or(0, str::len)
    }
    pub async fn moved(x: Loud, y: Loud, z: Loud) {
        drop(y);
        later(()).await;
        drop(x);
        later(()).await;
    }
    pub async fn moved_in_a_branch(x: Loud, y: Loud, branch: bool) {
        if branch {
            later(x).await;
        }
        later(()).await;
    }
    pub async fn moved_out(x: Loud, (y, z): (Loud, Loud)) -> (Loud, Loud) {
        later(()).await;
        (z, x)
    }
    pub async fn assigned(mut x: Loud, mut y: Loud, z: Loud) {
        y = Loud("second y");
        later(()).await;
        x = Loud("second x");
        later(()).await;
    }
    pub async fn shadowed(x: Loud) {
        let x = (x, Loud("inner"));
        later(()).await;
        let x = Loud("innermost");
        later(()).await;
    }
    pub async fn generic<T, U>(x: T, y: impl Sized, z: U, _: Vec<T>) {
        later(()).await;
    }
    pub async fn configured(#[cfg(any())] w: NoSuchType, x: Loud, #[cfg(all())] (y, _): (Loud, Loud), #[cfg(any())] _: NoSuchType, #[cfg(all())] z: Loud) {
        later(()).await;
    }
    pub async fn early(x: Loud, y: Loud) -> Result<usize, String> {
        let _local = Loud("local");
        later(Err::<(), _>("early".to_owned())).await?;
        Ok(1)
    }
    pub async fn panics(x: Loud, (y, _): (Loud, Loud), z: Loud) -> usize {
        let _local = Loud("local");
        later(()).await;
        panic!("asked to")
    }
    pub async fn tail_temporary(x: Loud) -> usize {
        let local = Loud("local");
        let _other = Loud("other");
        local.guard("guard").get().unwrap_or(0)
    }
    async fn of(guard: &Guard<'_>) -> usize {
        later(()).await;
        guard.get().unwrap_or(0)
    }
    pub async fn tail_awaits_temporary(x: Loud) -> usize {
        let local = Loud("local");
        of(&local.guard("guard")).await
    }
    pub async fn tail_of_block(x: Loud) -> usize {
        let n = {
            let _inner = Loud("inner");
            of(&x.guard("guard")).await
        };
        say("after");
        n
    }
    pub async fn tail_match(x: Loud) -> usize {
        let _local = Loud("local");
        match x.guard("guard").get() {
            Some(n) => later(n).await,
            None => 0,
        }
    }
    pub async fn scrutinees(x: Loud) -> usize {
        let mut sum = 0;
        if let Some(n) = x.guard("if").get() {
            sum += later(n).await;
        } else {
            later(()).await;
        }
        if let None = x.guard("if else").get() {
            later(()).await;
        } else {
            sum += later(1).await;
            say("else");
        }
        match of(&x.guard("match")).await {
            0 => {}
            n => sum += later(n).await,
        }
        while let Some(n) = x.guard("while").get() {
            sum += later(n).await;
            if sum > 3 {
                break;
            }
        }
        sum
    }
    pub async fn let_else(x: Loud) -> usize {
        let Some(n) = x.guard("let").get() else {
            return later(0).await;
        };
        let None::<u32> = x.guard("let else").get().map(|_| 1) else {
            say("else");
            return later(n).await;
        };
        1
    }
    pub async fn for_loop(x: Loud) -> usize {
        let mut sum = 0;
        for n in x.guard("iterator").get().into_iter().chain(vec![1, 2]) {
            sum += later(n).await;
        }
        sum
    }
    pub async fn statements(x: Loud) -> usize {
        x.guard("statement").get();
        let _ = x.guard("wild");
        let _ = later(Loud("wild value")).await;
        let extended = &x.guard("extended");
        of(&x.guard("argument")).await;
        let sum = of(&x.guard("left")).await + of(&x.guard("right")).await;
        extended.get().unwrap_or(0) + sum
    }
    pub async fn nested_block(x: Loud, y: Loud) -> usize {
        let inner = async {
            let _local = Loud("in block");
            of(&x.guard("in block guard")).await
        };
        let moving = async move {
            let _local = Loud("in moving block");
            of(&y.guard("in moving guard")).await
        };
        let n = inner.await;
        n + moving.await
    }
    pub async fn never_started_block(x: Loud, y: Loud) {
        let block = async move {
            let _ = (&y, &x);
        };
        later(()).await;
        drop(block);
        later(()).await;
    }
    #[must_use]
    pub async fn kept(x: Loud, (a, b): (Loud, Loud), _z: Loud, _: Loud) -> usize {
        later(()).await;
        1
    }
    pub async fn endless(x: Loud, _: Loud) -> ! {
        let _local = Loud("local");
        loop {
            later(()).await;
        }
    }
    pub fn tail_of_fn(x: Loud, y: Loud) -> impl std::future::Future<Output = usize> {
        let early = Loud("before the block");
        async move {
            let _ = (&y, &x);
            later(()).await;
            of(&early.guard("guard")).await
        }
    }
    pub fn boxed_tail(x: Loud, y: Loud) -> std::pin::Pin<Box<dyn std::future::Future<Output = usize>>> {
        Box::pin(async move {
            let _ = (&y, &x);
            later(()).await;
            of(&x.guard("guard")).await
        })
    }
    pub async fn labels(x: Loud) -> usize {
        'outer: loop {
            let _in_outer = Loud("in outer");
            loop {
                let _in_inner = Loud("in inner");
                if x.guard("condition").get().is_some() {
                    break 'outer later(1).await;
                }
            }
        }
    }
    pub async fn owner(x: Loud) -> usize {
        Fields::new("a", "b", "c").consumed(x, Loud("y")).await
    }
    pub async fn owner_taken_apart(x: Loud) -> Loud {
        Fields::new("a", "b", "c").taken_apart(x).await
    }
    pub async fn owner_in_a_box(x: Loud) {
        Box::new(Fields::new("a", "b", "c")).boxed(x).await
    }
    pub fn consumed(x: Loud, y: Loud) -> impl std::future::Future<Output = usize> {
        Fields::new("a", "b", "c").consumed(x, y)
    }
    pub fn shared(x: Loud) -> impl std::future::Future<Output = ()> {
        std::rc::Rc::new(Fields::new("a", "b", "c")).shared(x)
    }
}

#[test]
fn what_is_dropped_when() {
    same! {
        names(Loud("x"), Loud("y"), Loud("z"));
        unused(Loud("x"), Loud("y"), Loud("z"), 1);
        only_underscores(Loud("x"), Loud("y"));
        nothing_at_all(Loud("x"), Loud("y"));
        patterns(Loud("x"), (Loud("a"), Loud("b")), Loud("_"), Loud("y"), Loud("z"));
        partly((Loud("a"), Loud("b")), [Loud("c"), Loud("d"), Loud("e")]);
        by_reference(Loud("a"), Loud("b"), Loud("c"));
        bound((Loud("a"), Loud("b")), Loud("c"));
        after_references("a", 1, Loud("x"), None, Loud("y"));
        moved(Loud("x"), Loud("y"), Loud("z"));
        moved_in_a_branch(Loud("x"), Loud("y"), true);
        moved_in_a_branch(Loud("x"), Loud("y"), false);
        moved_out(Loud("x"), (Loud("y"), Loud("z")));
        assigned(Loud("x"), Loud("y"), Loud("z"));
        shadowed(Loud("x"));
        generic(Loud("x"), Loud("y"), Loud("z"), vec![Loud("v"), Loud("w")]);
        configured(Loud("x"), (Loud("y"), Loud("_")), Loud("z"));
        early(Loud("x"), Loud("y"));
        panics(Loud("x"), (Loud("y"), Loud("_")), Loud("z"));
        kept(Loud("x"), (Loud("a"), Loud("b")), Loud("z"), Loud("_"));
        consumed(Loud("x"), Loud("y"));
        shared(Loud("x"));
        owner(Loud("x"));
        owner_taken_apart(Loud("x"));
        owner_in_a_box(Loud("x"));
    }
    for polls in 0..4 {
        assert_eq!(
            log!(
                polls,
                plain::out_of_order(plain::Fields::new("a", "b", "c"), Loud("z"))
            ),
            log!(
                polls,
                instrumented::out_of_order(instrumented::Fields::new("a", "b", "c"), Loud("z"))
            ),
        );
        let fields = plain::Fields::new("a", "b", "c");
        let plain = log!(
            polls,
            plain::out_of_order_whole(plain::Tuple(Loud("0"), Loud("1")), fields)
        );
        let fields = instrumented::Fields::new("a", "b", "c");
        let tuple = instrumented::Tuple(Loud("0"), Loud("1"));
        assert_eq!(
            plain,
            log!(polls, instrumented::out_of_order_whole(tuple, fields))
        );
    }
}

#[test]
fn temporaries_live_as_long() {
    same! {
        tail_temporary(Loud("x"));
        tail_awaits_temporary(Loud("x"));
        tail_of_block(Loud("x"));
        tail_match(Loud("x"));
        scrutinees(Loud("x"));
        let_else(Loud("x"));
        for_loop(Loud("x"));
        statements(Loud("x"));
        nested_block(Loud("x"), Loud("y"));
        never_started_block(Loud("x"), Loud("y"));
        tail_of_fn(Loud("x"), Loud("y"));
        boxed_tail(Loud("x"), Loud("y"));
        labels(Loud("x"));
    }
    for polls in 0..4 {
        let plain = log!(polls, async { plain::endless(Loud("x"), Loud("_")).await });
        assert_eq!(
            plain,
            log!(polls, async {
                instrumented::endless(Loud("x"), Loud("_")).await
            })
        );
    }
}

/// The cases would not notice anything if editions did not differ.
#[test]
fn editions_differ() {
    let tail = whole!(instrumented::tail_temporary(Loud("x")));
    let expected = if crate::EDITION < 2024 {
        "made poll +guard get guard -other -local -guard -x =5 drop"
    } else {
        "made poll +guard get guard -guard -other -local -x =5 drop"
    };
    assert_eq!(tail, expected);
}
