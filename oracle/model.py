"""Builds the network of a scenario and runs it."""

from .egress import Port
from .host import Host
from .network import Network, Wire, equal_cost_ports
from .scenario import Scenario
from .values import Refused
from .switch import Switch, reaction_ps


def run(path):
    """The network after the run: its trace, its counts, and flows with what became of them."""
    scenario = Scenario(path)
    network = Network(scenario)
    hosts = len(scenario.hosts)
    for number, name in enumerate(scenario.hosts + scenario.switches):
        network.nodes.append((Host if number < hosts else Switch)(network, number, name))
    for link in scenario.links:
        a, b = link.ends
        ports = [len(network.nodes[a].ports), len(network.nodes[b].ports)]
        for here, there, port, peer_port in ((a, b, *ports), (b, a, *ports[::-1])):
            node = network.nodes[here]
            node.ports.append(Port(node, port, Wire(network, link, there, peer_port), there))
    for node in network.nodes[:hosts]:
        if len(node.ports) != 1:
            raise Refused("fabric: only hosts with one link are covered")
    network.routes = equal_cost_ports(scenario, [node.ports for node in network.nodes])
    for flow in scenario.flows:
        flow.update(delivered_ps=None, acked_ps=None, retransmitted_bytes=0, timeouts=0)
        if not network.routes[flow.src][flow.dst]:
            raise Refused(f"traffic.{flow.traffic}: no route")
        network.nodes[flow.src].plan.append(flow)
    switch = scenario.switch
    lossless = [cls for cls in switch.priorities if cls in scenario.used_classes]
    for node in network.nodes:
        for port in node.ports:
            if switch.flow_control in ("pause", "pfc"):
                port.reaction_ps = reaction_ps(switch.reaction, port.wire.rate_bps)
            elif switch.flow_control == "cbfc":
                port.prepare_credits(switch, lossless, scenario.mtu_bytes)
        node.prepare()
        node.plan_failures()
        if switch.flow_control == "cbfc":
            plan_regrants(node, switch.regrant)
    network.run()
    return network


def plan_regrants(node, period_ps):
    """[CBFC9]; at a switch after links that change. [M26]"""
    def regrant(now):
        node.timer(now + period_ps, regrant, (1,))
        for port in node.ports:
            port.owe(now, port.credits)
    node.timer(period_ps, regrant, (1,))
