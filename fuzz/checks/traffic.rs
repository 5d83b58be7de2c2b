//! Checks of flow files, a module for each fuzz target.

pub mod traffic_cdf {
    //! Size distributions: any bytes are an error, or a distribution with a monotonic inverse within its points.

    use traffic::Cdf;

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let cdf = match Cdf::read(bytes, "fuzz") {
            Ok(cdf) => cdf,
            Err(error) => return assert!(error.to_string().starts_with("fuzz")),
        };
        let (first, last) = (cdf.points()[0].bytes, cdf.points()[cdf.points().len() - 1].bytes);
        let mut previous = 0;
        for step in 0..=64 {
            let share = (Cdf::WHOLE - 1) / 64 * step;
            let size = cdf.at(share);
            assert!(size >= previous.max(1) && size >= first && size <= last, "{size} at {share}");
            assert!(cdf.share_at_most(size) <= Cdf::WHOLE);
            previous = size;
        }
        let mean = cdf.mean();
        assert!(mean.numerator <= u128::from(last) * mean.denominator);
        assert!(mean.numerator >= u128::from(first) * mean.denominator);
    }
}

pub mod traffic_flows {
    //! `flow.txt`: any bytes are an error or flows, and flows that were read can be written and read again.

    use traffic::{FlowColumns, FlowFileOptions, read_flow_file, write_flow_file};
    use units::Time;

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let options = FlowFileOptions { hosts: 64, ..FlowFileOptions::default() };
        let file = match read_flow_file(bytes, "fuzz", &options) {
            Ok(file) => file,
            Err(error) => return assert!(error.to_string().starts_with("fuzz")),
        };
        assert!(file.flows.iter().all(|flow| flow.src < 64 && flow.dst < 64 && flow.src != flow.dst && flow.class < 8));
        // There is no writer for the columns of ns3-rdma: write these flows with six columns.
        let columns = file.columns.filter(|&columns| columns != FlowColumns::Packets).unwrap_or(FlowColumns::Six);
        let mut written = Vec::new();
        write_flow_file(&file.flows, &mut written, columns, Time::ZERO).expect("what was read can be written");
        let same = FlowFileOptions { columns: Some(columns), ..options.clone() };
        let again = read_flow_file(written.as_slice(), "again", &same).expect("what was written can be read");
        assert_eq!((again.flows, again.columns), (file.flows, file.columns.map(|_| columns)));
        assert_eq!(again.warnings, [], "what is written is sorted, exact and complete");
        // With another time origin, the start of every flow is shifted, or the file is rejected; there must be no
        // panic.
        let later = FlowFileOptions { time_origin: Time::from_s(2), ..options };
        let _ = read_flow_file(bytes, "fuzz", &later);
    }
}

pub mod traffic_matrix {
    //! Connection matrices of htsim: any bytes are an error that names the file, or flows between existing hosts whose
    //! plan can be built.

    use traffic::{
        FlowFileOptions, PlanBuilder, is_connection_matrix, read_connection_matrix, replay_connection_matrix,
    };

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let _ = is_connection_matrix(bytes);
        let options = FlowFileOptions { hosts: 64, ..FlowFileOptions::default() };
        let matrix = match read_connection_matrix(bytes, "fuzz", 3, &options) {
            Ok(matrix) => matrix,
            Err(error) => return assert!(error.to_string().starts_with("fuzz"), "{error}"),
        };
        assert!(
            matrix.flows.iter().all(|flow| flow.src < 64 && flow.dst < 64 && flow.src != flow.dst && flow.class < 8)
        );
        let flows = matrix.flows.len() as u32;
        assert!(matrix.edges.iter().all(|&(from, _, to)| from < flows && to < flows));
        let mut builder = PlanBuilder::new();
        if replay_connection_matrix(matrix, &mut builder).is_ok() {
            assert_eq!(builder.len(), flows as usize);
            let _ = builder.build(64);
        }
    }
}
