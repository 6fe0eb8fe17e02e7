//! `everstep key`: manages API keys, through a server or directly in a store.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use everstep::Roles;
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, KeyView, Scope};
use everstep_protocol::client::{Call, segment};
use everstep_server::Keys;

use crate::arguments::GlobalOptions;
use crate::context::Context;
use crate::exit::Exit;
use crate::hosting::StorageConfig;
use crate::output::{Colour, Output, Table, plain};
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep key create ops --scope admin --data ./.everstep    before the server starts
  everstep key create ops --scope admin --on-store            in the configured store
  everstep key create web --scope start,read
  everstep key create worker-1 --scope work --workflow payment --workflow expense
  everstep key create acme --scope read,start,send --runs acme- --streams acme/
  everstep key list
  everstep key revoke 0123456789abcdef
  everstep key rotate-secret

Scopes: read, start, send, operate, work, admin. Only admin includes the others. A key
with --workflow, --runs or --streams reaches only what they name.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Key {
    #[command(subcommand)]
    action: Action,
    /// Use the store in this directory instead of a server; no server may be running on it
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<OsString>,
    /// Use this PostgreSQL database instead of a server
    #[arg(long, value_name = "URL", global = true)]
    store: Option<OsString>,
    /// Namespace of the installation in that database
    #[arg(long, value_name = "NAME", global = true)]
    namespace: Option<OsString>,
    /// Use the configured store instead of a server
    #[arg(long, global = true)]
    on_store: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a key and print it; only its hash is stored
    Create(NewKey),
    /// List all keys
    List,
    /// Revoke a key and the tokens created with it
    Revoke {
        /// ID of the key, as shown by `everstep key list`
        id: String,
    },
    /// Replace the secret that signs tokens; all tokens end, and keys stay valid
    RotateSecret,
}

#[derive(Args, Debug)]
struct NewKey {
    /// Name of the key's owner, recorded as the author of its requests
    name: String,
    /// Scope; separate several with commas
    #[arg(
        long = "scope",
        value_name = "SCOPE",
        value_delimiter = ',',
        required = true
    )]
    scopes: Vec<Scope>,
    /// Workflow whose runs the key reaches, and that a worker with this key may execute; may be
    /// repeated
    #[arg(long = "workflow", value_name = "WORKFLOW")]
    workflows: Vec<String>,
    /// Prefix of the run IDs that the key can access; may be repeated
    #[arg(long, value_name = "PREFIX")]
    runs: Vec<String>,
    /// Prefix of the stream paths that the key can access; may be repeated
    #[arg(long, value_name = "PREFIX")]
    streams: Vec<String>,
    /// Further workflow whose runs the worker's runs may start, await and send events to; may be
    /// repeated
    #[arg(long = "reaches", value_name = "WORKFLOW")]
    reaches: Vec<String>,
}

/// The store has no key with this id.
#[derive(Debug, thiserror::Error)]
#[error("there is no key with the ID {0}")]
pub(crate) struct UnknownKey(pub(crate) String);

impl NewKey {
    fn request(&self) -> Result<CreateKey, UsageError> {
        if self.scopes.contains(&Scope::Work) && self.workflows.is_empty() {
            return Err(UsageError::new(
                "a key with the scope `work` names the workflows that its worker may execute",
                "Add --workflow NAME, once for each workflow.",
            ));
        }
        if !self.scopes.contains(&Scope::Work) && !self.reaches.is_empty() {
            return Err(UsageError::new(
                "only a key with the scope `work` reaches further workflows",
                "Add --scope work and --workflow NAME, or omit --reaches.",
            ));
        }
        let request = CreateKey {
            workflows: self.workflows.clone(),
            runs: self.runs.clone(),
            streams: self.streams.clone(),
            reaches: self.reaches.clone(),
            ..CreateKey::new(&self.name, self.scopes.iter().copied())
        };
        Keys::check(&request).map_err(|error| {
            let examples = "Examples: --workflow order, --runs acme-, --streams acme/";
            UsageError::new(error.to_string(), examples)
        })?;
        Ok(request)
    }
}

pub(crate) async fn run(arguments: &Key, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let out = Output::new(global.json);
    let is_named = arguments.data.is_some() || arguments.store.is_some();
    if !is_named && !arguments.on_store {
        return on_server(&arguments.action, &Context::new(global)?).await;
    }
    let config = global.config(vec![
        ("data", arguments.data.clone()),
        ("store", arguments.store.clone()),
        ("namespace", arguments.namespace.clone()),
    ])?;
    // Without roles, the engine does not execute the runs in the store.
    let storage = StorageConfig::new(&config)?.open().await?;
    let engine = storage.engine(Roles::NONE).start().await?;
    let done = on_store(&arguments.action, &Keys::of(&engine), &out).await;
    engine.shutdown().await;
    done
}

async fn on_store(action: &Action, keys: &Keys, out: &Output) -> anyhow::Result<Exit> {
    match action {
        Action::Create(key) => print_created(out, &keys.create(key.request()?, None).await?),
        Action::List => print_list(out, &keys.list().await?),
        Action::Revoke { id } => {
            anyhow::ensure!(keys.revoke(id).await?, UnknownKey(id.clone()));
            print_revoked(out, id)
        }
        Action::RotateSecret => {
            keys.rotate_secret().await?;
            print_rotated(out)
        }
    }
}

async fn on_server(action: &Action, context: &Context) -> anyhow::Result<Exit> {
    let (server, out) = (&context.server, &context.out);
    match action {
        Action::Create(key) => print_created(out, &server.post("keys", &key.request()?).await?),
        Action::List => print_list(out, &server.get::<KeyList>("keys").await?.keys),
        Action::Revoke { id } => {
            let path = format!("keys/{}", segment(id));
            server.delete::<()>(&path).await?;
            print_revoked(out, id)
        }
        Action::RotateSecret => {
            server.send(Call::post("keys/rotate-secret")).await?;
            print_rotated(out)
        }
    }
}

/// Prints nothing but the key, so that scripts can use the output.
fn print_created(out: &Output, key: &CreatedKey) -> anyhow::Result<Exit> {
    out.result(key, &key.key)
}

fn print_revoked(out: &Output, id: &str) -> anyhow::Result<Exit> {
    out.result(
        &serde_json::json!({"revoked": id}),
        &format!("revoked {id}"),
    )
}

fn print_rotated(out: &Output) -> anyhow::Result<Exit> {
    out.result(
        &serde_json::json!({"rotated": true}),
        "replaced the signing secret; all tokens end",
    )
}

fn print_list(out: &Output, keys: &[KeyView]) -> anyhow::Result<Exit> {
    if out.is_json {
        return out.json_lines(keys);
    }
    let mut table = Table::new(&["ID", "NAME", "SCOPES", "REACHES", "CREATED", "BY"]);
    for key in keys {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        table.row([
            (key.id.clone(), Colour::Strong),
            plain(&key.name),
            plain(scopes.join(",")),
            plain(reached(key)),
            plain(key.created_at),
            plain(key.created_by.as_deref().unwrap_or_default()),
        ]);
    }
    out.table(&table)?;
    Ok(Exit::Success)
}

/// Names what a key is limited to.
fn reached(key: &KeyView) -> String {
    let prefixes = key.runs.iter().chain(&key.streams);
    let prefixes = prefixes.map(|prefix| format!("{prefix}*"));
    let named: Vec<String> = key.workflows.iter().cloned().chain(prefixes).collect();
    named.join(",")
}
