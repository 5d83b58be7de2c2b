//! Keys of a fluid model's file.

use super::*;

const NUMBER: ValueSyntax = ValueSyntax("a number", "2");
const RATE: ValueSyntax = ValueSyntax("a rate", "\"40Mbps\"");
const DCQCN: &[&str] = &["dcqcn"];
const TIMELY: &[&str] = &["timely", "patched-timely"];
const HETFLOW: &[&str] = &["hetflow"];
const ECCP: &[&str] = &["eccp"];

const SIGCOMM: &str = "DCQCN, parameters of its testbed";
const CONEXT: &str = "ECN or Delay, section 4, and TIMELY, section 4.4";
const TABLE_2_1: &str = "thesis, table 2.1";
const TABLE_3_2: &str = "thesis, table 3.2";

pub(super) const KEYS: &[Key] = &[
    key("fluid", "name", &[], TEXT).absent("the file's name", OURS).means("name in results"),
    key("fluid", "description", &[], TEXT).absent("none", OURS).means("purpose, in one sentence"),
    key("fluid", "duration", &[], TIME).means("end of the solution, from time 0"),
    key("fluid", "warm_up", &[], TIME).absent("half of the duration", OURS).means("means are taken from here on"),
    key("fluid", "sample", &[], TIME)
        .absent("a thousandth of the duration", OURS)
        .means("interval of the rows of the series, above 0; at most a million rows"),
    key("fluid", "tolerance", &[], ValueSyntax("a number", "1e-6"))
        .value("1e-6", OURS)
        .means("error of a step, relative to a variable's value or its usual value, 1e-12 to 0.01"),
    key("fluid", "model", &[], ValueSyntax("a table with `kind`", "{ kind = \"dcqcn\" }"))
        .means("the control and its parameters"),
    key("fluid", "bottleneck", &[], ValueSyntax("a table", "{}")).means("the link shared by all flows"),
    key("fluid", "flow", &[], ValueSyntax("tables", "[]")).means("flows, one entry per group of equal flows"),
    key("fluid.bottleneck", "rate", &[], RATE).means("the rate C of the link"),
    key("fluid.bottleneck", "buffer", &[], SIZE)
        .value("16MB", OURS)
        .means("limit of its queue, at which the length stays constant without loss"),
    key("fluid.flow", "count", &[], COUNT).value("1", OURS).means("number of flows, 1 to 100000"),
    key("fluid.flow", "start", &[], TIME).value("0s", OURS).means("start time"),
    key("fluid.flow", "rtt", &[], TIME)
        .means("delay of the control loop without queues; tau of the thesis, tau* of DCQCN"),
    key("fluid.flow", "rate", &[], RATE)
        .absent(
            "dcqcn, eccp: the bottleneck's; timely: an equal share of it; hetflow: 80 % of an equal share",
            "DCQCN, \
         section 3.1; thesis, sections 2.7.3 and 3.5.2; TIMELY, section 4.4",
        )
        .means("initial rate of each flow, up to the bottleneck's"),
    key("fluid.model", "kind", &[], ValueSyntax("dcqcn, timely, patched-timely, hetflow or eccp", "\"dcqcn\""))
        .means("the congestion control"),
    key("fluid.model", "gain", DCQCN, SHARE)
        .value("0.00390625", SIGCOMM)
        .means("weight g of a new sample in alpha, above 0 to 1"),
    key("fluid.model", "cnp_interval", DCQCN, TIME)
        .value("50us", SIGCOMM)
        .means("tau: least time between notifications of a flow"),
    key("fluid.model", "alpha_timer", DCQCN, TIME).value("55us", SIGCOMM).means("tau': interval of alpha's update"),
    key("fluid.model", "increase_timer", DCQCN, TIME).value("55us", SIGCOMM).means("T: length of a stage of the timer"),
    key("fluid.model", "byte_counter", DCQCN, SIZE)
        .value("10MB", SIGCOMM)
        .means("B: bytes sent in a stage of the byte counter"),
    key("fluid.model", "recovery_stages", DCQCN, COUNT).value("5", SIGCOMM).means("F: stages of fast recovery"),
    key("fluid.model", "additive_increase", DCQCN, RATE)
        .value("40Mbps", SIGCOMM)
        .means("R_AI: step of the target after fast recovery"),
    key("fluid.model", "packet", DCQCN, SIZE)
        .value("1082B", "1000 B of payload, 62 B of header, 20 B of preamble and gap, as in the simulator's DCQCN")
        .means("a packet on the wire; each is marked or not"),
    key("fluid.model", "k_min", DCQCN, SIZE).means("no packet is marked up to this queue"),
    key("fluid.model", "k_max", DCQCN, SIZE).means("every packet is marked above this queue; more than k_min"),
    key("fluid.model", "p_max", DCQCN, SHARE)
        .value("0.01", "DCQCN, section 5.2")
        .means("probability of a mark at k_max, above 0 to 1"),
    key("fluid.model", "mark_at", DCQCN, ValueSyntax("dequeue or enqueue", "\"dequeue\""))
        .value("dequeue", "ECN or Delay, section 3: the delay of marks is constant")
        .means("instant of the marking decision: dequeue, or enqueue, so that marks are older by the queueing delay"),
    key("fluid.model", "averaging", DCQCN, ValueSyntax("paper or cycles", "\"cycles\""))
        .value("paper", "DCQCN, section 5; ECN or Delay, section 3")
        .means(
            "averaging of cuts and stages: paper, independent of their order; cycles, each cut followed by its stages, \
             which is closer to packets",
        ),
    key("fluid.model", "min_rate", DCQCN, RATE)
        .value("100Mbps", "HPCC's ns-3 fork: MinRate; the simulator's default")
        .means("lower bound of rates, above 0"),
    key("fluid.model", "ewma", TIMELY, SHARE)
        .value("0.875", CONEXT)
        .means("alpha: weight of a new difference in the gradient, above 0 to 1"),
    key("fluid.model", "beta", &["timely"], NUMBER).value("0.8", CONEXT).means("beta: the cut, above 0, below 1"),
    key("fluid.model", "beta", &["patched-timely"], NUMBER)
        .value("0.008", "ECN or Delay, section 4.3")
        .means("beta: the cut, above 0, below 1"),
    key("fluid.model", "additive_increase", TIMELY, RATE).value("10Mbps", CONEXT).means("delta: the step"),
    key("fluid.model", "t_low", TIMELY, TIME).value("50us", CONEXT).means("T_low: below this round trip rates rise"),
    key("fluid.model", "t_high", TIMELY, TIME)
        .value("500us", CONEXT)
        .means("T_high: above this round trip rates fall; more than t_low"),
    key("fluid.model", "min_rtt", TIMELY, TIME).value("20us", CONEXT).means("D_minRTT: unit of gradients"),
    key("fluid.model", "segment", TIMELY, SIZE).value("16KB", CONEXT).means("Seg: bytes sent between two measurements"),
    key("fluid.model", "packet", TIMELY, SIZE).value("1000B", CONEXT).means("MTU: a packet on the wire"),
    key("fluid.model", "min_rate", TIMELY, RATE).value("10Mbps", OURS).means("lower bound of rates, above 0"),
    key("fluid.model", "gain", HETFLOW, NUMBER)
        .value("0.0078125", "thesis, section 3.4.1: the largest cut, by a feedback of 64, is one half")
        .means("Gd; the largest cut is 64 times this value and below 1"),
    key("fluid.model", "scaling", HETFLOW, NUMBER).value("1500", TABLE_3_2).means("Kc: feedback by slope of the delay"),
    key("fluid.model", "timer", HETFLOW, TIME).value("3ms", TABLE_3_2).means("T: longest time between two samples"),
    key("fluid.model", "byte_counter", HETFLOW, SIZE)
        .value("100KB", TABLE_3_2)
        .means("BC_r: bytes received between two samples"),
    key("fluid.model", "recovery", HETFLOW, TIME).value("10ms", TABLE_3_2).means("sigma: time of recovery"),
    key("fluid.model", "quantum", HETFLOW, NUMBER)
        .value("1", "choice of this project: feedback is a whole number, as in QCN")
        .means("least feedback that is sent, 0 to 64; 0 is the thesis as printed, in which rates freeze"),
    key("fluid.model", "slope_age", HETFLOW, SHARE).value("1", "thesis, equation 3.7").means(
        "age of a slope of the delay when applied, in sampling intervals, 0 to 1; 0.5: the age of a mean over the \
         interval",
    ),
    key("fluid.model", "min_rate", HETFLOW, RATE).value("10Mbps", OURS).means("lower bound of rates, above 0"),
    key("fluid.model", "gain", ECCP, NUMBER).value("0.78125", TABLE_2_1).means("G_d, above 0"),
    key("fluid.model", "largest_cut", ECCP, NUMBER)
        .value("0.5", "thesis, section 2.4.1.4")
        .means("the largest cut, which bounds the feedback, above 0, below 1"),
    key("fluid.model", "weight", ECCP, NUMBER)
        .value("2", "thesis, equation 2.6")
        .means("w: weight of the change in the feedback"),
    key("fluid.model", "available", ECCP, NUMBER).value("0.1", TABLE_2_1).means(
        "AvT: available bandwidth to be left on the path, as a share of the rate R of a flow (2.10), above 0, below 1",
    ),
    key("fluid.model", "equilibrium", ECCP, SHARE)
        .value("0.5", TABLE_2_1)
        .means("A_eq: available-bandwidth ratio A_r = AvBw / (AvT R) (2.10) at equilibrium, 0 to 1"),
    key("fluid.model", "cycle", ECCP, TIME).value("1ms", TABLE_2_1).means("T: time between trains of probes"),
    key("fluid.model", "byte_counter", ECCP, SIZE)
        .value("750KB", TABLE_2_1)
        .means("BC: bytes sent in a stage of the byte counter"),
    key("fluid.model", "additive_increase", ECCP, RATE)
        .value("5Mbps", TABLE_2_1)
        .means("R_AI: step of the target after five stages"),
    key("fluid.model", "feedback", ECCP, ValueSyntax("difference or slope", "\"difference\""))
        .value("difference", "thesis, equation 2.6: computed by a sender")
        .means(
            "the change in the feedback: the difference of two cycles (2.6), or the slope a cycle ago (2.11), \
         which makes the equation neutral",
        ),
    key("fluid.model", "min_rate", ECCP, RATE).value("50Mbps", TABLE_2_1).means("lower bound of rates, above 0"),
];
