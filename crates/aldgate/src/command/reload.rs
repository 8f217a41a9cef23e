//! `aldgate reload`, and the file that a running gateway reads again.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use aldgate_field_service::FieldService;
use aldgate_gateway::{ConfigurationSource, Configured, Reloader};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::admin::Admin;
use crate::cli::AdminTarget;
use crate::config::{configured, load};
use crate::identity::Identity;
use crate::out;

pub(super) async fn run(target: &AdminTarget) -> miette::Result<ExitCode> {
    let found = Admin::of(target).await?.post("/v1/reload", &json!({})).await?;
    if target.json {
        out::json(&found)?;
    } else {
        let count = |key: &str| found.get(key).and_then(Value::as_u64).unwrap_or_default();
        out::line(format!("read again: {} tools of {} upstreams", count("tools"), count("upstreams")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The file that a gateway was started with.
pub(super) struct ConfigurationFile {
    pub(super) path: PathBuf,
    pub(super) systems: Option<FieldService>,
    pub(super) identity: Arc<Identity>,
}

#[async_trait]
impl ConfigurationSource for ConfigurationFile {
    async fn read(&self) -> Result<Configured, String> {
        let told = |report: miette::Report| {
            let causes: Vec<_> = report.chain().map(ToString::to_string).collect();
            causes.join(": ")
        };
        let loaded = load(&self.path).map_err(|fault| told(fault.into()))?;
        let read = configured(&loaded, self.systems.as_ref(), &self.identity).await;
        read.map_err(|fault| told(fault.into()))
    }
}

/// Has the configuration read again at each hang-up signal, for ever.
pub(super) async fn at_hang_up(reloader: Reloader) {
    let Ok(mut hang_up) = signal(SignalKind::hangup()) else {
        tracing::error!("hang-up signals cannot be listened to; use `aldgate reload`");
        return;
    };
    while hang_up.recv().await.is_some() {
        match reloader.reload().await {
            Ok(()) => note!("the configuration was read again"),
            Err(why) => note!("nothing was changed: {}", out::plain(&why)),
        }
    }
}
