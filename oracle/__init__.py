"""Independent reference model of Tidegate. Rule of independence: nothing in this package may share code, tables or
constants with the crates of this repository, and whoever changes it must not read their source. Its only sources
are the documentation (docs/, ARCHITECTURE.md), the standards and papers that it cites, and traces that the program
writes. A fault that both implementations inherit from a common text is invisible to the comparison; a fault that
one of them inherits from the other's code is too."""
