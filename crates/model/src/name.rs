//! Names of workflows, steps, events and the like, and the interner that keeps one copy of each.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::limits;
use crate::text::{excerpt, json_as_text};

/// A checked name: 1–256 characters, no control characters, no `/`, not starting with `~`. Cheap to
/// clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

json_as_text!(Name, Name::internal);

/// Text that cannot be a [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid name {given:?}: {reason}")]
pub struct InvalidName {
    /// The invalid text, shortened.
    pub given: String,
    /// The rule that the text breaks, and the remedy.
    pub reason: &'static str,
}

impl Name {
    /// Checks a name given by a user. Reserved prefixes are not allowed.
    pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidName> {
        check_reserved(text.as_ref())?;
        Self::internal(text)
    }

    /// Checks a name that the engine generates or reads from a journal. Reserved prefixes are
    /// allowed.
    pub fn internal(text: impl AsRef<str>) -> Result<Self, InvalidName> {
        let text = text.as_ref();
        check_shape(text)?;
        Ok(Self(text.into()))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn refuse(text: &str, reason: &'static str) -> Result<(), InvalidName> {
    let given = excerpt(text);
    Err(InvalidName { given, reason })
}

fn check_shape(text: &str) -> Result<(), InvalidName> {
    if text.is_empty() {
        return refuse(text, "it is empty; give it at least one character");
    }
    if text.chars().count() > limits::NAME_CHARS_MAX {
        return refuse(text, "it is longer than 256 characters; shorten it");
    }
    if text.chars().any(char::is_control) {
        return refuse(text, "it has a control character; remove it");
    }
    if text.contains('/') {
        let reason = "it contains \"/\", which separates scopes; use another character";
        return refuse(text, reason);
    }
    if text.starts_with('~') {
        let reason = "it starts with \"~\", which marks iterations; use another beginning";
        return refuse(text, reason);
    }
    Ok(())
}

fn check_reserved(text: &str) -> Result<(), InvalidName> {
    if text.starts_with("__") || text.starts_with("rollback:") {
        return refuse(
            text,
            "names starting with \"__\" or \"rollback:\" are reserved for the engine; use another beginning",
        );
    }
    Ok(())
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Keeps one copy of each name, so that a journal of a thousand `charge` steps holds the text once.
#[derive(Debug, Default)]
pub struct Interner {
    /// The first names. A linear search is faster than hashing for so few, and most runs have no
    /// more.
    few: Vec<Name>,
    more: HashSet<Name>,
}

const FEW: usize = 8;

/// The maximum number of shared names. Sharing only saves memory.
const NAMES_MAX: usize = 10_000;

impl Interner {
    /// Returns the shared copy of a user's name, checked the first time it is seen.
    pub fn user(&mut self, text: &str) -> Result<Name, InvalidName> {
        check_reserved(text)?;
        self.internal(text)
    }

    /// Returns the shared copy of any well-formed name.
    pub fn internal(&mut self, text: &str) -> Result<Name, InvalidName> {
        if let Some(known) = self.get(text) {
            return Ok(known.clone());
        }
        let name = Name::internal(text)?;
        if self.few.len() < FEW {
            self.few.push(name.clone());
            return Ok(name);
        }
        // Names generated at run time must not fill the memory.
        if self.more.len() >= NAMES_MAX {
            self.more.clear();
        }
        self.more.insert(name.clone());
        Ok(name)
    }

    fn get(&self, text: &str) -> Option<&Name> {
        let few = self.few.iter().find(|known| known.as_str() == text);
        few.or_else(|| self.more.get(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B12, B14
    #[test]
    fn empty_overlong_control_and_reserved_names_are_refused() {
        for bad in [
            "",
            "a\nb",
            "a/b",
            "~3",
            "__x",
            "rollback:x",
            &"x".repeat(257),
        ] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "fetch user", "größe", "a:1", &"x".repeat(256)] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn internal_names_may_have_reserved_prefixes() {
        assert!(Name::internal("rollback:charge").is_ok());
        assert!(Name::internal("a/b").is_err());
    }

    #[test]
    fn an_interner_keeps_one_copy_of_each_name() {
        let mut interner = Interner::default();
        let names: Vec<String> = (0..3 * FEW).map(|n| format!("charge {n}")).collect();
        let intern = |interner: &mut Interner, name: &String| interner.user(name).unwrap();
        let first: Vec<Name> = names.iter().map(|n| intern(&mut interner, n)).collect();
        for (name, first) in names.iter().zip(first) {
            assert!(Arc::ptr_eq(&first.0, &intern(&mut interner, name).0));
        }
    }
}
