//! The keys of lists, frames and effects, of which parts are read back.

use crate::keys;

#[test]
fn keys_of_any_bytes_are_read_or_refused() {
    super::check("list_key", |bytes| {
        let workflow = keys::workflow_of(bytes);
        if let Ok(workflow) = workflow {
            let prefix = keys::workflow(workflow);
            assert_eq!(keys::workflow_of(&prefix), Ok(workflow));
        }
        let stream = keys::stream_at_end(bytes);
        if let Ok(stream) = stream {
            let listed = keys::listed(keys::workflow("w"), stream);
            assert_eq!(keys::stream_at_end(&listed), Ok(stream));
        }
        let first = keys::first_of_frame(bytes);
        let effect = keys::stream_of_effect(bytes);
        (
            workflow.is_ok(),
            stream.is_ok(),
            first.is_ok(),
            effect.is_ok(),
        )
    });
}
