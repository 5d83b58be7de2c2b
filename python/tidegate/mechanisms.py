"""Types of the tables of mechanisms in a scenario, for type checkers.

    transport: Dcqcn = {"kind": "dcqcn", "min_rate": "1Gbps"}

Generated from the declarations of their parameters (crates/protocols/tests/pages.rs). All keys are optional for the
checker; the reader of scenarios reports a required key that is missing.
"""

from typing import Literal, TypedDict

#: one buffer for all ports, with thresholds proportional to the free part
SharedBuffer = TypedDict(
    "SharedBuffer",
    {
        "buffer": str,
        "egress_threshold": float | str,
    },
    total=False,
)

#: link flow control: pauses a whole link
Pause = TypedDict(
    "Pause",
    {
        "kind": Literal["pause"],
        "xoff": float | str,
        "xon": str,
        "headroom": str,
        "quanta": int,
        "reaction": str,
        "except": object,
        "tiers": object,
    },
    total=False,
)

#: priority flow control: pauses one class of a link
Pfc = TypedDict(
    "Pfc",
    {
        "kind": Literal["pfc"],
        "priorities": list[int],
        "xoff": float | str,
        "xon": str,
        "headroom": str,
        "quanta": int,
        "reaction": str,
        "except": object,
        "tiers": object,
    },
    total=False,
)

#: credit-based flow control: a port sends only frames that fit the buffer of the other end
Cbfc = TypedDict(
    "Cbfc",
    {
        "kind": Literal["cbfc"],
        "priorities": list[int],
        "credits": str,
        "update": str,
        "regrant": str,
        "except": object,
        "tiers": object,
    },
    total=False,
)

#: PFC watchdog: drops or forwards frames of a queue paused for too long
Watchdog = TypedDict(
    "Watchdog",
    {
        "detection_time": str,
        "restoration_time": str,
        "action": Literal["drop", "forward"],
    },
    total=False,
)

#: backpressure per flow: flows above their fair share are slowed down, hop by hop
Florax = TypedDict(
    "Florax",
    {
        "kind": Literal["florax"],
        "upper": float | str,
        "lower": float | str,
        "max_upper": float | str,
        "raise": float | str,
        "burst_gap": str,
        "expiry": str,
        "grace": str,
        "flows": int,
        "except": object,
        "tiers": object,
    },
    total=False,
)

#: backpressure per destination: traffic to a congested destination is stopped, hop by hop
Destination = TypedDict(
    "Destination",
    {
        "kind": Literal["destination"],
        "upper": float | str,
        "lower": float | str,
        "burst_gap": str,
        "expiry": str,
        "flows": int,
        "except": object,
        "tiers": object,
    },
    total=False,
)

#: 802.3x PAUSE decided at the output: all ports that feed a congested queue are paused
PauseAtOutput = TypedDict(
    "PauseAtOutput",
    {
        "kind": Literal["pause-at-output"],
        "upper": float | str,
        "lower": float | str,
        "burst_gap": str,
        "expiry": str,
        "reaction": str,
        "except": object,
        "tiers": object,
    },
    total=False,
)

#: tags that exclude cycles of pauses under any forwarding
Tagger = TypedDict(
    "Tagger",
    {
        "kind": Literal["tagger"],
        "rules": str,
        "algorithm": Literal["clos", "merge", "one-per-hop"],
        "paths": Literal["shortest", "up-down", "trees"],
        "bounces": int,
        "classes": int,
        "egress": Literal["new-tag", "arriving-tag"],
    },
    total=False,
)

#: account, queue and next class of a frame by tables, as switches have them
QosMaps = TypedDict(
    "QosMaps",
    {
        "kind": Literal["qos-maps"],
        "maps": str,
    },
    total=False,
)

#: frames without buffer space are dropped
Drop = TypedDict(
    "Drop",
    {
        "kind": Literal["drop"],
    },
    total=False,
)

#: PABO: back towards the source, with a probability that rises with the queue
Bounce = TypedDict(
    "Bounce",
    {
        "kind": Literal["bounce"],
        "theta": float | str,
        "lambda": float,
        "return": Literal["arrival-port", "source-lookup"],
        "utilisation": Literal["sub-queue", "fuller"],
        "limit": int,
        "priorities": list[int],
    },
    total=False,
)

#: DIBS: by a random other port towards a switch, when the queue is full
Detour = TypedDict(
    "Detour",
    {
        "kind": Literal["detour"],
    },
    total=False,
)

