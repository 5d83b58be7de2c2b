//! A receiver (responder) with a measurement for the sender's rate control. Data frames are passed to the
//! measurement, which may send a notification, and then to the receiver; probes are passed to the measurement only.
//! The wrapper is a separate type, so that flows without a measurement have no overhead.

use crate::eccp::{self, EccpParameters};
use crate::endpoint::{Ctx, Receipt, Receiver};
use crate::frame::{Frame, Kind};
use crate::hetflow::{self, HetFlowParameters};
use crate::roce::control::ControlParameters;
use crate::roce::parameters::RoceParameters;
use std::sync::Arc;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Measurement that a receiver makes for the sender's rate control.
#[derive(Clone, Debug)]
enum Measurement {
    /// Gradient of the one-way delay (HetFlow).
    Delay(hetflow::Sampler),
    /// Available bandwidth of the path (ECCP).
    Bandwidth(Box<eccp::Estimator>),
}

/// Receiver of one flow with a measurement.
#[derive(Clone, Debug)]
pub struct MeasuringReceiver<R> {
    parameters: Arc<RoceParameters>,
    roce: R,
    measurement: Measurement,
}

impl<R: Receiver> MeasuringReceiver<R> {
    /// Wraps the receiver `roce`; `None` if the rate control needs no measurement.
    pub fn new(parameters: &Arc<RoceParameters>, roce: R) -> Option<Self> {
        let measurement = match parameters.control {
            ControlParameters::HetFlow(HetFlowParameters { .. }) => Measurement::Delay(hetflow::Sampler::default()),
            ControlParameters::Eccp(EccpParameters { .. }) => Measurement::Bandwidth(Box::default()),
            _ => return None,
        };
        Some(MeasuringReceiver { parameters: Arc::clone(parameters), roce, measurement })
    }
}

impl<R: Receiver> Receiver for MeasuringReceiver<R> {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        match (&mut self.measurement, &self.parameters.control) {
            (Measurement::Delay(sampler), ControlParameters::HetFlow(parameters)) if frame.kind == Kind::Data => {
                sampler.on_data(parameters, ctx, frame);
            }
            (Measurement::Bandwidth(estimator), ControlParameters::Eccp(parameters)) if frame.kind == Kind::Probe => {
                let wire_bytes = self.parameters.full_wire_bytes();
                estimator.on_probe(parameters, (wire_bytes - WIRE_OVERHEAD_BYTES, wire_bytes), ctx, frame);
                return Receipt::default();
            }
            _ => {}
        }
        if frame.kind == Kind::Probe {
            return Receipt::default();
        }
        self.roce.on_frame(ctx, frame)
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        self.roce.on_timer(ctx);
    }

    fn next_timer(&self) -> Time {
        self.roce.next_timer()
    }

    fn delay_ps(&self) -> Option<i64> {
        match &self.measurement {
            Measurement::Delay(sampler) => sampler.delay_ps(),
            Measurement::Bandwidth(_) => None,
        }
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.roce.holds(frame)
    }

    fn next_expected(&self) -> u64 {
        self.roce.next_expected()
    }
}
