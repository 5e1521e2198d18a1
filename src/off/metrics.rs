//! Compiled-out metrics: numbers are type-checked and not evaluated.

/// Compiled out: counts nothing and evaluates nothing.
#[macro_export]
macro_rules! counter {
    ($name:expr $(,)?) => {
        $crate::counter!($name, 1_u64)
    };
    ($name:expr, $by:expr $(,)?) => {{
        const _: &str = $name;
        if false {
            $crate::__private::number::<u64>($by);
        }
    }};
}

/// Compiled out: sets nothing and evaluates nothing.
#[macro_export]
macro_rules! gauge {
    ($name:expr, $value:expr $(,)?) => {{
        const _: &str = $name;
        if false {
            $crate::__private::number::<i64>($value);
        }
    }};
}

/// Compiled out: records nothing and evaluates nothing.
#[macro_export]
macro_rules! event {
    ($name:expr $(, $key:ident = $value:expr)* $(,)?) => {{
        const _: &str = $name;
        if false {
            $($crate::__private::number::<i64>($value);)*
        }
    }};
}

/// Never called: gives the number of a compiled-out macro a type.
#[inline]
pub fn number<T>(_number: impl TryInto<T>) {}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_evaluated() {
        let mut evaluated = 0;
        crate::counter!("one more");
        crate::counter!("bytes", [1, 2].len());
        crate::counter!("so many", {
            evaluated += 1;
            5
        });
        crate::gauge!("level", -5);
        crate::gauge!("queue", {
            evaluated += 1;
            1_usize
        });
        crate::event!("nothing");
        crate::event!(
            "much",
            one = 1_u8,
            other = {
                evaluated += 1;
                2
            }
        );
        assert_eq!(evaluated, 0);
    }
}
