//! `everstep key`: API keys, on a server or on a store that no server runs on.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use everstep::Roles;
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, KeyView, Scope};
use everstep_protocol::client::segment;
use everstep_server::Keys;

use crate::arguments::Around;
use crate::ending::Ending;
use crate::output::{Colour, Output, Table};
use crate::serving::Place;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep key create ops --scope admin --data ./.everstep    the first key, before a server runs on that directory
  everstep key create ops --scope admin --on-store            on the store that is set, such as by EVERSTEP_STORE
  everstep key create web --scope start,read
  everstep key create worker-1 --scope work --workflow payment --workflow expense
  everstep key list
  everstep key revoke 0123456789abcdef

Scopes: read, start, send, operate, work, admin. None includes another, except that admin includes all.";

/// Makes, lists and revokes API keys.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Key {
    #[command(subcommand)]
    what: What,
    /// Work on the store in this directory instead of a server; none may be running on it.
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
    /// Work on the store in this PostgreSQL database instead of a server.
    #[arg(long, value_name = "URL", global = true)]
    store: Option<String>,
    /// The installation in that database.
    #[arg(long, value_name = "NAME", global = true)]
    namespace: Option<String>,
    /// Work on the store that is set, by variables or in a file, instead of a server.
    #[arg(long, global = true)]
    on_store: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a key. It is printed this once; only its hash is kept.
    Create {
        /// Who or what it is for; what it does is written down under this name.
        name: String,
        /// What it is good for; several with commas between them.
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            value_delimiter = ',',
            required = true
        )]
        scopes: Vec<Scope>,
        /// A workflow that a worker with it may execute; may be given more than once.
        #[arg(long = "workflow", value_name = "WORKFLOW")]
        workflows: Vec<String>,
    },
    /// List the keys there are.
    List,
    /// Revoke a key, and with it the run tokens it asked for.
    Revoke {
        /// The key's id, as `everstep key list` shows it.
        id: String,
    },
}

pub(crate) async fn run(arguments: &Key, around: &Around) -> anyhow::Result<Ending> {
    let out = Output::new(around.json);
    let is_named = arguments.data.is_some() || arguments.store.is_some();
    if !is_named && !arguments.on_store {
        return on_server(&arguments.what, &Session::open(around)?).await;
    }
    let data = arguments.data.as_ref();
    let config = around.config(vec![
        ("data", data.map(|path| path.display().to_string())),
        ("store", arguments.store.clone()),
        ("namespace", arguments.namespace.clone()),
    ])?;
    // Nothing but keys is asked for: runs are none of its business.
    let engine = Place::open(&config).await?.engine(Roles::NONE);
    let engine = engine.start().await?;
    let done = on_store(&arguments.what, &Keys::of(&engine), &out).await;
    engine.shutdown().await;
    done
}

async fn on_store(what: &What, keys: &Keys, out: &Output) -> anyhow::Result<Ending> {
    match what {
        What::Create {
            name,
            scopes,
            workflows,
        } => created(
            out,
            &keys.create(wish(name, scopes, workflows), None).await?,
        ),
        What::List => listed(out, &keys.list().await?),
        What::Revoke { id } => {
            anyhow::ensure!(keys.revoke(id).await?, "there is no key of the id {id}");
            revoked(out, id)
        }
    }
}

async fn on_server(what: &What, session: &Session) -> anyhow::Result<Ending> {
    let (server, out) = (&session.server, &session.out);
    match what {
        What::Create {
            name,
            scopes,
            workflows,
        } => created(
            out,
            &server.post("keys", &wish(name, scopes, workflows)).await?,
        ),
        What::List => {
            let list: KeyList = server.get("keys").await?;
            listed(out, &list.keys)
        }
        What::Revoke { id } => {
            server
                .delete::<()>(&format!("keys/{}", segment(id)))
                .await?;
            revoked(out, id)
        }
    }
}

fn wish(name: &str, scopes: &[Scope], workflows: &[String]) -> CreateKey {
    CreateKey {
        name: name.to_owned(),
        scopes: scopes.to_vec(),
        workflows: workflows.to_vec(),
    }
}

fn created(out: &Output, key: &CreatedKey) -> anyhow::Result<Ending> {
    match out.is_json {
        true => out.json(key)?,
        // The key alone, so that a script can take it as it is.
        false => out.line(&key.key)?,
    }
    Ok(Ending::Well)
}

fn revoked(out: &Output, id: &str) -> anyhow::Result<Ending> {
    match out.is_json {
        true => out.json(&serde_json::json!({"revoked": id}))?,
        false => out.line(&format!("{id} is revoked"))?,
    }
    Ok(Ending::Well)
}

fn listed(out: &Output, keys: &[KeyView]) -> anyhow::Result<Ending> {
    if out.is_json {
        for key in keys {
            out.json(key)?;
        }
        return Ok(Ending::Well);
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
    Ok(Ending::Well)
}
