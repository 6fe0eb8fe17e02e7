//! Frames and the records in them.

use bytes::Bytes;

use crate::{DecodeError, Frame, Interner};

fn decode(bytes: &Bytes) -> Result<Frame, DecodeError> {
    Frame::decode(bytes, &mut Interner::default())
}

/// A frame may be longer than necessary (long numbers, repeated names, fields of later releases).
/// Encoding it again makes it shorter, and a further round trip does not change it.
#[test]
fn decoded_frames_round_trip() {
    super::check("frame", |bytes| {
        let bytes = Bytes::copy_from_slice(bytes);
        let summary = Frame::decode_summary(&bytes);
        let frame = match decode(&bytes) {
            Ok(frame) => frame,
            Err(error) => return (error.to_string(), Vec::new()),
        };
        assert_eq!(summary, Ok((frame.header, frame.records.len() as u64)));
        let written = Bytes::from(Frame::encode(&frame.header, &frame.records));
        let again = decode(&written).expect("an encoded frame decodes");
        assert_eq!(again, frame);
        assert_eq!(Frame::encode(&again.header, &again.records), written);
        let _ = frame.header.after(&frame.records);
        let tags = frame.records.iter().map(|record| record.body.tag());
        (String::new(), tags.collect())
    });
}
