//! Which addresses are of the public internet. What a stranger names is fetched from nowhere else, unless the configuration
//! names the host too: the gateway reaches places that strangers do not.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks that are not of the public internet (IANA special-purpose registry), and old multicast relays.
const PRIVATE_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Networks within 2000::/3 that are not, or that hold an IPv4 address: Teredo and protocol assignments, documentation,
/// 6to4, documentation.
const PRIVATE_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Networks that organisations number their own hosts in, and this computer. Link-local ones are not among them: clouds
/// answer there with credentials.
const INSIDE_V4: [(Ipv4Addr, u32); 5] = [
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
];

/// Whether an address is of a private network or of this computer.
pub(super) fn is_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => INSIDE_V4.iter().any(|network| within_v4(address, *network)),
        IpAddr::V6(address) => address.is_unique_local() || address.is_loopback(),
    }
}

fn within_v4(address: Ipv4Addr, (network, length): (Ipv4Addr, u32)) -> bool {
    (u32::from(address) ^ u32::from(network)) >> (32 - length) == 0
}

/// Whether an address is of the public internet. Every form that wraps an IPv4 address in an IPv6 one is refused, whatever
/// it wraps.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !PRIVATE_V4.iter().any(|network| within_v4(address, *network)),
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            // Global unicast is 2000::/3; mapped, compatible, NAT64, unique-local, link-local and multicast are outside.
            bits >> 125 == 1
                && !PRIVATE_V6
                    .iter()
                    .any(|(network, length)| (bits ^ u128::from(*network)) >> (128 - length) == 0)
        }
    }
}
