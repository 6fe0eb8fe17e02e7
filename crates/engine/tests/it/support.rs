//! An engine on a virtual clock, with a store in memory or in a directory.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the runtime of these tests"
)]

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use everstep_engine::simulation::VirtualRuntime;
use everstep_engine::streams::{
    Append, ContentType, Create, Fork, Lifetime, ReadFrom, StreamError, StreamPath, Streams,
};
use everstep_engine::{Engine, EngineParts, Settings};
use everstep_model::Offset;
use everstep_store::{Clock, LocalBus, MemoryStore, Store};
use everstep_store_embedded::EmbeddedStore;

/// The kind of store of a test.
pub(crate) enum StoreKind {
    Memory(MemoryStore),
    Directory(tempfile::TempDir),
}

/// An engine that can be closed and opened again on the same store.
pub(crate) struct World {
    pub(crate) runtime: Arc<VirtualRuntime>,
    store: StoreKind,
    settings: Settings,
    engine: Option<Engine>,
}

impl World {
    /// Opens an engine on an empty store.
    pub(crate) async fn new(in_memory: bool) -> Self {
        Self::with_settings(in_memory, Settings::default()).await
    }

    pub(crate) async fn with_settings(in_memory: bool, settings: Settings) -> Self {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let store = match in_memory {
            true => StoreKind::Memory(MemoryStore::new(runtime.clone())),
            false => StoreKind::Directory(tempfile::tempdir().unwrap()),
        };
        let mut world = Self {
            runtime,
            store,
            settings,
            engine: None,
        };
        world.open().await;
        world
    }

    async fn open(&mut self) {
        let clock: Arc<dyn Clock> = self.runtime.clone();
        let store: Arc<dyn Store> = match &self.store {
            StoreKind::Memory(store) => Arc::new(store.clone()),
            StoreKind::Directory(path) => {
                Arc::new(EmbeddedStore::open(path.path(), clock).unwrap())
            }
        };
        let parts = EngineParts {
            store,
            bus: Arc::new(LocalBus::default()),
            runtime: self.runtime.clone(),
            settings: self.settings.clone(),
            workers: Vec::new(),
            failure_hooks: Vec::new(),
        };
        self.engine = Some(Engine::open(parts).await.unwrap());
    }

    /// Shuts the engine down and opens it again.
    pub(crate) async fn reopen(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.shutdown().await;
        }
        self.open().await;
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    pub(crate) fn streams(&self) -> Streams {
        self.engine().streams()
    }
}

/// Two engines on one store in memory, which receive each other's hints.
pub(crate) async fn two_nodes() -> (Engine, Engine) {
    let bus = Arc::new(LocalBus::default());
    two_nodes_on([bus.clone(), bus]).await
}

/// Two engines on one store in memory, with a bus each.
pub(crate) async fn two_nodes_on([one, two]: [Arc<LocalBus>; 2]) -> (Engine, Engine) {
    let runtime = Arc::new(VirtualRuntime::new(1));
    let store = MemoryStore::new(runtime.clone());
    let open = async |bus| {
        let engine = Engine::open(EngineParts {
            store: Arc::new(store.clone()),
            bus,
            runtime: runtime.clone(),
            settings: Settings::default(),
            workers: Vec::new(),
            failure_hooks: Vec::new(),
        });
        engine.await.unwrap()
    };
    (open(one).await, open(two).await)
}

/// Runs a test on an empty store of each kind, on the virtual clock.
pub(crate) fn for_each_store<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    for in_memory in [true, false] {
        virtual_time(async {
            test(World::new(in_memory).await).await;
        });
    }
}

pub(crate) fn virtual_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(test)
}

pub(crate) fn path(text: &str) -> StreamPath {
    StreamPath::new(text).unwrap()
}

pub(crate) fn json() -> ContentType {
    ContentType::new("application/json")
}

pub(crate) fn text() -> ContentType {
    ContentType::new("text/plain")
}

/// A request to create a stream with defaults.
pub(crate) fn create(at: &str, content_type: ContentType) -> Create {
    Create {
        path: path(at),
        content_type: Some(content_type),
        lifetime: Lifetime::Unspecified,
        closed: false,
        fork: None,
        body: Bytes::new(),
    }
}

/// A request to append text with defaults.
pub(crate) fn append(at: &str, body: &str) -> Append {
    Append {
        path: path(at),
        content_type: Some(text()),
        body: Bytes::copy_from_slice(body.as_bytes()),
        close: false,
        producer: None,
        seq: None,
    }
}

/// Reads everything from an offset on in small chunks, and whether the stream is closed.
pub(crate) async fn read_all(
    streams: &Streams,
    at: &StreamPath,
    from: ReadFrom,
) -> Result<(Vec<Bytes>, Vec<Offset>, bool), StreamError> {
    let mut reader = streams.read(at, from).await?;
    let (mut messages, mut offsets) = (Vec::new(), vec![reader.offset()]);
    loop {
        let chunk = reader.next_chunk(3).await?;
        messages.extend(chunk.messages);
        offsets.push(chunk.next);
        if chunk.up_to_date {
            return Ok((messages, offsets, chunk.closed));
        }
    }
}

/// The whole text of a stream.
pub(crate) async fn whole(streams: &Streams, at: &str) -> Result<String, StreamError> {
    let (messages, ..) = read_all(streams, &path(at), ReadFrom::Start).await?;
    let bytes = messages.concat();
    Ok(String::from_utf8(bytes).unwrap())
}

/// A fork at the end of a stream.
pub(crate) fn fork_of(source: &str) -> Option<Fork> {
    Some(Fork {
        source: path(source),
        offset: None,
        sub_offset: 0,
    })
}
