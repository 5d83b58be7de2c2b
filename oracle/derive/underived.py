"""Values and sentences that the files of a run do not determine, each with the reason.

An entry that does not occur in 100 scenarios or more is an error, and so is an underived value without an entry.
"""

UNDERIVED = {
    "flow tables of outputs": "entries expire in tables of switches, which no file records",
    "credit messages in flight": "credit messages are not traced: those of the last sample may have arrived or not",
    "queues beside held flows": "frames move from a queue to the hold of their flow, and back, without rows in the trace",
    "size of the stuck set": "the trace has no levels of ingress accounts at the detection of a deadlock, and no backlog "
                             "of the hosts that a class of higher priority starves",
}
