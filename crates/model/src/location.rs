//! Locations: the position of an operation in a run, as a path of scopes and a counted name.
//!
//! `order/~3/ship/charge:0` is the first `charge` in branch `ship` of iteration 3 of the loop
//! `order`. The wire id always carries the operation's counter; a scope shows its own only where
//! leaving it out would be ambiguous.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::name::{InvalidName, Name};
use crate::text::json_as_text;

/// One part of a scope's path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// A loop, join, race, switch or branch, by name and counter.
    Named(Name, u32),
    /// One iteration of the loop before it.
    Iteration(u64),
}

/// The path in which operations are counted. The root is empty and needs no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(Option<Arc<[Segment]>>);

impl Scope {
    /// The scope of the workflow function itself.
    pub const ROOT: Self = Self(None);

    /// Returns the scope one segment deeper.
    #[must_use]
    pub fn child(&self, segment: Segment) -> Self {
        Self::from_segments(self.segments().iter().cloned().chain([segment]))
    }

    /// Creates a scope from its path.
    pub fn from_segments(path: impl IntoIterator<Item = Segment>) -> Self {
        let path: Arc<[Segment]> = path.into_iter().collect();
        if path.is_empty() {
            Self::ROOT
        } else {
            Self(Some(path))
        }
    }

    /// Whether this is `outer`, or a scope inside it.
    #[must_use]
    pub fn is_within(&self, outer: &Self) -> bool {
        self.segments().starts_with(outer.segments())
    }

    /// Returns the scope of the innermost iteration around this scope.
    #[must_use]
    pub fn iteration(&self) -> Option<Self> {
        let path = self.segments();
        let is_iteration = |segment: &Segment| matches!(segment, Segment::Iteration(_));
        let last = path.iter().rposition(is_iteration)?;
        match path.get(..=last) {
            Some(prefix) if prefix.len() < path.len() => {
                Some(Self::from_segments(prefix.iter().cloned()))
            }
            _ => Some(self.clone()),
        }
    }

    /// Returns the loop and the number of the iteration, if this is the scope of one.
    #[must_use]
    pub fn as_iteration(&self) -> Option<(Location, u64)> {
        let [
            outer @ ..,
            Segment::Named(name, counter),
            Segment::Iteration(number),
        ] = self.segments()
        else {
            return None;
        };
        let location = Location {
            scope: Self::from_segments(outer.iter().cloned()),
            name: name.clone(),
            counter: *counter,
        };
        Some((location, *number))
    }

    /// Returns the path from the root.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// The location of an operation: its scope, its name, and the number of earlier operations with
/// that name in the scope.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "plain data")]
pub struct Location {
    pub scope: Scope,
    pub name: Name,
    pub counter: u32,
}

json_as_text!(Location, Location::from_str);

impl Location {
    /// Returns the scope of operations inside this one.
    #[must_use]
    pub fn inner_scope(&self) -> Scope {
        self.scope
            .child(Segment::Named(self.name.clone(), self.counter))
    }

    /// Returns the location of the operation `name:counter` in the root scope.
    #[must_use]
    pub fn root(name: Name, counter: u32) -> Self {
        Self {
            scope: Scope::ROOT,
            name,
            counter,
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name, 0) if !ends_like_a_counter(name.as_str()) => write!(f, "{name}"),
            Self::Named(name, counter) => write!(f, "{name}:{counter}"),
            Self::Iteration(n) => write!(f, "~{n}"),
        }
    }
}

/// The path, each segment followed by `/`; empty for the root.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in self.segments() {
            write!(f, "{segment}/")?;
        }
        Ok(())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}:{}", self.scope, self.name, self.counter)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// Why text is not a location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLocation {
    /// The last part has no `:counter`.
    #[error("a location ends with a name and its counter, as in \"charge:0\"")]
    NoCounter,
    /// `~` without a number.
    #[error("an iteration is written \"~\" and its number, as in \"~3\"")]
    Iteration,
    /// A part is not a legal name.
    #[error(transparent)]
    Name(#[from] InvalidName),
}

impl FromStr for Location {
    type Err = InvalidLocation;
    fn from_str(text: &str) -> Result<Self, InvalidLocation> {
        let (path, last) = match text.rsplit_once('/') {
            Some((path, last)) => (Some(path), last),
            None => (None, text),
        };
        let (name, counter) = split_counter(last).ok_or(InvalidLocation::NoCounter)?;
        let segments = path.into_iter().flat_map(|path| path.split('/'));
        let segments = segments.map(parse_segment).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            scope: Scope::from_segments(segments),
            name: Name::internal(name)?,
            counter,
        })
    }
}

fn parse_segment(text: &str) -> Result<Segment, InvalidLocation> {
    if let Some(n) = text.strip_prefix('~') {
        return parse_digits(n)
            .map(Segment::Iteration)
            .ok_or(InvalidLocation::Iteration);
    }
    match split_counter(text) {
        Some((name, counter)) if !name.is_empty() => {
            Ok(Segment::Named(Name::internal(name)?, counter))
        }
        _ => Ok(Segment::Named(Name::internal(text)?, 0)),
    }
}

fn split_counter(text: &str) -> Option<(&str, u32)> {
    let (name, digits) = text.rsplit_once(':')?;
    let counter = u32::try_from(parse_digits(digits)?).ok()?;
    Some((name, counter))
}

/// Parses canonical decimals only, so that a location has one spelling.
fn parse_digits(text: &str) -> Option<u64> {
    let canonical = !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    canonical.then(|| text.parse().ok())?
}

fn ends_like_a_counter(name: &str) -> bool {
    split_counter(name).is_some_and(|(rest, _)| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = Name> {
        "[a-z:0-9]{1,6}".prop_filter_map("legal", |text| Name::internal(text).ok())
    }

    fn location() -> impl Strategy<Value = Location> {
        let segment = prop_oneof![
            (name(), 0u32..3).prop_map(|(n, c)| Segment::Named(n, c)),
            (0u64..1000).prop_map(Segment::Iteration),
        ];
        (proptest::collection::vec(segment, 0..4), name(), 0u32..12).prop_map(
            |(path, name, counter)| Location {
                scope: Scope::from_segments(path),
                name,
                counter,
            },
        )
    }

    proptest! {
        #[test]
        fn a_location_round_trips(l in location()) {
            prop_assert_eq!(l.to_string().parse::<Location>(), Ok(l));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            if let Ok(location) = text.parse::<Location>() {
                prop_assert_eq!(location.to_string().parse::<Location>(), Ok(location));
            }
        }
    }

    #[test]
    fn the_text_is_a_path_of_scopes() {
        let location: Location = "order/~3/ship/charge:0".parse().unwrap();
        assert_eq!(location.scope.segments().len(), 3);
        assert_eq!(location.counter, 0);
        assert_eq!(location.to_string(), "order/~3/ship/charge:0");
    }
}
