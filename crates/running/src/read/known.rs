//! Tables of SONiC that are read, and keys of its YANG models for them. Any key that is neither read nor listed here is
//! reported as a possible typing error.

/// A table that is read; the report lists the others.
pub(super) struct KnownTable {
    pub name: &'static str,
    /// Whether its rows are equal at most switches of a role, and compared between them.
    pub is_compared: bool,
    /// Keys without effect on flow control.
    pub other_keys: &'static [&'static str],
}

const fn known(name: &'static str, other_keys: &'static [&'static str]) -> KnownTable {
    KnownTable { name, is_compared: false, other_keys }
}

const fn compared_table(name: &'static str, other_keys: &'static [&'static str]) -> KnownTable {
    KnownTable { name, is_compared: true, other_keys }
}

/// Keys of `PORT` without effect on flow control.
#[rustfmt::skip]
const PORT_KEYS: [&str; 38] = [
    "alias", "lanes", "index", "fec", "description", "autoneg", "adv_speeds", "interface_type",
    "adv_interface_types", "link_training", "tpid", "mode", "asic_port_name", "core_id", "core_port_id", "num_voq",
    "role", "mux_cable", "macsec", "dhcp_rate_limit", "subport", "laser_freq", "tx_power", "dom_polling",
    "el_capable", "media_type", "fast_linkup", "unreliable_los", "hwsku", "pt_mode", "pt_interface_id",
    "pt_timestamp_template", "coreId", "corePortId", "numVoq", "admin_role", "dhcp_servers", "dhcpv6_servers",
];

/// Keys of `MUX_CABLE` without effect on flow control.
#[rustfmt::skip]
const MUX_KEYS: [&str; 10] = [
    "server_ipv4", "server_ipv6", "soc_ipv4", "soc_ipv6", "cable_type", "prober_type", "grpc_client_name",
    "neighbor_mode", "self_interval", "peer_interval",
];

/// Keys of `TUNNEL` without effect on flow control.
#[rustfmt::skip]
const TUNNEL_KEYS: [&str; 7] = [
    "tunnel_type", "src_ip", "dst_ip", "encap_ecn_mode", "ecn_mode", "ttl_mode", "encap_tc_color_to_dscp_map",
];

/// The tables that are read. The topology reader resolves port channels by `PORTCHANNEL` and `PORTCHANNEL_MEMBER`.
/// `TUNNEL`, `MUX_CABLE` and `PEER_SWITCH` are those of switches in a dual-ToR pair.
pub(super) const TABLES: [KnownTable; 30] = [
    known("ASIC_TABLE", &[]),
    known("DEFAULT_LOSSLESS_BUFFER_PARAMETER", &[]),
    known("DEVICE_METADATA", &[]),
    known("DEVICE_NEIGHBOR", &[]),
    known("DEVICE_NEIGHBOR_METADATA", &[]),
    known("PERIPHERAL_TABLE", &[]),
    known("PORT", &PORT_KEYS),
    known("PORT_PERIPHERAL_TABLE", &[]),
    known("PORTCHANNEL", &[]),
    known("PORTCHANNEL_MEMBER", &[]),
    known("CABLE_LENGTH", &[]),
    known("BUFFER_PG", &[]),
    known("TUNNEL", &TUNNEL_KEYS),
    known("MUX_CABLE", &MUX_KEYS),
    known("PEER_SWITCH", &["address_ipv4"]),
    compared_table("LOSSLESS_TRAFFIC_PATTERN", &[]),
    compared_table("DSCP_TO_TC_MAP", &[]),
    compared_table("TC_TO_QUEUE_MAP", &[]),
    compared_table("TC_TO_PRIORITY_GROUP_MAP", &[]),
    compared_table("TC_TO_DSCP_MAP", &[]),
    compared_table("MAP_PFC_PRIORITY_TO_QUEUE", &[]),
    compared_table("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", &[]),
    compared_table("PORT_QOS_MAP", &["dscp_to_fc_map", "scheduler"]),
    compared_table("PFC_WD", &["pfc_stat_history", "BIG_RED_SWITCH"]),
    compared_table("BUFFER_POOL", &["percentage"]),
    compared_table("BUFFER_PROFILE", &["headroom_type", "static_threshold"]),
    compared_table("BUFFER_QUEUE", &[]),
    compared_table("SCHEDULER", &["cir", "cbs", "pbs", "priority"]),
    compared_table("QUEUE", &[]),
    compared_table("WRED_PROFILE", &[]),
];

/// Returns the names of the tables that are compared between switches.
pub(super) fn compared() -> impl Iterator<Item = &'static str> {
    TABLES.iter().filter(|table| table.is_compared).map(|table| table.name)
}

/// Returns the keys of a table without effect on flow control.
pub(super) fn other_keys(table: &str) -> &'static [&'static str] {
    TABLES.iter().find(|known| known.name == table).map_or(&[], |known| known.other_keys)
}

/// Fields by which a port classifies frames without DSCP. They are rejected, because the check classifies frames only
/// by DSCP.
pub(super) const OTHER_CLASSIFIERS: [&str; 4] =
    ["dot1p_to_tc_map", "exp_to_fc_map", "mpls_tc_to_tc_map", "tc_to_dot1p_map"];
