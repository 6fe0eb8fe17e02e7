//! Optional parts of sentences, shared by several readers. Each displays as nothing if its value is
//! not known.

use std::fmt;

use everstep_model::Name;

/// ` by alice`
pub(crate) struct By<'a>(pub(crate) &'a Option<String>);

impl fmt::Display for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(by) => write!(f, " by {by}"),
            None => Ok(()),
        }
    }
}

/// `: maintenance`
pub(crate) struct Because<'a, T>(pub(crate) &'a Option<T>);

impl<T: fmt::Display> fmt::Display for Because<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

/// `` `a` or `b` ``: names and their separator.
pub(crate) struct Listed<'a>(pub(crate) &'a [Name], pub(crate) &'a str);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { self.1 };
            write!(f, "{between}`{name}`")?;
        }
        Ok(())
    }
}
