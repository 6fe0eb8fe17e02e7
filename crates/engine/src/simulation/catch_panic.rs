//! Catches panics of simulated code with the location they come from, without printing them: a
//! failure is reproduced many times while it is minimised.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// While panics of this thread are caught: the location of the last one.
    static LOCATION: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Calls a function. A panic becomes its message and its location. Panics of other threads are
/// printed as usual.
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            let location = panic.location().map(ToString::to_string);
            let is_caught =
                LOCATION.with_borrow_mut(|caught| caught.replace(location.clone()).is_some());
            if !is_caught {
                LOCATION.set(None);
                print(panic);
            }
        }));
    });
    LOCATION.set(Some(None));
    let outcome = catch_unwind(AssertUnwindSafe(call));
    let location = LOCATION.take().flatten();
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let text = text.unwrap_or_else(|| "a panic without a message".to_owned());
        match location {
            Some(location) => format!("{text}\n  at {location}"),
            None => text,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message_and_its_location() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        let message = catch_panic(|| panic!("no {}", "bank")).unwrap_err();
        assert!(message.starts_with("no bank\n  at "), "{message}");
        assert!(message.contains("catch_panic.rs:"), "{message}");
    }
}
