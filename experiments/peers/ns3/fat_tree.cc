// The scenarios udp.toml and tcp.toml for ns-3.37: flows over a fat-tree of point-to-point links, 100 Gbps and 1 us
// each, with drop-tail queues in switches. It measures ns-3's speed; docs/peers.md has the commands.
//
//     fat_tree --kind=udp|tcp --pairs=permutation-k8.cm [--k=8] [--queue=100p] [--count=1] [--scheduler=TYPE]
//
// Paths are by a hash of source and destination. The tables of ns-3's own routing are searched from their beginning for
// each packet; the class below finds a port by arithmetic, so that ns-3 is not measured by its slowest part.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
// Host h has the address 10.0.0.0 + h + 1.
const uint32_t FIRST_ADDRESS = 0x0a000001;

Ipv4Address
AddressOf(uint32_t host)
{
    return Ipv4Address(FIRST_ADDRESS + host);
}

// Where a node stands in the fat-tree. Ports of a switch go down first, to what is below it in order, then up.
struct Place
{
    enum Level { HOST, EDGE, AGGREGATION, CORE } level;
    uint32_t k, pod, index;

    // The port to the destination; the hash chooses among those that go up.
    uint32_t PortTo(uint32_t destination, uint32_t hash) const
    {
        uint32_t half = k / 2, to_pod = destination / (half * half), to_edge = destination / half % half;
        switch (level)
        {
        case HOST:
            return 0;
        case EDGE:
            return to_pod == pod && to_edge == index ? destination % half : half + hash % half;
        case AGGREGATION:
            return to_pod == pod ? to_edge : half + hash / half % half;
        default:
            return to_pod;
        }
    }
};

class FatTreeRouting : public Ipv4RoutingProtocol
{
  public:
    Place place;

    void AddPort(Ptr<NetDevice> device)
    {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetOutputDevice(device);
        route->SetGateway(Ipv4Address::GetAny());
        if (place.level == Place::HOST)
        {
            route->SetSource(AddressOf(place.index));
        }
        m_routes.push_back(route);
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOTERROR;
        return m_routes[0];
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice>,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        uint32_t source = header.GetSource().Get(), destination = header.GetDestination().Get();
        if (place.level == Place::HOST)
        {
            deliver(packet, header, 1);
            return true;
        }
        uint64_t mixed = (uint64_t(source) << 32 | destination) * 0x9e3779b97f4a7c15;
        forward(m_routes[place.PortTo(destination - FIRST_ADDRESS, (mixed >> 40) & 0xffff)], packet, header);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4>) override {}
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    std::vector<Ptr<Ipv4Route>> m_routes;
};

uint64_t hops = 0, delivered = 0;

void
Connect(PointToPointHelper& link, Ptr<Node> below, Ptr<Node> above, bool host, bool count)
{
    NetDeviceContainer devices = link.Install(below, above);
    if (host)
    {
        // A host has room for all that it sends.
        Ptr<DropTailQueue<Packet>> room = CreateObject<DropTailQueue<Packet>>();
        room->SetMaxSize(QueueSize("1000000p"));
        DynamicCast<PointToPointNetDevice>(devices.Get(0))->SetQueue(room);
    }
    for (uint32_t end = 0; end < 2; end++)
    {
        Ptr<Node> node = devices.Get(end)->GetNode();
        Ptr<Ipv4L3Protocol> ip = node->GetObject<Ipv4L3Protocol>();
        uint32_t interface = ip->AddInterface(devices.Get(end));
        Ptr<FatTreeRouting> routing = DynamicCast<FatTreeRouting>(ip->GetRoutingProtocol());
        // Addresses of switches are never used, but an interface needs one to be up.
        uint32_t own = end == 0 && host ? FIRST_ADDRESS + routing->place.index : 0x0b000001 + node->GetId();
        ip->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(own), Ipv4Mask("255.0.0.0")));
        ip->SetUp(interface);
        routing->AddPort(devices.Get(end));
        if (count)
        {
            devices.Get(end)->TraceConnectWithoutContext(
                "PhyRxEnd",
                Callback<void, Ptr<const Packet>>([](Ptr<const Packet>) { hops++; }));
        }
    }
}

// A frame of 1020 B on the wire every 204 ns: 40 % of the link. 30 B of them are the headers of PPP, IP and UDP.
void
SendAtConstantRate(Ptr<Socket> socket)
{
    socket->Send(Create<Packet>(990));
    Simulator::Schedule(NanoSeconds(204), &SendAtConstantRate, socket);
}

void
Receive(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
        delivered++;
    }
}
} // namespace

