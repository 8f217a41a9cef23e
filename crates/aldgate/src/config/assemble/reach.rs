//! Under which URLs the gateway is known.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use aldgate_gateway::settings::{Reach, origin_of};
use aldgate_identity::{Doors, Scopes};

use super::AssembleFault;
use crate::config::Config;

/// The URLs of the gateway's doors: as configured, else where the listeners are.
pub(crate) fn reach(config: &Config) -> Result<Reach, AssembleFault> {
    let of = |what, configured: Option<&String>, listen| match configured {
        Some(url) => origin(what, url),
        None => Ok(at(listen)),
    };
    let public = of("gateway.public_url", config.gateway.public_url.as_ref(), config.gateway.listen)?;
    let admin = of("admin.public_url", config.admin.public_url.as_ref(), config.admin.listen)?;
    let scopes = config.identity.challenge_scopes.iter().map(String::as_str);
    let challenged = Scopes::of(scopes).map_err(|fault| AssembleFault::Value {
        what: format!("`identity.challenge_scopes` cannot be used: {fault}"),
    })?;
    Ok(Reach { doors: Doors::at(&public, &admin), challenged, proofs: config.identity.dpop })
}

/// The base URL of the MCP endpoint; the issuer of tokens where the gateway gives them out itself.
pub(crate) fn base(reach: &Reach) -> &str {
    let mcp = reach.doors.mcp.as_str();
    mcp.strip_suffix("/mcp").unwrap_or(mcp)
}

/// A listener's own URL. Who listens everywhere is reached by loopback at least.
fn at(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

/// An origin that tokens may be sent to: `https`, or `http` on this machine (OAuth 2.1 §1.5).
fn origin(what: &'static str, url: &str) -> Result<String, AssembleFault> {
    let bare = url.strip_suffix('/').unwrap_or(url);
    let good = origin_of(bare).filter(|origin| origin == bare);
    let safe = |origin: &str| {
        let host = origin.strip_prefix("http://").map(|rest| match rest.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => rest.split(':').next().unwrap_or_default(),
        });
        host.is_none_or(|host| {
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        })
    };
    good.filter(|origin| safe(origin)).ok_or_else(|| {
        let found: String = url.chars().filter(|letter| !letter.is_control()).take(200).collect();
        let what = format!(
            "`{what}` is `{found}`; expected an origin without a path, such as `https://gateway.example.com`, in lower \
             case and without the port of its scheme; `http` only on this machine"
        );
        AssembleFault::Value { what }
    })
}
