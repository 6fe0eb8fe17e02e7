//! Ids of runs, and the names of their streams.

use crate::{Generation, Link, Location, RunId, Seed, StreamName};

#[test]
fn stream_names_round_trip() {
    super::check_text("run_id", |text| {
        let named = StreamName::from_stored(text);
        if let Some((id, generation)) = named.run() {
            let canonical = StreamName::of_run(&id, generation);
            assert_eq!(canonical.run(), Some((id, generation)));
        }
        let id = match RunId::new(text) {
            Ok(id) => id,
            Err(error) => return (error.reason, named.run().is_some()),
        };
        for generation in [Generation::FIRST, Generation(u32::MAX)] {
            let stream = StreamName::of_run(&id, generation);
            assert_eq!(stream.run(), Some((id.clone(), generation)));
        }
        let location: Location = "a:0".parse().expect("a location");
        let call = Link {
            run: id,
            generation: Generation::FIRST,
            location,
            identity: Some(Seed(u64::MAX)),
        };
        let child = RunId::of_child(&call, 0);
        assert_eq!(RunId::new(child.as_str()), Ok(child));
        ("", false)
    });
}