int
main(int argc, char* argv[])
{
    std::string kind = "udp", pairs, queue = "100p", scheduler = "ns3::MapScheduler";
    uint32_t k = 8;
    bool count = false;
    CommandLine arguments;
    arguments.AddValue("kind", "udp or tcp", kind);
    arguments.AddValue("pairs", "a connection matrix of htsim: lines SOURCE->DESTINATION ... size BYTES", pairs);
    arguments.AddValue("k", "ports of a switch", k);
    arguments.AddValue("queue", "room of a switch's port: packets and a p", queue);
    arguments.AddValue("count", "count frames that crossed a link; takes time", count);
    arguments.AddValue("scheduler", "type of the event queue", scheduler);
    arguments.Parse(argc, argv);

    Simulator::SetScheduler(ObjectFactory(scheduler));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(1)));

    uint32_t half = k / 2;
    NodeContainer hosts(k * half * half), edges(k * half), aggregations(k * half), cores(half * half);
    auto install = [k](NodeContainer& nodes, Place::Level level, uint32_t in_a_pod) {
        InternetStackHelper internet;
        internet.SetIpv6StackInstall(false);
        internet.Install(nodes);
        for (uint32_t i = 0; i < nodes.GetN(); i++)
        {
            Ptr<FatTreeRouting> routing = CreateObject<FatTreeRouting>();
            // A host's index is its number among all, a switch's that in its pod.
            routing->place = {level, k, i / in_a_pod, level == Place::HOST ? i : i % in_a_pod};
            nodes.Get(i)->GetObject<Ipv4>()->SetRoutingProtocol(routing);
        }
    };
    install(hosts, Place::HOST, half * half);
    install(edges, Place::EDGE, half);
    install(aggregations, Place::AGGREGATION, half);
    install(cores, Place::CORE, half * half);

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    link.SetChannelAttribute("Delay", StringValue("1us"));
    for (uint32_t i = 0; i < hosts.GetN(); i++)
    {
        Connect(link, hosts.Get(i), edges.Get(i / half), true, count);
    }
    // Down before up, pods and switches in order: what Place::PortTo counts on.
    for (uint32_t edge = 0; edge < edges.GetN(); edge++)
    {
        for (uint32_t j = 0; j < half; j++)
        {
            Connect(link, edges.Get(edge), aggregations.Get(edge / half * half + j), false, count);
        }
    }
    for (uint32_t aggregation = 0; aggregation < aggregations.GetN(); aggregation++)
    {
        for (uint32_t j = 0; j < half; j++)
        {
            Connect(link, aggregations.Get(aggregation), cores.Get(aggregation % half * half + j), false, count);
        }
    }

    std::ifstream matrix(pairs);
    std::string line;
    std::vector<Ptr<PacketSink>> sinks;
    uint32_t flows = 0;
    while (std::getline(matrix, line))
    {
        unsigned from, to;
        unsigned long size;
        if (std::sscanf(line.c_str(), "%u->%u id %*u start 0 size %lu", &from, &to, &size) != 3)
        {
            continue;
        }
        flows++;
        if (kind == "udp")
        {
            Ptr<Socket> receiver = Socket::CreateSocket(hosts.Get(to), UdpSocketFactory::GetTypeId());
            receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
            receiver->SetRecvCallback(MakeCallback(&Receive));
            Ptr<Socket> sender = Socket::CreateSocket(hosts.Get(from), UdpSocketFactory::GetTypeId());
            sender->Connect(InetSocketAddress(AddressOf(to), 9));
            Simulator::Schedule(Seconds(0), &SendAtConstantRate, sender);
        }
        else
        {
            PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
            sinks.push_back(DynamicCast<PacketSink>(sink.Install(hosts.Get(to)).Get(0)));
            BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(AddressOf(to), 9));
            bulk.SetAttribute("MaxBytes", UintegerValue(size));
            bulk.SetAttribute("SendSize", UintegerValue(1460));
            bulk.Install(hosts.Get(from));
        }
    }
    if (flows == 0 || (kind != "udp" && kind != "tcp"))
    {
        std::cerr << "no flow of udp or tcp: see --help\n";
        return 2;
    }
    Simulator::Stop(kind == "udp" ? MilliSeconds(1) : Seconds(1));
    Simulator::Run();
    for (const auto& sink : sinks)
    {
        delivered += sink->GetTotalRx();
    }
    std::cout << flows << " flows, delivered " << delivered << (kind == "udp" ? " packets" : " bytes");
    if (count)
    {
        std::cout << ", packet-hops " << hops;
    }
    std::cout << std::endl;
    Simulator::Destroy();
    return 0;
}
