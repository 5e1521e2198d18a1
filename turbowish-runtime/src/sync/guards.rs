//! Macro for what all guards share: `Deref`, `Debug`, `Display`.

/// Implements the common traits of a guard:
/// `guard!([generics] Guard => content, |this| shared, exclusive)`; without `exclusive`, the guard
/// only reads.
macro_rules! guard {
    ($generics:tt $guard:ty => $content:ident, |$this:ident| $shared:expr $(, $exclusive:expr)?) => {
        guard!(@shared $generics $guard, $content, $this, $shared);
        $(guard!(@exclusive $generics $guard, $content, $this, $exclusive);)?
    };
    (@shared [$($generics:tt)*] $guard:ty, $content:ident, $this:ident, $shared:expr) => {
        impl<$($generics)*> std::ops::Deref for $guard {
            type Target = $content;
            #[inline]
            fn deref(&self) -> &$content {
                let $this = self;
                $shared
            }
        }
        impl<$($generics)*> std::fmt::Debug for $guard
        where
            $content: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&**self, f)
            }
        }
        impl<$($generics)*> std::fmt::Display for $guard
        where
            $content: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, f)
            }
        }
    };
    (@exclusive [$($generics:tt)*] $guard:ty, $content:ident, $this:ident, $exclusive:expr) => {
        impl<$($generics)*> std::ops::DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $content {
                let $this = self;
                $exclusive
            }
        }
    };
}
pub(super) use guard;
