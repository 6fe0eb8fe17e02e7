//! Searches for a smaller case that fails like a given one.

/// The smallest failing case so far.
///
/// `attempt` simulates a case and returns its result if it fails in the same way as the original.
pub struct Minimiser<'a, C, R> {
    attempt: &'a dyn Fn(&C) -> Option<R>,
    attempts_left: u32,
    smallest: C,
    result: Option<R>,
}

impl<'a, C: Clone, R> Minimiser<'a, C, R> {
    /// Starts with a case that fails. Makes at most `attempts` attempts.
    pub fn new(case: C, attempts: u32, attempt: &'a dyn Fn(&C) -> Option<R>) -> Self {
        Self {
            attempt,
            attempts_left: attempts,
            smallest: case,
            result: None,
        }
    }

    /// Returns the smallest case so far.
    pub fn smallest(&self) -> &C {
        &self.smallest
    }

    /// Returns the smallest case, and its result if it is smaller than the original.
    pub fn finish(self) -> (C, Option<R>) {
        (self.smallest, self.result)
    }

    /// Changes the case if it still fails after that. Returns whether it does.
    pub fn change(&mut self, change: impl FnOnce(&mut C)) -> bool {
        if self.attempts_left == 0 {
            return false;
        }
        self.attempts_left -= 1;
        let mut case = self.smallest.clone();
        change(&mut case);
        let Some(result) = (self.attempt)(&case) else {
            return false;
        };
        (self.smallest, self.result) = (case, Some(result));
        true
    }

    /// Searches for the lowest number from 0 to `most` with which the case fails.
    pub fn lower(&mut self, most: u64, set: impl Fn(&mut C, u64)) {
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.change(|case| set(case, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
    }

    /// Removes items of a list: all at once, then halves, and so on down to single ones, until none
    /// can be removed.
    pub fn remove_items<T>(&mut self, items: impl Fn(&mut C) -> &mut Vec<T>) {
        let len = |search: &Self| items(&mut search.smallest.clone()).len();
        let mut size = len(self);
        while size > 0 {
            let mut first = 0;
            let mut is_smaller = false;
            while first < len(self) {
                let is_removed = self.change(|case| {
                    let items = items(case);
                    items.drain(first..(first + size).min(items.len()));
                });
                is_smaller |= is_removed;
                if !is_removed {
                    first += size;
                }
            }
            // After a removal, an item that was necessary before may not be any more.
            if size > 1 || !is_smaller {
                size /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests;
