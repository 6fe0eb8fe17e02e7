//! The keys of lists, frames and effects.

use crate::encoding::keys;
use crate::encoding::page;

#[test]
fn keys_are_decoded_or_refused() {
    super::check("list_key", |bytes| {
        let workflow = keys::workflow_of(bytes);
        if let Ok(workflow) = workflow {
            let prefix = keys::workflow(workflow);
            assert_eq!(keys::workflow_of(&prefix), Ok(workflow));
        }
        let stream = keys::stream_of_head(bytes);
        if let Ok(stream) = stream {
            assert_eq!(keys::stream_of_head(&keys::stream(stream)), Ok(stream));
        }
        let first = keys::first_of_page(bytes);
        if let Ok(first) = first {
            let page = keys::page(b"w", page::number_of(first));
            assert_eq!(keys::first_of_page(&page), Ok(first));
        }
        let record = keys::first_of_frame(bytes);
        let effect = keys::stream_of_effect(bytes);
        (
            workflow.is_ok(),
            stream.is_ok(),
            first.is_ok(),
            record.is_ok(),
            effect.is_ok(),
        )
    });
}
