//! A scenario file, lowered once into a validated plan
