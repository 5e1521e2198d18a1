//! The expansion raises no lint, whatever a crate denies; the test is that this compiles, also under clippy.

#![forbid(unsafe_code, unused, nonstandard_style, let_underscore, keyword_idents)]
#![deny(
    warnings,
    future_incompatible,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    refining_impl_trait,
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    impl_trait_redundant_captures,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    missing_unsafe_on_extern,
    non_ascii_idents,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unused_extern_crates,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![deny(
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::as_conversions,
    clippy::clone_on_ref_ptr,
    clippy::else_if_without_else,
    clippy::exhaustive_structs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::infinite_loop,
    clippy::let_underscore_must_use,
    clippy::let_underscore_untyped,
    clippy::missing_inline_in_public_items,
    clippy::mod_module_files,
    clippy::multiple_inherent_impl,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::partial_pub_fields,
    clippy::pattern_type_mismatch,
    clippy::redundant_type_annotations,
    clippy::ref_patterns,
    clippy::rest_pat_in_fully_bound_structs,
    clippy::same_name_method,
    clippy::semicolon_inside_block,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::undocumented_unsafe_blocks,
    clippy::unreachable,
    clippy::unseparated_literal_suffix,
    clippy::unwrap_used,
    clippy::use_debug
)]
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::pin::Pin;

/// Pending once.
#[derive(Debug, Default, Clone, Copy)]
#[non_exhaustive]
pub struct Once {
    done: bool,
}

impl Future for Once {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        if self.done {
            return std::task::Poll::Ready(());
        }
        self.done = true;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    }
}

/// All kinds of arguments, and an error.
///
/// # Errors
///
/// When the sum is odd.
#[turbowish::instrument]
#[inline]
pub async fn arguments(
    _unused: &str,
    (left, _): (u32, u32),
    mut count: u32,
    _: Vec<u32>,
    text: String,
) -> Result<u32, String> {
    count += left;
    Once::default().await;
    if count.is_multiple_of(2) {
        return Ok(count);
    }
    Err(text)
}

/// Items first.
#[turbowish::instrument]
#[inline]
pub async fn items(text: &str) -> usize {
    const ONE: usize = 1;
    /// Adds.
    const fn add(left: usize, right: usize) -> usize {
        left + right
    }
    Once::default().await;
    add(ONE, text.len())
}

/// An opaque value.
///
/// # Errors
///
/// When asked to.
#[turbowish::instrument]
#[inline]
pub async fn opaque(fail: bool) -> Result<impl Display, String> {
    if fail {
        return Err(String::new());
    }
    Ok(1_u32)
}

/// A type that is complex to clippy, and patterns that it has an opinion of.
///
/// # Errors
///
/// When there is no number.
#[turbowish::instrument]
#[inline]
pub async fn complex(
    text: &str,
    _all @ (first, _): (u32, u32),
    _bound @ 0..: u32,
) -> Result<BTreeMap<u32, Vec<(u32, Vec<String>)>>, Box<dyn Error + Send + Sync>> {
    let add = async |count: u32| text.parse::<u32>().map(|number| number.wrapping_add(count));
    let sum = add(first).await?;
    Ok(BTreeMap::from([(sum, Vec::new())]))
}

/// A future of a future.
#[turbowish::instrument]
#[inline]
pub async fn yields() -> Pin<Box<dyn Future<Output = u32> + Send>> {
    return Box::pin(async {
        Once::default().await;
        1
    });
}

/// Borrows.
#[turbowish::instrument]
#[inline]
pub async fn borrows<'text>(text: &'text str, _other: &str) -> &'text str {
    let block = async { text.trim() };
    block.await
}

/// Changes what it borrows.
#[turbowish::instrument]
#[inline]
pub async fn changes(list: &mut Vec<u32>) {
    Once::default().await;
    list.push(1);
}

/// One poll.
#[turbowish::instrument]
#[must_use]
#[inline]
#[cfg_attr(
    not(feature = "enabled"),
    expect(clippy::missing_const_for_fn, reason = "the attribute may stand on it")
)]
pub fn ordinary() -> u32 {
    1
}

/// Checked.
#[turbowish::instrument]
#[must_use]
#[inline]
pub async fn checked(_: u32, (count, _): (u32, u32)) -> u32 {
    Once::default().await;
    count
}

/// Silent.
#[turbowish::instrument]
#[expect(
    clippy::unused_async,
    clippy::used_underscore_binding,
    reason = "for later"
)]
#[inline]
pub async fn silent(_later: u32, (_one, _other): (u32, String)) -> u32 {
    _later
}

/// What others promise.
pub trait Promises {
    /// A promise.
    fn promised(&self) -> impl Future<Output = u32> + Send;
    /// A boxed one.
    fn boxed(&self) -> Pin<Box<dyn Future<Output = u32> + Send + '_>>;
}

/// A type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Type<'text> {
    text: &'text str,
}

#[turbowish::instrument]
impl Promises for Type<'_> {
    #[inline]
    async fn promised(&self) -> u32 {
        let inner = async { Ok::<_, ()>(1) };
        inner.await.unwrap_or_default()
    }

    #[inline]
    fn boxed(&self) -> Pin<Box<dyn Future<Output = u32> + Send + '_>> {
        Box::pin(async move { self.promised().await })
    }
}

#[turbowish::instrument]
impl<'text> Type<'text> {
    /// A new one.
    #[inline]
    pub async fn new(text: &'text str) -> Self {
        Self { text }
    }

    /// A method.
    #[inline]
    pub async fn text(&self, _other: &str) -> Option<&'text str> {
        Once::default().await;
        Some(self.text)
    }

    /// A method that consumes.
    #[must_use]
    #[inline]
    pub async fn consumed(self, (): ()) -> usize {
        self.text.len()
    }
}

/// A module.
#[turbowish::instrument]
pub mod module {
    use super::Once;

    /// A function.
    #[inline]
    pub async fn function(_: u32) {
        Once::default().await;
    }

    /// A loop.
    #[inline]
    pub async fn endless(count: &mut u32) -> ! {
        loop {
            *count += 1;
            Once::default().await;
        }
    }
}
