//! Parts that `dev` and `serve` share: the store, the options of the server, logging, traces, and
//! shutdown.

/// Copies settings to the fields with the same names. Each group names the method that parses them.
macro_rules! copy_settings {
    ($config:ident to $options:ident, $($parse:ident: $($name:ident),+;)+) => {
        $($($options.$name = $config.$parse(stringify!($name))?;)+)+
    };
}

mod engine_settings;
mod logging;
mod memory;
mod server_options;
mod shutdown_signal;
mod storage;
mod trace_export;

pub(crate) use engine_settings::engine_settings;
pub(crate) use logging::{log_to_stderr, log_warnings, logs_json};
pub(crate) use server_options::{connection_options, server_options};
pub(crate) use shutdown_signal::{SHUTTING_DOWN, ShutdownSignal, shut_down, shutting_down};
pub(crate) use storage::{
    Storage, StorageConfig, StoreNotOpened, data_directory, open_directory, own_files,
};
pub(crate) use trace_export::export_traces;
