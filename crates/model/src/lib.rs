//! Links, switches and hosts on the engine
