//! The gateways of default routes, in the tables that the kernel prints: `/proc/net/route` and
//! `/proc/net/ipv6_route` (route flags of `linux/route.h`).

use std::net::{Ipv4Addr, Ipv6Addr};

/// The route is in use.
const UP: u32 = 0x1;
/// It leads to a gateway, and not to neighbours.
const GATEWAY: u32 = 0x2;
/// It refuses what it is asked to carry.
const REJECT: u32 = 0x200;

/// Whether a route with these flags, written in hexadecimal, leads through a gateway.
fn leads_on(flags: &str) -> bool {
    let flags = u32::from_str_radix(flags, 16).unwrap_or(0);
    flags & (UP | GATEWAY | REJECT) == UP | GATEWAY
}

/// `Iface Destination Gateway Flags RefCnt Use Metric Mask ..`, under a head that no line is like.
pub(super) fn gateways_v4(table: &str) -> impl Iterator<Item = Ipv4Addr> {
    table.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, destination, gateway, flags, _, _, _, mask, ..] = words.as_slice() else {
            return None;
        };
        let is_default = *destination == "00000000" && *mask == "00000000";
        // The number in memory is in the network's order, and printed as this machine reads it.
        let gateway = u32::from_str_radix(gateway, 16).ok()?.to_ne_bytes();
        (is_default && leads_on(flags)).then(|| Ipv4Addr::from(gateway))
    })
}

/// `destination length source length gateway metric refcnt use flags interface`, without a head.
pub(super) fn gateways_v6(table: &str) -> impl Iterator<Item = Ipv6Addr> {
    table.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [destination, length, _, _, gateway, _, _, _, flags, ..] = words.as_slice() else {
            return None;
        };
        let is_default = *length == "00" && destination.bytes().all(|digit| digit == b'0');
        let gateway = u128::from_str_radix(gateway, 16).ok()?;
        (is_default && leads_on(flags)).then(|| Ipv6Addr::from(gateway))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_default_routes_through_a_gateway_count() {
        let head =
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
        let hex = |ip: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(ip));
        let line = |to: [u8; 4], by: [u8; 4], flags: &str, mask: [u8; 4]| {
            let [to, by, mask] = [to, by, mask].map(hex);
            format!("eth0\t{to}\t{by}\t{flags}\t0\t0\t0\t{mask}\t0\t0\t0   \n")
        };
        let table = [
            head.to_owned(),
            line([0; 4], [172, 18, 0, 1], "0003", [0; 4]),
            line([172, 18, 0, 0], [0; 4], "0001", [255, 255, 0, 0]),
            line([10, 0, 0, 0], [172, 18, 0, 9], "0003", [255, 0, 0, 0]),
            line([0; 4], [172, 18, 0, 8], "0002", [0; 4]), // down
            line([0; 4], [10, 9, 8, 7], "0003", [0; 4]),   // a second one
            "eth0 torn".to_owned(),
        ];
        let found: Vec<_> = gateways_v4(&table.concat()).collect();
        assert_eq!(found, [Ipv4Addr::new(172, 18, 0, 1), Ipv4Addr::new(10, 9, 8, 7)]);
        assert_eq!(gateways_v4("").count(), 0);
    }

    #[test]
    fn so_for_ipv6() {
        let zero = "0".repeat(32);
        let (ula, link) = ("fd000000000000000000000000000001", "fe800000000000000000000000000001");
        let table = format!(
            "fd000000000000000000000000000000 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001     eth0\n\
             {zero} 00 {zero} 00 {ula} 00000400 00000001 00000000 00000003     eth0\n\
             {zero} 00 {zero} 00 {link} 00000400 00000001 00000000 00450003     eth0\n\
             {zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200       lo\n"
        );
        let found: Vec<_> = gateways_v6(&table).map(|it| it.to_string()).collect();
        assert_eq!(found, ["fd00::1", "fe80::1"]);
    }
}
