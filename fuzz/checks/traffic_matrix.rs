//! Connection matrices of htsim: any bytes are an error that names the file, or flows between existing hosts whose plan
//! can be built.

use traffic::{FlowFileOptions, PlanBuilder, is_connection_matrix, read_connection_matrix, replay_connection_matrix};

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let _ = is_connection_matrix(bytes);
    let options = FlowFileOptions { hosts: 64, ..FlowFileOptions::default() };
    let matrix = match read_connection_matrix(bytes, "fuzz", 3, &options) {
        Ok(matrix) => matrix,
        Err(error) => return assert!(error.to_string().starts_with("fuzz"), "{error}"),
    };
    assert!(matrix.flows.iter().all(|flow| flow.src < 64 && flow.dst < 64 && flow.src != flow.dst && flow.class < 8));
    let flows = matrix.flows.len() as u32;
    assert!(matrix.edges.iter().all(|&(from, _, to)| from < flows && to < flows));
    let mut builder = PlanBuilder::new();
    if replay_connection_matrix(matrix, &mut builder).is_ok() {
        assert_eq!(builder.len(), flows as usize);
        let _ = builder.build(64);
    }
}
