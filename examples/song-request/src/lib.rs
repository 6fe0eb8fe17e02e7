//! Two sagas of a streamer's channel. Viewers pay for rewards with points; each redemption is a
//! run.
//!
//! A saga is a sequence of steps in several systems without a common transaction. Each step defines
//! how to undo it. When a later step fails, Everstep undoes the completed ones, the latest first,
//! and the viewer gets the points back. Reading order:
//!
//! - [`song`]: plays a song that a viewer requested. Steps with and without undo, retries, a point
//!   of no return, and a message that may be lost.
//! - [`raffle`]: a viewer rolls dice for a keyboard. The recorded roll is the same on every replay.
//! - [`redemption`]: the points with which both begin and end, and where a refund belongs.
//! - [`webhook`]: the HTTP entry, which Twitch calls for each redemption, with the deadline of the
//!   runs.
//! - [`world`]: fakes of Spotify, Twitch and a database, so that the tests can count their calls.

pub mod raffle;
pub mod redemption;
pub mod song;
pub mod webhook;
pub mod world;

pub use raffle::Raffle;
pub use song::SongRequest;
pub use world::World;
