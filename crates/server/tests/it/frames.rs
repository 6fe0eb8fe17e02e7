//! Frames of HTTP/2, written by hand.

// Kinds of frames.
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const CONTINUATION: u8 = 9;
// Flags.
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
// Settings.
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

/// A frame of a stream; 0 is the connection.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags]].concat();
    [&head[..], &stream.to_be_bytes(), payload].concat()
}

/// The beginning of a connection with these settings.
pub(crate) fn beginning(settings: &[(u16, u32)]) -> Vec<u8> {
    let settings = settings
        .iter()
        .map(|(setting, value)| [&setting.to_be_bytes()[..], &value.to_be_bytes()].concat());
    let settings = settings.collect::<Vec<_>>().concat();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    [&preface[..], &frame(SETTINGS, 0, 0, &settings)].concat()
}

/// The head of `GET path`, in the encoding of HTTP/2.
pub(crate) fn head_of(path: &str) -> Vec<u8> {
    let literal = |name: u8, value: &str| {
        let length = u8::try_from(value.len()).unwrap();
        [&[name, length], value.as_bytes()].concat()
    };
    let (get, http) = (0x82, 0x86);
    let (path, authority) = (literal(4, path), literal(1, "localhost"));
    [&[get, http][..], &path, &authority].concat()
}
