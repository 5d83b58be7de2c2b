//! Topology file formats by name.

/// Topology file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `topology.txt` of the HPCC and conweave ns-3 forks.
    Hpcc,
    /// NetworkX node-link JSON.
    NodeLink,
    /// GraphML.
    GraphMl,
    /// containerlab topologies.
    Containerlab,
    /// SONiC `config_db.json`.
    ConfigDb,
    /// The link table of sonic-mgmt.
    LinkCsv,
    /// Output of `ibnetdiscover`.
    IbNetDiscover,
    /// `.topo` of htsim.
    HtsimTopo,
    /// LLDP tables of switches.
    Lldp,
    /// Layer 1 topologies of Batfish.
    Batfish,
    /// netlab topologies.
    Netlab,
    /// GNS3 projects.
    Gns3,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 12] = [
        Format::Hpcc,
        Format::NodeLink,
        Format::GraphMl,
        Format::Containerlab,
        Format::ConfigDb,
        Format::LinkCsv,
        Format::IbNetDiscover,
        Format::HtsimTopo,
        Format::Lldp,
        Format::Batfish,
        Format::Netlab,
        Format::Gns3,
    ];

    /// Returns the name that scenarios and the command line use.
    pub fn name(self) -> &'static str {
        match self {
            Format::Hpcc => "hpcc",
            Format::NodeLink => "node-link",
            Format::GraphMl => "graphml",
            Format::Containerlab => "containerlab",
            Format::ConfigDb => "config-db",
            Format::LinkCsv => "link-csv",
            Format::IbNetDiscover => "ibnetdiscover",
            Format::HtsimTopo => "htsim-topo",
            Format::Lldp => "lldp",
            Format::Batfish => "batfish",
            Format::Netlab => "netlab",
            Format::Gns3 => "gns3",
        }
    }

    /// Returns a short description.
    pub fn title(self) -> &'static str {
        match self {
            Format::Hpcc => "topology.txt of HPCC, conweave, ns3-rdma, PowerTCP or SimAI",
            Format::NodeLink => "NetworkX node-link JSON",
            Format::GraphMl => "GraphML, as NetworkX and the Internet Topology Zoo write it",
            Format::Containerlab => "a containerlab topology",
            Format::ConfigDb => "SONiC config_db.json: a list of them, or a folder with one a switch",
            Format::LinkCsv => "the link table of sonic-mgmt",
            Format::IbNetDiscover => "output of ibnetdiscover",
            Format::HtsimTopo => "an htsim .topo, read only",
            Format::Lldp => {
                "a folder of LLDP tables, one a switch: lldpcli -f json or SONiC's show lldp table, read only"
            }
            Format::Batfish => "a layer1_topology.json of Batfish, read only",
            Format::Netlab => "a netlab topology, read only",
            Format::Gns3 => "a GNS3 project, read only",
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the format implied by a file name: `.graphml` GraphML, `.clab.yml` containerlab, `.csv` a link table,
    /// `.json` node-link, `.topo` htsim, and HPCC for any other name.
    pub fn of_name(path: &str) -> Format {
        let name = path.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&[".json"]) => Format::NodeLink,
            () if ends(&[".graphml", ".xml"]) => Format::GraphMl,
            () if ends(&[".yml", ".yaml"]) => Format::Containerlab,
            () if ends(&[".csv"]) => Format::LinkCsv,
            () if ends(&[".topo"]) => Format::HtsimTopo,
            () if ends(&[".gns3"]) => Format::Gns3,
            () if ends(&[".ibnet", ".ibnetdiscover"]) => Format::IbNetDiscover,
            () => Format::Hpcc,
        }
    }
}
