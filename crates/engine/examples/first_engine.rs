//! Two nodes that send each other a ball, one microsecond each way, on two threads.
//!
//! ```text
//!  player 0 o------ 1 us ------> player 1
//!           <------ 1 us ------o
//! ```
use engine::{Engine, Message, Node, Window, WireSpec};
use units::Time;

const WIRE: Time = Time::from_us(1);
#[derive(Clone, Copy, Default)]
struct Ball(Time);
#[rustfmt::skip]
impl Message for Ball { fn at(&self) -> Time { self.0 } }

/// Whether the player serves, and its number of hits.
struct Player(bool, u32);
impl Node for Player {
    type Message = Ball;
    fn run(&mut self, window: &mut Window<'_, Ball>) -> Time {
        if std::mem::take(&mut self.0) {
            window.send(0, Ball(WIRE));
        }
        while window.next_arrival() < window.end() {
            let (_port, ball) = window.take();
            self.1 += 1;
            window.send(0, Ball(ball.0 + WIRE));
        }
        Time::MAX
    }
}

pub(crate) fn main() {
    let wires = [1, 0].map(|node| vec![WireSpec { node, port: 0, lookahead: WIRE }]);
    let mut engine = Engine::new(vec![Player(true, 0), Player(false, 0)], &wires, 2).unwrap();
    engine.run_until(Time::from_us(10));
    println!("player 0 hit {} times, player 1 {} times", engine.node(0).1, engine.node(1).1);
    assert_eq!((engine.node(0).1, engine.node(1).1), (4, 5)); // the tenth hit is at 10 us
}
