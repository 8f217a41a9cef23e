//! The proxies in front of the gateway, and where a request comes from that came by them.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};

use aldgate_identity::people::Source;
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

use crate::config::AssembleFault;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whose `X-Forwarded-For` is believed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Reads addresses, such as `192.0.2.1`, and networks, such as `10.0.0.0/8`.
    pub(crate) fn of(listed: &[String]) -> Result<Self, AssembleFault> {
        let read = |text: &String| {
            let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
            match network {
                Ok(network) if network.prefix_len() > 0 => Ok(network),
                _ => Err(AssembleFault::Value {
                    what: format!(
                        "`gateway.trusted_proxies` has `{}`; expected an address such as `192.0.2.1`, or a network such as \
                         `10.0.0.0/8` that is not everybody",
                        text.escape_debug()
                    ),
                }),
            }
        };
        listed.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Where a request comes from that `peer` sent. Each proxy writes at the end whom it was sent by: that is believed as long as
    /// a trusted one wrote it. What cannot be read comes from whoever sent it.
    pub(super) fn source(&self, peer: IpAddr, headers: &HeaderMap) -> Source {
        let mut source = peer.to_canonical();
        // Read from the end, and no further than is trusted: clients may send such a header too.
        for value in headers.get_all(FORWARDED_FOR).iter().rev() {
            for named in value.as_bytes().rsplit(|byte| *byte == b',') {
                if !self.are_trusted(source) {
                    return Source(source);
                }
                let Some(address) = std::str::from_utf8(named).ok().and_then(address) else {
                    return Source(source);
                };
                source = address.to_canonical();
            }
        }
        Source(source)
    }

    fn are_trusted(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// An address as proxies write it, some with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}
