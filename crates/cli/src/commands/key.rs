//! `everstep key`: manages API keys, through a server or directly in a store.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use everstep::Roles;
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, KeyView, Scope};
use everstep_protocol::client::segment;
use everstep_server::Keys;

use crate::arguments::GlobalOptions;
use crate::context::Context;
use crate::exit::Exit;
use crate::hosting::StorageConfig;
use crate::output::{Colour, Output, Table};

const EXAMPLES: &str = "\
Examples:
  everstep key create ops --scope admin --data ./.everstep    the first key, before the server starts
  everstep key create ops --scope admin --on-store            in the configured store, such as EVERSTEP_STORE
  everstep key create web --scope start,read
  everstep key create worker-1 --scope work --workflow payment --workflow expense
  everstep key list
  everstep key revoke 0123456789abcdef

Scopes: read, start, send, operate, work, admin. Only admin includes the others.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Key {
    #[command(subcommand)]
    action: Action,
    /// Use the store in this directory instead of a server; no server may be running on it
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
    /// Use this PostgreSQL database instead of a server
    #[arg(long, value_name = "URL", global = true)]
    store: Option<String>,
    /// Namespace of the installation in that database
    #[arg(long, value_name = "NAME", global = true)]
    namespace: Option<String>,
    /// Use the configured store instead of a server
    #[arg(long, global = true)]
    on_store: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a key and print it; only its hash is stored
    Create {
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
        /// Workflow that a worker with this key may execute; may be repeated
        #[arg(long = "workflow", value_name = "WORKFLOW")]
        workflows: Vec<String>,
    },
    /// List all keys
    List,
    /// Revoke a key and the run tokens created with it
    Revoke {
        /// ID of the key, as shown by `everstep key list`
        id: String,
    },
}

pub(crate) async fn run(arguments: &Key, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let out = Output::new(global.json);
    let is_named = arguments.data.is_some() || arguments.store.is_some();
    if !is_named && !arguments.on_store {
        return on_server(&arguments.action, &Context::new(global)?).await;
    }
    let data = arguments.data.as_ref();
    let config = global.config(vec![
        ("data", data.map(|path| path.display().to_string())),
        ("store", arguments.store.clone()),
        ("namespace", arguments.namespace.clone()),
    ])?;
    // Without roles, the engine does not execute the runs in the store.
    let storage = StorageConfig::new(&config)?.open().await?;
    let engine = storage.engine(Roles::NONE);
    let engine = engine.start().await?;
    let done = on_store(&arguments.action, &Keys::of(&engine), &out).await;
    engine.shutdown().await;
    done
}

async fn on_store(action: &Action, keys: &Keys, out: &Output) -> anyhow::Result<Exit> {
    match action {
        Action::Create {
            name,
            scopes,
            workflows,
        } => print_created(
            out,
            &keys
                .create(key_request(name, scopes, workflows), None)
                .await?,
        ),
        Action::List => print_list(out, &keys.list().await?),
        Action::Revoke { id } => {
            anyhow::ensure!(keys.revoke(id).await?, "there is no key with the ID {id}");
            print_revoked(out, id)
        }
    }
}

async fn on_server(action: &Action, context: &Context) -> anyhow::Result<Exit> {
    let (server, out) = (&context.server, &context.out);
    match action {
        Action::Create {
            name,
            scopes,
            workflows,
        } => print_created(
            out,
            &server
                .post("keys", &key_request(name, scopes, workflows))
                .await?,
        ),
        Action::List => {
            let list: KeyList = server.get("keys").await?;
            print_list(out, &list.keys)
        }
        Action::Revoke { id } => {
            server
                .delete::<()>(&format!("keys/{}", segment(id)))
                .await?;
            print_revoked(out, id)
        }
    }
}

fn key_request(name: &str, scopes: &[Scope], workflows: &[String]) -> CreateKey {
    CreateKey {
        name: name.to_owned(),
        scopes: scopes.to_vec(),
        workflows: workflows.to_vec(),
    }
}

fn print_created(out: &Output, key: &CreatedKey) -> anyhow::Result<Exit> {
    match out.is_json {
        true => out.json(key)?,
        // Nothing but the key, so that scripts can use the output.
        false => out.line(&key.key)?,
    }
    Ok(Exit::Success)
}

fn print_revoked(out: &Output, id: &str) -> anyhow::Result<Exit> {
    match out.is_json {
        true => out.json(&serde_json::json!({"revoked": id}))?,
        false => out.line(&format!("revoked {id}"))?,
    }
    Ok(Exit::Success)
}

fn print_list(out: &Output, keys: &[KeyView]) -> anyhow::Result<Exit> {
    if out.is_json {
        for key in keys {
            out.json(key)?;
        }
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&["ID", "NAME", "SCOPES", "WORKFLOWS", "CREATED", "BY"]);
    for key in keys {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        let plain = |text: String| (text, Colour::Plain);
        table.row([
            (key.id.clone(), Colour::Strong),
            plain(key.name.clone()),
            plain(scopes.join(",")),
            plain(key.workflows.join(",")),
            plain(key.created_at.to_string()),
            plain(key.created_by.clone().unwrap_or_default()),
        ]);
    }
    out.table(&table)?;
    Ok(Exit::Success)
}
