//! Composition root: builds the services of a server from an engine and its options.

use std::sync::Arc;

use everstep_engine::Engine;

use crate::auth::Identities;
use crate::body::BodyLimits;
use crate::body_budget::{BodyBudget, Budgets};
use crate::journals::{Journals, feed_renderer};
use crate::key_routes::KeyRoutes;
use crate::options::Options;
use crate::permits::WaitPermits;
use crate::read_turns::ReadTurns;
use crate::stream_routes::StreamRoutes;
use crate::streams::StreamServer;
use crate::subscriptions::{Subscriptions, WebhookTargets};
use crate::telemetry::Metrics;
use crate::workers::{Pool, WorkerRoutes};
use crate::workflows::{ShapeSize, WorkflowRoutes};

/// The bytes of responses that one token may leave unsent.
const TOKEN_RESPONSES_BYTES: usize = 16 * 1024 * 1024;

/// The state of each group of routes, and what all routes share.
pub(crate) struct Services {
    /// Keeps the engine alive, so that it receives hints of other nodes.
    pub(crate) engine: Engine,
    pub(crate) identities: Arc<Identities>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) budgets: Budgets,
    /// Separate, so that clients cannot keep workers from appending.
    pub(crate) worker_budgets: Budgets,
    /// Separate, because one journal may be larger than all other bodies together.
    pub(crate) import_budgets: Budgets,
    pub(crate) keys: KeyRoutes,
    pub(crate) streams: StreamRoutes,
    pub(crate) workers: WorkerRoutes,
    pub(crate) workflows: WorkflowRoutes,
}

impl Services {
    pub(crate) fn new(engine: &Engine, options: &Arc<Options>) -> Self {
        let identities = Arc::new(Identities::new(engine, options.access));
        let wait_permits = WaitPermits::new(options.waiting_max);
        let body_limits = BodyLimits::new(options);
        let targets = match options.loopback_only {
            true => WebhookTargets::PublicAndLoopback,
            false => WebhookTargets::Public,
        };
        let of_token_max = options.chunk_bytes.max(TOKEN_RESPONSES_BYTES);
        let responses = BodyBudget::new(options.responses_bytes_max, of_token_max);
        let budgets = |max, of_body_max| Budgets {
            requests: BodyBudget::new(max, of_body_max),
            responses: responses.clone(),
            runtime: engine.runtime(),
        };
        let read_turns = Arc::<ReadTurns>::default();
        let server = Arc::new(StreamServer {
            streams: engine.streams(),
            subscriptions: Arc::new(Subscriptions::new(
                engine.streams(),
                targets,
                feed_renderer(),
            )),
            wait_permits: wait_permits.clone(),
            body_limits,
            response_budget: responses.clone(),
            read_turns: read_turns.clone(),
            options: options.clone(),
        });
        let journals = Journals {
            engine: engine.clone(),
            server: server.clone(),
        };
        Self {
            engine: engine.clone(),
            metrics: Arc::new(Metrics::new(engine)),
            budgets: budgets(options.requests_bytes_max, options.body_bytes_max),
            worker_budgets: budgets(options.worker_body_bytes_max, options.worker_body_bytes_max),
            import_budgets: budgets(options.import_bytes_max, options.import_bytes_max),
            keys: KeyRoutes {
                engine: engine.clone(),
                identities: identities.clone(),
                body_limits,
                token_lifetime_max: options.token_lifetime_max,
            },
            identities,
            streams: StreamRoutes {
                server,
                journals: Arc::new(journals),
            },
            workers: WorkerRoutes {
                pool: Arc::new(Pool::new(engine.clone(), options)),
                body_timeout: options.body_timeout,
                body_bytes_max: options.worker_body_bytes_max,
            },
            workflows: WorkflowRoutes {
                engine: engine.clone(),
                wait_permits,
                wait_max: options.wait_max,
                body_limits,
                read_turns,
                shape_size: ShapeSize::default(),
                import_limits: BodyLimits::of_imports(options),
            },
        }
    }
}
