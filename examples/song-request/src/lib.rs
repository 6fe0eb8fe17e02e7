//! Two sagas of a streamer's channel. Viewers pay for rewards with points; each redemption is a run.
//!
//! A saga is a row of steps in several systems that no transaction spans. Here each step says how it is undone, and when a
//! later one fails, Everstep undoes what was done, the latest first, and the viewer has the points back. Read in this order:
//!
//! - [`song`]: plays a song that a viewer asked for. Steps with and without undo, retries, a point of no return, and a
//!   message that may get lost.
//! - [`raffle`]: lets a viewer roll for a keyboard. Dice that fall once, however often the code is replayed.
//! - [`redemption`]: what both begin and end with, the points. It explains where a refund belongs.
//! - [`world`]: Spotify, Twitch and a database, faked, so that the tests can count what was done to them.

pub mod raffle;
pub mod redemption;
pub mod song;
pub mod world;

pub use raffle::Raffle;
pub use song::SongRequest;
pub use world::World;
