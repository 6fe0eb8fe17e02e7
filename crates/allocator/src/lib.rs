//! The allocator of the `everstep` binary, and its settings.
//!
//! One thread allocates a record and another one frees it. The system allocator needs a lock for
//! that; mimalloc does not.

use std::ffi::{c_int, c_long};

pub use mimalloc::MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`, which `libmimalloc-sys` does not name.
const PURGE_DELAY: c_int = 15;

/// Returns freed memory to the operating system soon, unless the variable `MIMALLOC_PURGE_DELAY`
/// says otherwise.
///
/// By default mimalloc waits for a second, and then for the next time that memory is freed. A
/// server that becomes idle would keep what it freed last. Without any delay, memory that each
/// request allocates and frees would be returned and mapped again.
pub fn return_freed_memory() {
    let milliseconds: c_long = 100;
    // SAFETY: the function stores a number. The allocator may be in use.
    #[expect(unsafe_code, reason = "there is no safe function")]
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, milliseconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_the_delay_of_a_second() {
        // SAFETY: the function reads a number.
        #[expect(unsafe_code, reason = "there is no safe function")]
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert_eq!(delay(), 1000);
        return_freed_memory();
        assert_eq!(delay(), 100);
    }
}
