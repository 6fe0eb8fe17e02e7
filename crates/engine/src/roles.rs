//! The roles of a node. Nodes that share a store may divide the work.

use std::fmt;
use std::str::FromStr;

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Serves the API over HTTP: the workflow API, streams and keys.
    Api,
    /// Claims ready runs and executes them, by code in the process or by workers that connect to
    /// it.
    Worker,
    /// Fires timers, delivers the effects that crashed nodes left, and deletes expired runs.
    Timers,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Api, Self::Worker, Self::Timers];

    /// Returns the name of the role.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Worker => "worker",
            Self::Timers => "timers",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The role does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown role `{0}`; the roles are api, worker and timers")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| UnknownRole(text.escape_debug().to_string()))
    }
}

/// The roles of a node, by default all. A node without roles still serves requests in its process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Roles([bool; Role::ALL.len()]);

impl Roles {
    /// All roles: a node that needs no other.
    pub const ALL: Self = Self([true; Role::ALL.len()]);
    /// No roles: a node that only sends requests.
    pub const NONE: Self = Self([false; Role::ALL.len()]);

    /// Returns whether the node has a role.
    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        let Self([api, worker, timers]) = self;
        match role {
            Role::Api => api,
            Role::Worker => worker,
            Role::Timers => timers,
        }
    }
}

impl Default for Roles {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<T: IntoIterator<Item = Role>>(roles: T) -> Self {
        let named: Vec<Role> = roles.into_iter().collect();
        Self(Role::ALL.map(|role| named.contains(&role)))
    }
}

impl<const N: usize> From<[Role; N]> for Roles {
    fn from(roles: [Role; N]) -> Self {
        roles.into_iter().collect()
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let assigned = Role::ALL.into_iter().filter(|role| self.has(*role));
        let names: Vec<&str> = assigned.map(Role::as_str).collect();
        f.write_str(&names.join(","))
    }
}

impl fmt::Debug for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roles({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_parsed_and_displayed() {
        let some = Roles::from([Role::Timers, Role::Api]);
        assert_eq!(some.to_string(), "api,timers");
        assert!(!some.has(Role::Worker));
        assert_eq!(Roles::from(Role::ALL), Roles::default());
        assert_eq!(Roles::NONE.to_string(), "");
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("workers".parse::<Role>().is_err());
    }
}