#: NDP: the payload is cut, the header is forwarded in its own queue
Trim = TypedDict(
    "Trim",
    {
        "kind": Literal["trim"],
        "size": str,
        "header_class": int,
        "victim": Literal["arriving", "tail", "coin"],
        "header_full": Literal["return", "drop"],
        "priorities": list[int],
        "header_queue": object,
        "tiers": object,
    },
    total=False,
)

#: CP: the payload is cut, the header stays in the queue
CutPayload = TypedDict(
    "CutPayload",
    {
        "kind": Literal["cut-payload"],
        "size": str,
        "priorities": list[int],
        "tiers": object,
        "header_queue": object,
    },
    total=False,
)

#: SFC: above a watermark the payload is cut, and the header returns to its source
Sfc = TypedDict(
    "Sfc",
    {
        "kind": Literal["sfc"],
        "size": str,
        "header_class": int,
        "watermark": str,
        "priorities": list[int],
        "header_queue": object,
        "tiers": object,
    },
    total=False,
)

#: trimming by features of programmable switches: meters in ingress pipelines, deflect or mirror on drop
PipelineTrim = TypedDict(
    "PipelineTrim",
    {
        "kind": Literal["pipeline-trim"],
        "size": str,
        "header_class": int,
        "header_full": Literal["return", "drop"],
        "priorities": list[int],
        "header_queue": object,
        "model": Literal["tofino", "switch-p4", "dod", "mod", "tofino2"],
        "pipelines": int,
        "ports_per_pipeline": int,
        "recirculation_rate": str,
        "recirculation_latency": str,
        "recirculation_queue": str,
        "pessimistic": str,
        "half": str,
        "half_share": float | str,
        "pessimistic_share": float | str,
        "meter_burst": str,
        "metered": Literal["data", "all"],
        "response": Literal["meter", "all", "next"],
        "trim_next": int,
        "notify": Literal["all", "origin"],
        "signal_load": Literal["none", "recirculation"],
        "signal_delay": str,
        "timestamp": Literal["wrapping", "as-listed"],
        "clock": int,
        "stages": int,
        "cycle": str,
    },
    total=False,
)

#: ECN by the length of the egress queue
Ecn = TypedDict(
    "Ecn",
    {
        "kind": Literal["ecn"],
        "k_min": str,
        "k_max": str,
        "p_max": float | str,
        "rate": str,
        "at": Literal["enqueue", "dequeue"],
    },
    total=False,
)

#: ECN by a phantom queue: the queue of a slower link
Phantom = TypedDict(
    "Phantom",
    {
        "kind": Literal["phantom"],
        "drain": float | str,
        "threshold": str,
    },
    total=False,
)

#: queues that notify the sources of sampled frames (QCN)
CongestionPoint = TypedDict(
    "CongestionPoint",
    {
        "kind": Literal["congestion-point"],
        "set_point": str,
        "weight": int,
        "sample": str,
        "sample_min": str,
        "jitter": float | str,
        "cnm": str,
        "cnm_class": int,
        "priorities": list[int],
    },
    total=False,
)

#: drops or marks flows above their fair share, without a queue per flow (AFD)
Afd = TypedDict(
    "Afd",
    {
        "kind": Literal["afd"],
        "target": str,
        "sample": int,
        "shadow": str,
        "interval": str,
        "alpha": float,
        "beta": float,
        "action": Literal["drop", "mark"],
    },
    total=False,
)

#: strict priority: the highest eligible class sends first
Strict = TypedDict(
    "Strict",
    {
        "kind": Literal["strict"],
    },
    total=False,
)

#: weighted round robin: a number of frames per class
Wrr = TypedDict(
    "Wrr",
    {
        "kind": Literal["wrr"],
        "weights": list[int] | dict[str, int],
    },
    total=False,
)

#: deficit round robin: a number of bytes per class
Drr = TypedDict(
    "Drr",
    {
        "kind": Literal["drr"],
        "quanta": list[str] | dict[str, str],
    },
    total=False,
)

#: credit-based shaper: a class sends only with credit
Shaping = TypedDict(
    "Shaping",
    {
        "idle_slopes": list[str] | dict[str, str],
        "node": object,
        "to": object,
    },
    total=False,
)

#: a port sends a class only while its gate is open
Gates = TypedDict(
    "Gates",
    {
        "schedule": object,
        "node": object,
        "to": object,
        "states": object,
    },
    total=False,
)

