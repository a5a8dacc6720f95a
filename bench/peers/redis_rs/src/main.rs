//! redis-rs on Tokio's single-threaded runtime: redis_rs_peer WAY and then as bench/redis/workload.hpp says.
//!
//!   multiplexed  its multiplexed connection, a task for each caller, no limit on calls
//!   limited      the same with its limit on each response, which is half a second unless one says otherwise
//!   pipeline     one task: as many commands as there are callers go out as one pipeline
//!   apart        mode small: the large values have a connection of their own
mod calls;
mod large;
mod pushes;
mod streams;
mod workload;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};
use std::time::Duration;
use workload::Settings;

/// On the runtime that this is called in.
async fn connect(s: &Settings, config: AsyncConnectionConfig) -> MultiplexedConnection {
    let client = Client::open(format!("redis://{}/?protocol=resp3", s.address)).unwrap();
    client.get_multiplexed_async_connection_with_config(&config).await.unwrap()
}

fn config(way: &str) -> AsyncConnectionConfig {
    let limit = if way == "limited" { Some(Duration::from_secs(10)) } else { None };
    AsyncConnectionConfig::new().set_response_timeout(limit)
}

fn main() {
    let s = Settings::given();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match (s.way.as_str(), s.mode.as_str()) {
            ("pipeline", "calls") => calls::pipeline(&s, connect(&s, config("")).await).await,
            (way, "calls") => calls::multiplexed(&s, connect(&s, config(way)).await).await,
            ("multiplexed", "publish") => pushes::publish(&s).await,
            ("multiplexed", "pushes") if s.callers == 1 => pushes::run_scripts(&s).await,
            ("multiplexed", "pushes") => pushes::run_scripts_for_many(&s).await,
            ("multiplexed", "small") => large::small(&s, false).await,
            ("apart", "small") => large::small(&s, true).await,
            ("multiplexed", "add") => streams::add(&s, connect(&s, config("")).await).await,
            ("multiplexed", "consume") => streams::consume(&s, connect(&s, config("")).await).await,
            _ => std::process::exit(workload::SKIPPED),
        }
    });
}
