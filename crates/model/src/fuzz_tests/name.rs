//! Names of steps, events and workflows.

use crate::{Interner, Name};

#[test]
fn names_and_the_interner_apply_the_same_rules() {
    super::check_text("name", |text| {
        let (user, internal) = (Name::new(text), Name::internal(text));
        let mut interner = Interner::default();
        assert_eq!(interner.user(text).ok(), user.clone().ok());
        assert_eq!(interner.internal(text).ok(), internal.clone().ok());
        assert!(internal.is_ok() || user.is_err());
        if let Ok(name) = &internal {
            assert_eq!(name.as_str(), text);
            let json = serde_json::to_string(name).expect("a name is a text");
            assert_eq!(
                serde_json::from_str::<Name>(&json).ok().as_ref(),
                Some(name)
            );
        }
        (
            user.err().map(|e| e.reason),
            internal.err().map(|e| e.reason),
        )
    });
}