#: frames received in one cycle are sent in the next
Cyclic = TypedDict(
    "Cyclic",
    {
        "cycle": str,
        "classes": list[int],
        "guard": str,
        "node": object,
        "to": object,
    },
    total=False,
)

#: express frames interrupt frames of other classes
Preemption = TypedDict(
    "Preemption",
    {
        "express": list[int],
        "fragments": Literal["standard", "ideal"],
    },
    total=False,
)

#: unacknowledged frames at a given spacing
Datagram = TypedDict(
    "Datagram",
    {
        "kind": Literal["datagram"],
        "frame": str,
        "header": str,
        "arrival": Literal["constant", "poisson", "on_off"],
        "gap": str,
        "rate": str,
        "mean_on": str,
        "mean_off": str,
        "ecn": bool,
    },
    total=False,
)

#: TCP Reno, NewReno, CUBIC and Vegas
Tcp = TypedDict(
    "Tcp",
    {
        "kind": Literal["tcp"],
        "mss": str,
        "header": str,
        "ack": str,
        "initial_window": str,
        "initial_ssthresh": str,
        "advertised_window": str,
        "out_of_order_takes_window": bool,
        "congestion_control": Literal["reno", "newreno", "cubic", "vegas", "none"],
        "cubic_scale": float,
        "cubic_beta": float,
        "vegas_alpha": float,
        "vegas_beta": float,
        "vegas_gamma": float,
        "retransmissions": bool,
        "fast_retransmit": bool,
        "dupack_threshold": int,
        "sack": bool,
        "initial_rto": str,
        "min_rto": str,
        "max_rto": str,
        "rto": str,
        "clock_granularity": str,
        "delayed_ack": bool,
        "delayed_ack_timeout": str,
        "ecn": bool,
    },
    total=False,
)

#: TCP whose window follows the share of marked bytes
Dctcp = TypedDict(
    "Dctcp",
    {
        "kind": Literal["dctcp"],
        "mss": str,
        "header": str,
        "ack": str,
        "initial_window": str,
        "initial_ssthresh": str,
        "advertised_window": str,
        "out_of_order_takes_window": bool,
        "congestion_control": Literal["reno", "newreno", "cubic", "vegas", "none"],
        "retransmissions": bool,
        "fast_retransmit": bool,
        "dupack_threshold": int,
        "sack": bool,
        "initial_rto": str,
        "min_rto": str,
        "max_rto": str,
        "rto": str,
        "clock_granularity": str,
        "delayed_ack": bool,
        "delayed_ack_timeout": str,
        "gain": float | str,
        "initial_alpha": float | str,
    },
    total=False,
)

