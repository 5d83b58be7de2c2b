//! Graphs of switches and hosts: generators, files, routing, failures
