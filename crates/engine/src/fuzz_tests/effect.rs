//! Effects of one run on another, as they are stored in the outbox.

use everstep_model::Payload;

use crate::commit::projection::Effect;
use crate::requests::SendEvent;

#[test]
fn an_effect_that_decodes_is_written_so_that_it_decodes_equal() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "effect", |bytes| {
        let Ok(payload) = Payload::from_json(bytes.to_vec()) else {
            return "no JSON".to_owned();
        };
        let Some(effect) = Effect::from_payload(&payload) else {
            return "no effect".to_owned();
        };
        let written = effect.to_payload().expect("what was read is JSON");
        assert_eq!(Effect::from_payload(&written).as_ref(), Some(&effect));
        let _ = (effect.target(), SendEvent::of_effect(&effect));
        format!("{:?}", std::mem::discriminant(&effect))
    });
}