#: RoCEv2 reliable connection at a set rate: go-back-N, or IRN's selective repeat
Roce = TypedDict(
    "Roce",
    {
        "kind": Literal["roce"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
    },
    total=False,
)

#: RoCE whose rate follows ECN marks
Dcqcn = TypedDict(
    "Dcqcn",
    {
        "kind": Literal["dcqcn"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "gain": float | str,
        "initial_alpha": float | str,
        "alpha_timer": str,
        "alpha_sample": Literal["cut", "timer"],
        "decrease_interval": str,
        "cnp_interval": str,
        "cnp": str,
        "clamp_target": bool,
        "byte_counter": str,
        "increase_timer": str,
        "recovery_stages": int,
        "additive_increase": str,
        "hyper_increase": str,
        "min_rate": str,
    },
    total=False,
)

#: RoCE whose rate follows the gradient of the round trip time
Timely = TypedDict(
    "Timely",
    {
        "kind": Literal["timely"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "initial_rate": str,
        "segment": str,
        "measure": Literal["segment", "round-trip"],
        "ewma": float | str,
        "beta": float | str,
        "additive_increase": str,
        "t_low": str,
        "t_high": str,
        "min_rtt": str,
        "hyper_after": int,
        "hyper_factor": int,
        "min_rate": str,
    },
    total=False,
)

#: RoCE whose rate follows the slope of one-way delays
Hetflow = TypedDict(
    "Hetflow",
    {
        "kind": Literal["hetflow"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "initial_rate": str,
        "timer": str,
        "sampling_bytes": str,
        "sample": int,
        "scaling": float,
        "ewma": float | str,
        "gain": float | str,
        "recovery": str,
        "update": str,
        "cnm": str,
        "min_rate": str,
    },
    total=False,
)

#: RoCE whose rate follows notifications of switches (802.1Qau)
Qcn = TypedDict(
    "Qcn",
    {
        "kind": Literal["qcn"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "initial_rate": str,
        "gain": float | str,
        "byte_counter": str,
        "increase_timer": str,
        "recovery_stages": int,
        "additive_increase": str,
        "hyper_increase": str,
        "min_rate": str,
    },
    total=False,
)

#: RoCE with a rate that keeps a share of the path's bandwidth available, measured by probes
Eccp = TypedDict(
    "Eccp",
    {
        "kind": Literal["eccp"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "initial_rate": str,
        "availability": float | str,
        "equilibrium": float | str,
        "weight": float,
        "gain": float | str,
        "estimate": Literal["trains", "measured"],
        "count_probes": bool,
        "train_frames": int,
        "train_interval": str,
        "probe": str,
        "probe_class": int,
        "min_probe_rate": str,
        "strain_threshold": float | str,
        "best_trains": int,
        "strain_variance": Literal["mean", "pairs"],
        "noise_slope": float,
        "noise_offset": float,
        "initial_slope_variance": float,
        "initial_offset_variance": float,
        "cnp": str,
        "increase_before_cut": bool,
        "byte_counter": str,
        "increase_timer": str,
        "recovery_stages": int,
        "additive_after": int,
        "hyper_after": int,
        "additive_increase": str,
        "hyper_increase": str,
        "min_rate": str,
    },
    total=False,
)

#: RoCE whose window and rate follow telemetry of every hop
Hpcc = TypedDict(
    "Hpcc",
    {
        "kind": Literal["hpcc"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "window": str,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "base_rtt": str,
        "target_utilisation": float | str,
        "max_stage": int,
        "additive_increase": str,
        "fast_reaction": bool,
        "min_rate": str,
        "telemetry": str,
    },
    total=False,
)

#: RoCE whose rate follows the share of marked bytes
DctcpRate = TypedDict(
    "DctcpRate",
    {
        "kind": Literal["dctcp-rate"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "gain": float | str,
        "initial_alpha": float | str,
        "additive_increase": str,
        "min_rate": str,
    },
    total=False,
)

#: RoCE whose window follows the delay of its path, also below one packet
Swift = TypedDict(
    "Swift",
    {
        "kind": Literal["swift"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "window": str,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "base_target": str,
        "hop_scaling": str,
        "flow_scaling_range": str,
        "flow_scaling_min": float,
        "flow_scaling_max": float,
        "additive_increase": float,
        "beta": float | str,
        "max_decrease": float | str,
        "reset_after": int,
        "initial_window": float,
        "min_window": float,
        "max_window": float,
    },
    total=False,
)

#: RoCE with a rate set by an external agent, step by step
External = TypedDict(
    "External",
    {
        "kind": Literal["external"],
        "payload": str,
        "payload_deviation": str,
        "min_payload": str,
        "max_payload": str,
        "header": str,
        "ack": str,
        "ack_every": int,
        "window": str,
        "variable_window": bool,
        "rate": str,
        "timeout": str,
        "nak_interval": str,
        "loss_recovery": Literal["go-back-n", "selective"],
        "flight_cap": str,
        "rto_low": str,
        "rto_high": str,
        "rto_low_packets": int,
        "ecn": bool,
        "initial_rate": str,
        "min_rate": str,
    },
    total=False,
)

#: NDP: receiver-driven by pulls; trimmed headers cause retransmissions
Ndp = TypedDict(
    "Ndp",
    {
        "kind": Literal["ndp"],
        "payload": str,
        "header": str,
        "control": str,
        "initial_window": Literal["bdp"] | int,
        "early_pulls": Literal["count", "lapse"],
        "pulls": Literal["apart", "acks"],
        "timeout": str,
    },
    total=False,
)

#: EQDS-style credit: a receiver grants what senders announce
Eqds = TypedDict(
    "Eqds",
    {
        "kind": Literal["eqds"],
        "payload": str,
        "header": str,
        "control": str,
        "initial_window": Literal["bdp"] | int,
        "timeout": str,
        "quantum": int,
        "ahead": float | str,
    },
    total=False,
)

#: a sender whose frames are bounced back to it halves its window or rate
Halve = TypedDict(
    "Halve",
    {
        "kind": Literal["halve"],
        "every": int,
    },
    total=False,
)
