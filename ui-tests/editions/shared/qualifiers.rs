//! `extern "C"`, visibility, built-in attributes, expected lints, `!`.

use crate::twice::later;

twice! {
    pub async extern "C" fn foreign(n: u32) -> u32 {
        later(n).await
    }
    pub(crate) async fn in_crate() -> u32 {
        later(1).await
    }
    pub(in super::super) async fn in_module() -> u32 {
        later(1).await
    }
    async fn private() -> u32 {
        later(1).await
    }
    #[inline]
    #[cold]
    #[doc = "Documented."]
    /** Documented. */
    #[cfg_attr(all(), doc = "Documented.")]
    #[cfg_attr(any(), no_such_attribute)]
    #[rustfmt::skip]
    #[allow(unused_variables, clippy::all)]
    pub async fn attributed(x: u32) -> u32 { later(1).await }
    #[inline(always)]
    pub async fn inlined() {}
    #[deprecated(since = "1.0.0", note = "use another one")]
    pub async fn deprecated() -> u32 {
        later(1).await
    }
    #[must_use = "it counts"]
    pub async fn checked(n: u32) -> u32 {
        later(n).await
    }
    #[must_use]
    pub async fn checked_result((n, _): (u32, u32)) -> Result<u32, String> {
        if n == 0 {
            return Err(later("zero").await.into());
        }
        Ok(later(n).await)
    }
    #[expect(unused_variables)]
    pub async fn expected(#[allow(unused_mut)] mut unused: u32) -> u32 {
        1
    }
    pub async fn expected_argument(#[expect(unused_variables)] a: u32, #[expect(unused_variables)] (b, c): (u32, String)) -> u32 {
        1
    }
    pub async fn inner_attribute(_unused: u32) -> u32 {
        #![allow(unused_variables)]
        let unused = 1;
        later(2).await
    }
    #[cfg(any())]
    pub async fn gone() -> NoSuchType {
        no_such_function().await
    }
    pub async fn endless(n: u32) -> ! {
        later(()).await;
        if n > 0 {
            panic!("no end");
        }
        loop {
            later(()).await;
        }
    }
    pub async fn awaits_endless() -> u32 {
        endless(1).await
    }
    pub async fn ends_in_endless(n: u32) -> ! {
        endless(n).await
    }
    pub async fn unit() {}
    pub async fn written_unit() -> () {}
    pub async fn never_made() -> std::convert::Infallible {
        later(()).await;
        panic!("no value")
    }
    pub async fn callers() -> u32 {
        #[allow(deprecated)]
        let sum = deprecated().await + private().await + in_crate().await + in_module().await;
        sum + attributed(1).await + foreign(1).await + inner_attribute(1).await + expected(1).await
    }
}

#[test]
fn same() {
    same! {
        callers();
        foreign(1);
        checked(1);
        checked_result((0, 1));
        checked_result((1, 1));
        expected_argument(1, (2, String::new()));
        unit();
        written_unit();
        inlined();
        awaits_endless();
        never_made();
    }
    for polls in 0..4 {
        for n in 0..2 {
            let plain = log!(polls, async move { plain::ends_in_endless(n).await });
            assert_eq!(
                plain,
                log!(polls, async move { instrumented::ends_in_endless(n).await })
            );
        }
    }
}
