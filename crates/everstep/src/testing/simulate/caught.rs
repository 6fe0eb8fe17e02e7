//! Panics of a test's assertions, caught with the place they come from. Nothing is printed: a failure is made smaller by
//! failing many times.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Where the last panic came from, while panics of this thread are caught.
    static PLACE: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Calls it; a panic becomes its message and its place. Other threads panic as loudly as ever.
pub(super) fn caught(call: impl FnOnce()) -> Result<(), String> {
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string);
            let is_caught = PLACE.with_borrow_mut(|caught| caught.replace(place.clone()).is_some());
            if !is_caught {
                PLACE.set(None);
                loud(panic);
            }
        }));
    });
    PLACE.set(Some(None));
    let outcome = catch_unwind(AssertUnwindSafe(call));
    let place = PLACE.take().flatten();
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let text = text.unwrap_or_else(|| "a panic without a message".to_owned());
        match place {
            Some(place) => format!("{text}\n  at {place}"),
            None => text,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_is_told_with_its_message_and_its_place() {
        assert_eq!(caught(|| {}), Ok(()));
        let message = caught(|| panic!("no {}", "bank")).unwrap_err();
        assert!(message.starts_with("no bank\n  at "), "{message}");
        assert!(message.contains("caught.rs:"), "{message}");
    }
}
