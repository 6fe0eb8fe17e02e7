//! `everstep stream`: creates a stream, appends to it and reads it.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use everstep_protocol::client::{Answer, Call, CallError, segment};
use http::{HeaderName, Method, StatusCode, header};
use serde_json::json;
use serde_json::value::RawValue;

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;
use crate::reconnect;
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep stream create chat/room-1
  everstep stream append chat/room-1 '{\"from\":\"ada\",\"text\":\"hello\"}'
  everstep stream read chat/room-1
  everstep stream read chat/room-1 --from now --follow     only new messages, as they arrive
  everstep stream create logs/web --content-type text/plain --ttl 24h
  tail -f web.log | everstep stream append logs/web --file -";

const JSON: &str = "application/json";
/// The timeout of a long-poll, longer than the server waits.
const POLL_TIMEOUT: Duration = Duration::from_secs(90);
/// How much of a file one append contains at most, below the limit of the server.
const APPEND_BYTES_MAX: usize = 1024 * 1024;
const TTL: HeaderName = HeaderName::from_static("stream-ttl");
const NEXT_OFFSET: &str = "stream-next-offset";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stream {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a stream
    Create(Create),
    /// Append to a stream; a JSON array is appended as one message per element
    Append(Append),
    /// Print the messages of a stream
    Read(ReadStream),
}

#[derive(Args, Debug)]
struct Create {
    /// Name of the stream, such as chat/room-1
    stream: String,
    /// Content type of the messages
    #[arg(long, default_value = JSON)]
    content_type: String,
    /// Delete the stream when it was not used for this duration
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    ttl: Option<String>,
}

#[derive(Args, Debug)]
struct Append {
    /// Name of the stream
    stream: String,
    /// Message; JSON, if that is the content type of the stream
    #[arg(required_unless_present = "file")]
    message: Option<String>,
    /// Append the content of this file, or of stdin if it is `-`
    #[arg(long, conflicts_with = "message")]
    file: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct ReadStream {
    /// Name of the stream
    stream: String,
    /// Where to begin: start, now, or an offset that another command printed
    #[arg(long, default_value = "start", value_name = "OFFSET")]
    from: String,
    /// Wait for more messages until the stream is closed
    #[arg(long, short)]
    follow: bool,
}

pub(crate) async fn run(arguments: &Stream, context: &Context) -> anyhow::Result<Exit> {
    match &arguments.action {
        Action::Create(create) => self::create(create, context).await,
        Action::Append(append) => self::append(append, context).await,
        Action::Read(read) => tokio::select! {
            ended = self::read(read, context) => ended,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        },
    }
}

/// Returns the path of a stream. Slashes in its name separate segments.
fn path(stream: &str) -> String {
    let segments = stream.trim_matches('/').split('/').map(segment);
    format!("v1/stream/{}", segments.collect::<Vec<_>>().join("/"))
}

async fn create(create: &Create, context: &Context) -> anyhow::Result<Exit> {
    let mut call = Call::new(Method::PUT, path(&create.stream));
    call = call.header(header::CONTENT_TYPE, &create.content_type);
    if let Some(ttl) = &create.ttl {
        let ttl = everstep_model::parse_duration(ttl)?;
        call = call.header(TTL, &whole_seconds(ttl).to_string());
    }
    let answer = context.server.send(call).await?;
    let is_new = answer.status == StatusCode::CREATED;
    let done = if is_new { "created" } else { "exists" };
    let stream = &create.stream;
    let value =
        json!({"stream": stream, "created": is_new, "nextOffset": answer.header(NEXT_OFFSET)});
    context.out.result(&value, &format!("{stream} {done}"))
}

/// Rounds up, because a lifetime of 0 s has ended already.
fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

async fn append(append: &Append, context: &Context) -> anyhow::Result<Exit> {
    let path = path(&append.stream);
    let head = Call::new(Method::HEAD, path.clone());
    let kind = context.server.send(head).await?;
    let kind = kind.header("content-type").unwrap_or(JSON).to_owned();
    let send = async |content: Vec<u8>| {
        let call = Call::post(path.clone()).bytes("application/octet-stream", content);
        context
            .server
            .send(call.header(header::CONTENT_TYPE, &kind))
            .await
    };
    let answer = match (&append.message, &append.file) {
        (Some(message), _) => send(message.clone().into_bytes()).await?,
        (None, Some(file)) => {
            let mut input: Box<dyn Read> = match file.as_os_str() == "-" {
                true => Box::new(std::io::stdin()),
                false => Box::new(
                    std::fs::File::open(file)
                        .with_context(|| format!("cannot read {}", file.display()))?,
                ),
            };
            append_all(&mut input, is_json(&kind), &send).await?
        }
        // clap requires one of them.
        (None, None) => return Err(UsageError::new("no message", "See --help.").into()),
    };
    let end = answer.header(NEXT_OFFSET).unwrap_or_default();
    let value = json!({"stream": append.stream, "nextOffset": end});
    let text = format!("appended to {}, which ends at {end}", append.stream);
    context.out.result(&value, &text)
}

/// Appends an input in parts as they arrive; JSON as a whole.
async fn append_all(
    input: &mut dyn Read,
    is_json: bool,
    send: impl AsyncFn(Vec<u8>) -> Result<Answer, CallError>,
) -> anyhow::Result<Answer> {
    if is_json {
        let mut content = Vec::new();
        input.read_to_end(&mut content)?;
        return Ok(send(content).await?);
    }
    let mut last = None;
    let mut buffer = vec![0; APPEND_BYTES_MAX];
    loop {
        let count = input.read(&mut buffer)?;
        match (buffer.get(..count), last) {
            (Some(part), _) if !part.is_empty() => last = Some(send(part.to_vec()).await?),
            (_, Some(last)) => return Ok(last),
            (_, None) => anyhow::bail!("the input is empty"),
        }
    }
}

async fn read(read: &ReadStream, context: &Context) -> anyhow::Result<Exit> {
    let path = path(&read.stream);
    let mut offset = match read.from.as_str() {
        "start" => "-1".to_owned(),
        from => from.to_owned(),
    };
    let mut is_live = false;
    loop {
        let live = if is_live { "&live=long-poll" } else { "" };
        let call = Call::get(format!("{path}?offset={}{live}", segment(&offset)));
        let answer = match is_live {
            true => reconnect::send(context, &call.timeout(POLL_TIMEOUT)).await?,
            false => context.server.send(call).await?,
        };
        print(&answer, context)?;
        if let Some(next) = answer.header(NEXT_OFFSET) {
            offset = next.to_owned();
        }
        let is_closed = answer.header("stream-closed") == Some("true");
        let is_at_end = answer.header("stream-up-to-date") == Some("true");
        if is_closed || is_at_end && !read.follow {
            return Ok(Exit::Success);
        }
        is_live = is_at_end;
    }
}

/// Prints each JSON message on a line, and other content as it is.
fn print(answer: &Answer, context: &Context) -> anyhow::Result<()> {
    if answer.header("content-type").is_some_and(is_json) && !answer.body.is_empty() {
        let messages: Vec<Box<RawValue>> = answer.json()?;
        for message in messages {
            context.out.line(message.get())?;
        }
        return Ok(());
    }
    let mut output = std::io::stdout();
    output.write_all(&answer.body)?;
    output.flush()?;
    Ok(())
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    // B853
    #[test]
    fn a_lifetime_is_rounded_up_to_whole_seconds() {
        for (millis, seconds) in [(500, 1), (1_000, 1), (1_001, 2), (86_400_000, 86_400)] {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds);
        }
    }
}
