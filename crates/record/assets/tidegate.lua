-- Dissector for what captures of Tidegate hold and Wireshark does not know: NDP and EQDS, credits, XOFF and XON of
-- FLORAX and its kin, probes, congestion notification messages (802.1Qau), the CNPs of RoCEv2, and the reservation
-- messages of DTSCoE.
--
--   tidegate dissector > tidegate.lua
--   wireshark -X lua_script:tidegate.lua capture.pcapng
--   tshark -X lua_script:tidegate.lua -r capture.pcapng -Y 'tidegate.kind == "pull"'
--
-- The bytes are those of crates/wire: ndp.rs, credit.rs, flow_control.rs, probe.rs, cnm.rs,
-- reservation.rs.

local tidegate = Proto("tidegate", "Tidegate")
local f = {
    kind = ProtoField.string("tidegate.kind", "Kind"),
    ndp_window = ProtoField.uint16("tidegate.ndp.window", "Window (packets)"),
    ndp_last = ProtoField.bool("tidegate.ndp.last", "Last of the flow", 8, nil, 0x01),
    ndp_again = ProtoField.bool("tidegate.ndp.again", "Sent before", 8, nil, 0x02),
    ndp_complete = ProtoField.bool("tidegate.ndp.complete", "Flow complete", 8, nil, 0x04),
    ndp_payload = ProtoField.uint16("tidegate.ndp.payload_bytes", "Payload before a cut (bytes)"),
    ndp_count = ProtoField.uint32("tidegate.ndp.count", "Count (packets)"),
    ndp_offset = ProtoField.uint64("tidegate.ndp.offset_bytes", "Offset in the flow (bytes)"),
    credit_class = ProtoField.uint8("tidegate.credit.class", "Class"),
    credit_sent = ProtoField.uint64("tidegate.credit.sent_bytes", "Sent so far (bytes)"),
    credit_limit = ProtoField.uint64("tidegate.credit.limit_bytes", "May send up to (bytes)"),
    flow_source = ProtoField.ether("tidegate.flow.source", "Source (all zero: any)"),
    flow_destination = ProtoField.ether("tidegate.flow.destination", "Destination"),
    flow_rate = ProtoField.uint64("tidegate.flow.rate_bps", "Rate (bit/s)"),
    flow_expiry = ProtoField.uint64("tidegate.flow.expiry_ns", "Expires after (ns)"),
    probe_number = ProtoField.uint64("tidegate.probe.number", "Number"),
    cnm_feedback = ProtoField.uint8("tidegate.cnm.feedback", "Quantized feedback"),
    cnm_point = ProtoField.uint64("tidegate.cnm.point", "Congestion point", base.HEX),
    cnm_offset = ProtoField.int16("tidegate.cnm.offset", "Queue less set point (64 bytes)"),
    cnm_delta = ProtoField.int16("tidegate.cnm.delta", "Queue less that before (64 bytes)"),
    cnm_priority = ProtoField.uint8("tidegate.cnm.priority", "Priority"),
    cnm_destination = ProtoField.ether("tidegate.cnm.destination", "Destination of the frame"),
    slot_stream = ProtoField.uint64("tidegate.slot.stream", "Stream"),
    slot_sequence = ProtoField.uint32("tidegate.slot.sequence", "Sequence number of the request"),
    slot_active = ProtoField.uint32("tidegate.slot.active", "Request whose slots are in use (0: none)"),
    slot_frame = ProtoField.uint16("tidegate.slot.frame_bytes", "L: longest frame (bytes)"),
    slot_window = ProtoField.uint64("tidegate.slot.window_ps", "TW: window (ps)"),
    slot_start = ProtoField.uint64("tidegate.slot.start_ps", "Ts: time to the slot (ps)"),
    slot_shift = ProtoField.uint64("tidegate.slot.shift_ps", "Shift so far (ps)"),
    slot_occupied = ProtoField.string("tidegate.slot.occupied", "Occupied shifts"),
}
local all = {}
for _, field in pairs(f) do all[#all + 1] = field end
tidegate.fields = all

local cut = ProtoExpert.new("tidegate.cut", "Cut short", expert.group.MALFORMED, expert.severity.ERROR)
tidegate.experts = { cut }

-- A subtree with its kind, and what the list of packets says.
local function begin(tvb, pinfo, tree, kind, words)
    local sub = tree:add(tidegate, tvb)
    sub:add(f.kind, kind):set_generated()
    sub:append_text(", " .. words)
    pinfo.cols.protocol = "TIDEGATE"
    pinfo.cols.info = words
    return sub
end

-- NDP and EQDS behind UDP.

local NDP_PORT, NDP_BYTES = 4799, 18
local NDP_KINDS = { [0] = "data", "trimmed", "returned", "ack", "nack", "pull" }

local ndp = Proto("tidegate_ndp", "NDP and EQDS of Tidegate")
function ndp.dissector(tvb, pinfo, tree)
    local kind = tvb:len() >= 2 and tvb(0, 1):uint() == 1 and NDP_KINDS[tvb(1, 1):uint()]
    if not kind then return 0 end
    if tvb:len() < NDP_BYTES then
        begin(tvb, pinfo, tree, kind, "NDP " .. kind):add_proto_expert_info(cut)
        return tvb:len()
    end
    local count, offset = tvb(8, 4):uint(), tvb(12, 6):uint64()
    local words = "NDP " .. kind
    if kind == "pull" then
        words = words .. " " .. count
    else
        words = words .. ", offset " .. tostring(offset)
    end
    local sub = begin(tvb(0, NDP_BYTES), pinfo, tree, kind, words)
    sub:add(f.ndp_window, tvb(2, 2))
    sub:add(f.ndp_last, tvb(5, 1))
    sub:add(f.ndp_again, tvb(5, 1))
    sub:add(f.ndp_complete, tvb(5, 1))
    sub:add(f.ndp_payload, tvb(6, 2))
    sub:add(f.ndp_count, tvb(8, 4))
    sub:add(f.ndp_offset, tvb(12, 6), offset)
    return tvb:len()
end
DissectorTable.get("udp.port"):add(NDP_PORT, ndp)

-- Probes behind UDP, at the port of their flow.

local PROBE_KINDS = { "probe", "control" }

local function probe(tvb, pinfo, tree)
    if tvb:len() < 12 or tvb(0, 3):uint() ~= 0x746701 then return false end
    local kind = PROBE_KINDS[tvb(3, 1):uint()]
    if not kind then return false end
    local number = tvb(4, 8):uint64()
    begin(tvb(0, 12), pinfo, tree, kind, kind .. ", number " .. tostring(number)):add(f.probe_number, tvb(4, 8))
    return true
end
tidegate:register_heuristic("udp", probe)

-- Frames of MAC control that no standard has; all others are Wireshark's.

local CREDIT, EXTENSION, ORGANISATION = 0xCBFC, 0xFFFE, 0x7A5447
local FLOW_KINDS = { "xoff", "xon" }

local ethertypes = DissectorTable.get("ethertype")
local mac_control_of_wireshark = ethertypes:get_dissector(0x8808)

local mac_control = Proto("tidegate_mac", "MAC control of Tidegate")
function mac_control.dissector(tvb, pinfo, tree)
    local opcode = tvb:len() >= 2 and tvb(0, 2):uint()
    if opcode == CREDIT and tvb:len() >= 20 then
        local class, limit = tvb(2, 1):uint(), tvb(12, 8):uint64()
        local words = "credit, class " .. class .. ", up to " .. tostring(limit)
        local sub = begin(tvb(0, 20), pinfo, tree, "credit", words)
        sub:add(f.credit_class, tvb(2, 1))
        sub:add(f.credit_sent, tvb(4, 8))
        sub:add(f.credit_limit, tvb(12, 8))
        return tvb:len()
    end
    local kind = opcode == EXTENSION and tvb:len() >= 34 and tvb(2, 3):uint() == ORGANISATION
        and FLOW_KINDS[tvb(5, 1):uint()]
    if kind then
        local words = kind:upper() .. " of " .. tostring(tvb(6, 6):ether()) .. " to " .. tostring(tvb(12, 6):ether())
        if kind == "xoff" then words = words .. ", " .. tostring(tvb(18, 8):uint64()) .. " bit/s" end
        local sub = begin(tvb(0, 34), pinfo, tree, kind, words)
        sub:add(f.flow_source, tvb(6, 6))
        sub:add(f.flow_destination, tvb(12, 6))
        sub:add(f.flow_rate, tvb(18, 8))
        sub:add(f.flow_expiry, tvb(26, 8))
        return tvb:len()
    end
    return mac_control_of_wireshark:call(tvb, pinfo, tree)
end
ethertypes:add(0x8808, mac_control)

-- Congestion notification messages of QCN and HetFlow.

local cnm = Proto("tidegate_cnm", "Congestion notification message")
function cnm.dissector(tvb, pinfo, tree)
    if tvb:len() < 24 then return 0 end
    local feedback = tvb(1, 1):uint() % 64
    local sub = begin(tvb(0, 24), pinfo, tree, "cnm", "congestion notification message, feedback " .. feedback)
    sub:add(f.cnm_feedback, tvb(1, 1), feedback)
    sub:add(f.cnm_point, tvb(2, 8))
    sub:add(f.cnm_offset, tvb(10, 2))
    sub:add(f.cnm_delta, tvb(12, 2))
    sub:add(f.cnm_priority, tvb(14, 1), math.floor(tvb(14, 1):uint() / 32))
    sub:add(f.cnm_destination, tvb(16, 6))
    return tvb:len()
end
ethertypes:add(0x22E7, cnm)

-- Reservation messages of DTSCoE, with an EtherType for local experiments.

local SLOT_KINDS = { "request", "update", "ready", "fail", "withdraw", "release" }
local SLOT_HEADER_BYTES = 46

-- Reads a varint: seven bits in each byte, the lowest first. Returns the value and the number of bytes, or nothing.
local function varint(tvb, at)
    local value, factor = UInt64(0), UInt64(1)
    for bytes = 1, 9 do
        if at + bytes > tvb:len() then return nil end
        local byte = tvb(at + bytes - 1, 1):uint()
        value = value + factor * UInt64(byte % 128)
        if byte < 128 then return value, bytes end
        factor = factor * UInt64(128)
    end
end

-- Adds the intervals of shifts that are occupied; returns false if the message ends within them.
local function occupied(tvb, sub)
    local at = SLOT_HEADER_BYTES
    for _ = 1, tvb(at - 2, 2):uint() do
        if at + 4 > tvb:len() then return false end
        local divisor, count, first = tvb(at, 2):uint(), tvb(at + 2, 2):uint(), UInt64(0)
        at = at + 4
        for _ = 1, count do
            local start, distance, first_bytes = at, varint(tvb, at)
            local length, length_bytes
            if distance then length, length_bytes = varint(tvb, at + first_bytes) end
            if not length then return false end
            first, at = first + distance, at + first_bytes + length_bytes
            local words = "from " .. tostring(first) .. " ps, " .. tostring(length) .. " ps, modulo TW/" .. divisor
            sub:add(f.slot_occupied, tvb(start, at - start), words)
        end
    end
    return true
end

local slot = Proto("tidegate_slot", "DTSCoE slot reservation")
function slot.dissector(tvb, pinfo, tree)
    local kind = tvb:len() >= 2 and tvb(0, 1):uint() == 2 and SLOT_KINDS[tvb(1, 1):uint()]
    if not kind then return 0 end
    if tvb:len() < SLOT_HEADER_BYTES then
        begin(tvb, pinfo, tree, kind, "DTSCoE " .. kind):add_proto_expert_info(cut)
        return tvb:len()
    end
    local words = "DTSCoE " .. kind .. ", stream " .. tostring(tvb(4, 8):uint64()) .. ", sequence " .. tvb(12, 4):uint()
    local sub = begin(tvb, pinfo, tree, kind, words)
    sub:add(f.slot_frame, tvb(2, 2))
    sub:add(f.slot_stream, tvb(4, 8))
    sub:add(f.slot_sequence, tvb(12, 4))
    sub:add(f.slot_active, tvb(16, 4))
    sub:add(f.slot_window, tvb(20, 8))
    sub:add(f.slot_start, tvb(28, 8))
    sub:add(f.slot_shift, tvb(36, 8))
    if not occupied(tvb, sub) then sub:add_proto_expert_info(cut) end
    return tvb:len()
end
ethertypes:add(0x88B5, slot)

-- CNPs of RoCEv2 (InfiniBand annex A17.9): Wireshark shows their opcode, 0x81, as unknown.

local opcode = Field.new("infiniband.bth.opcode")
local after = Proto("tidegate_cnp", "CNP")
function after.dissector(tvb, pinfo, tree)
    local found = opcode()
    if not found or found.value ~= 0x81 then return end
    local sub = tree:add(tidegate, tvb(0, 0))
    sub:add(f.kind, "cnp"):set_generated()
    sub:append_text(", CNP")
    pinfo.cols.info = "CNP: slow down"
end
register_postdissector(after)
