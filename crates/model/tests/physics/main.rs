//! The simulator against physics: closed forms, independent recurrences and identities that it must meet
//! before it may disagree with anybody.

mod backpressure;
mod bench;
mod chains;
mod conservation;
mod contracts;
mod controls;
mod credits;
mod deadlock;
mod displacement;
mod failures;
mod gates;
mod jitter;
mod lone_flow;
mod lossless;
mod notifications;
mod overrides;
mod partial;
mod pipelines;
mod preemption;
mod pulls;
mod queueing;
mod recovery;
mod requests;
mod sharing;
mod stop;
mod tags;
mod telemetry;
mod toy;
mod toy_flow_control;
mod toy_overload;
mod trace;
mod trim;
mod turns;
mod walks;
mod watchdog;
