//! The import: a durable loop over the pages of a source.

use std::ops::ControlFlow;

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Result, Workflow};
use serde::{Deserialize, Serialize};

use crate::world::{Source, Warehouse};

/// Copies a source into a warehouse.
#[derive(Clone, Debug)]
pub struct Import {
    /// The source of the rows.
    pub source: Source,
    /// The target of the rows.
    pub warehouse: Warehouse,
}

/// The progress of an import. It is the state of the loop, and everything that a page knows about
/// previous pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// The cursor of the next page.
    pub cursor: u64,
    /// The number of copied pages.
    pub pages: u64,
    /// The number of copied rows.
    pub rows: u64,
}

/// The result of copying a page. It does not contain the rows, which are in the warehouse.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Copied {
    rows: u64,
    pictures: Vec<u64>,
    next: Option<u64>,
}

impl Workflow for Import {
    const NAME: &'static str = "import";
    type Input = ();
    type Output = Progress;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<Progress> {
        let start = Progress::default();
        ctx.repeat("pages", start, |ctx, progress| self.page(ctx, progress))
            // How many finished iterations stay in the journal, for people who inspect the run.
            // Older ones are dropped in groups, because the state is all that the loop needs to
            // continue. 10 is also the default.
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
        // Rows are written by ID, so copying a page twice is harmless. Such a step can be
        // ephemeral: it does not wait until its result is synced, and a crash repeats the last few
        // pages. Without `ephemeral`, every page is synced before the next one begins, and the disk
        // limits the speed of the import.
        let copied = ctx
            .step("copy-page", || self.copy_page(progress.cursor))
            .ephemeral()
            .await?;

        // A few pages have pictures, which are fetched in parallel, at most four at a time. Each is
        // a recorded step: a crash repeats only those in flight.
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
        // Progress for live clients.
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
