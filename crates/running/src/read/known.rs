//! Keys of SONiC's YANG models for the tables that are read. Any key that is neither read nor listed here is reported
//! as a possible typing error.

/// Keys without effect on flow control, by table.
pub(super) const OTHER_KEYS: [(&str, &[&str]); 12] = [
    (
        "PORT",
        &[
            "alias",
            "lanes",
            "index",
            "fec",
            "description",
            "autoneg",
            "adv_speeds",
            "interface_type",
            "adv_interface_types",
            "link_training",
            "tpid",
            "mode",
            "asic_port_name",
            "core_id",
            "core_port_id",
            "num_voq",
            "role",
            "mux_cable",
            "macsec",
            "dhcp_rate_limit",
            "subport",
            "laser_freq",
            "tx_power",
            "dom_polling",
            "el_capable",
            "media_type",
            "fast_linkup",
            "unreliable_los",
            "hwsku",
            "pt_mode",
            "pt_interface_id",
            "pt_timestamp_template",
            "coreId",
            "corePortId",
            "numVoq",
            "admin_role",
            "dhcp_servers",
            "dhcpv6_servers",
        ],
    ),
    ("PORT_QOS_MAP", &["dscp_to_fc_map", "scheduler"]),
    ("PFC_WD", &["pfc_stat_history", "BIG_RED_SWITCH"]),
    ("BUFFER_POOL", &["percentage"]),
    ("BUFFER_PROFILE", &["headroom_type", "static_threshold"]),
    ("BUFFER_PG", &[]),
    ("BUFFER_QUEUE", &[]),
    ("QUEUE", &[]),
    ("SCHEDULER", &["cir", "cbs", "pbs", "priority"]),
    (
        "TUNNEL",
        &["tunnel_type", "src_ip", "dst_ip", "encap_ecn_mode", "ecn_mode", "ttl_mode", "encap_tc_color_to_dscp_map"],
    ),
    (
        "MUX_CABLE",
        &[
            "server_ipv4",
            "server_ipv6",
            "soc_ipv4",
            "soc_ipv6",
            "cable_type",
            "prober_type",
            "grpc_client_name",
            "neighbor_mode",
            "self_interval",
            "peer_interval",
        ],
    ),
    ("PEER_SWITCH", &["address_ipv4"]),
];

/// Tables that are read; the report lists the others.
pub(super) const TABLES: [&str; 12] = [
    "ASIC_TABLE",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "DEVICE_METADATA",
    "DEVICE_NEIGHBOR",
    "DEVICE_NEIGHBOR_METADATA",
    "PERIPHERAL_TABLE",
    "PORT",
    "PORT_PERIPHERAL_TABLE",
    // The topology reader reads these two tables: it resolves port channels.
    "PORTCHANNEL",
    "PORTCHANNEL_MEMBER",
    "CABLE_LENGTH",
    "BUFFER_PG",
];

/// Further tables that are read, with rows that are equal at most switches of a role.
pub(super) const COMPARED: [&str; 15] = [
    "LOSSLESS_TRAFFIC_PATTERN",
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_DSCP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "PORT_QOS_MAP",
    "PFC_WD",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "SCHEDULER",
    "QUEUE",
    "WRED_PROFILE",
];

/// Tables of switches in a dual-ToR pair.
pub(super) const DUAL_TOR: [&str; 3] = ["TUNNEL", "MUX_CABLE", "PEER_SWITCH"];

/// Fields by which a port classifies frames without DSCP. They are rejected, because the check classifies frames only
/// by DSCP.
pub(super) const OTHER_CLASSIFIERS: [&str; 4] =
    ["dot1p_to_tc_map", "exp_to_fc_map", "mpls_tc_to_tc_map", "tc_to_dot1p_map"];
