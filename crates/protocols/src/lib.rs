//! The mechanisms: plain state machines without clock or sockets
