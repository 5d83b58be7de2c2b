//! A responder whose rate control measures more than marks: each data frame is shown to the control's measurement,
//! which may notify the sender, and then received as ever; probes are for the measurement alone. A wrapper, so that
//! other flows' frames pay nothing for it.

use crate::eccp::{self, EccpParameters};
use crate::endpoint::{Ctx, Receipt, Receiver};
use crate::frame::{Frame, Kind};
use crate::hetflow::{self, HetFlowParameters};
use crate::roce::control::ControlParameters;
use crate::roce::parameters::RoceParameters;
use std::sync::Arc;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// What a receiver measures for its sender's control.
#[derive(Clone, Debug)]
enum Measurement {
    /// How one-way delays change.
    Delay(hetflow::Sampler),
    /// What of the way's bandwidth is available.
    Bandwidth(Box<eccp::Estimator>),
}

/// The receiving end of one flow under such a control.
#[derive(Clone, Debug)]
pub struct MeasuringReceiver<R> {
    parameters: Arc<RoceParameters>,
    roce: R,
    measurement: Measurement,
}

impl<R: Receiver> MeasuringReceiver<R> {
    /// The receiver of one flow, whose data `roce` takes; `None` where its control measures nothing here.
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
