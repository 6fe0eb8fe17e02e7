//! The import: a durable loop over the pages of a source.

use std::ops::ControlFlow;

use everstep::{Ctx, Result, Workflow};
use serde::{Deserialize, Serialize};

use crate::world::{Source, Warehouse};

/// Copies a source into a warehouse.
#[derive(Clone, Debug)]
pub struct Import {
    /// Where the rows come from.
    pub source: Source,
    /// Where they go.
    pub warehouse: Warehouse,
}

/// How far an import is: the state of the loop, and all that a page knows of those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Where the next page begins.
    pub cursor: u64,
    /// How many pages were copied.
    pub pages: u64,
    /// How many rows were copied.
    pub rows: u64,
}

/// What copying a page came to. The rows themselves are in the warehouse; a journal is no place for them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Copied {
    rows: u64,
    pictures: Vec<u64>,
    next: Option<u64>,
}

impl Workflow for Import {
    const NAME: &'static str = "import";
    type Input = ();
    type Output = Progress;

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<Progress> {
        let start = Progress::default();
        ctx.repeat("pages", start, |ctx, progress| self.page(ctx, progress))
            // How many ended pages stay in the journal, for people who want to see what it did lately. Older ones are
            // dropped, some at a time: the state is all it needs to go on. 10 is also what you get without saying so.
            .keep(10)
            .await
    }
}

impl Import {
    /// One iteration: `Continue` with the next state, or `Break` with the result.
    async fn page(
        &self,
        ctx: Ctx<Self>,
        progress: Progress,
    ) -> Result<ControlFlow<Progress, Progress>> {
        // Rows are written by their ids, so copying a page twice is harmless. Such a step may be ephemeral: it does not wait
        // until its result is synced, and a crash repeats the last page or few. Without that word every page is on disk
        // before the next begins, and the disk decides how long 100,000 of them take.
        let copied = ctx
            .step("copy-page", || self.copy_page(progress.cursor))
            .ephemeral()
            .await?;

        // A few pages have pictures, which are fetched side by side, but never more than four at once. Each is a step of its
        // own and recorded: after a crash only those are fetched again that were under way.
        if !copied.pictures.is_empty() {
            ctx.for_each("pictures", copied.pictures, |ctx, picture| async move {
                ctx.step("fetch-picture", || self.fetch_picture(picture))
                    .await
            })
            .concurrency(4)
            .await?;
        }

        let progress = Progress {
            cursor: copied.next.unwrap_or(progress.cursor),
            pages: progress.pages + 1,
            rows: progress.rows + copied.rows,
        };
        // For whoever watches.
        ctx.set_row("import", ctx.metadata().id.as_str(), &progress)?;
        Ok(match copied.next {
            Some(_) => ControlFlow::Continue(progress),
            None => ControlFlow::Break(progress),
        })
    }

    async fn copy_page(&self, cursor: u64) -> Result<Copied> {
        let page = self.source.page(cursor).await;
        self.warehouse.put_rows(&page.rows);
        Ok(Copied {
            rows: page.rows.len() as u64,
            pictures: page.pictures,
            next: page.next,
        })
    }

    async fn fetch_picture(&self, picture: u64) -> Result<()> {
        self.warehouse.put_picture(picture);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
