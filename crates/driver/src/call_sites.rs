//! Texts of the call sites of shells in other languages, such as `pay.ts:12`.

use std::collections::HashMap;

/// Interned texts. Code calls the same operations again and again, so equal texts share an index.
#[derive(Debug, Default)]
pub(crate) struct CallSites {
    texts: Vec<String>,
    by_text: HashMap<String, u32>,
}

impl CallSites {
    pub(crate) fn add(&mut self, text: String) -> u32 {
        if let Some(known) = self.by_text.get(&text) {
            return *known;
        }
        let index = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.clone());
        self.by_text.insert(text, index);
        index
    }

    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }
}
