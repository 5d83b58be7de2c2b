//! Result tables for Arrow consumers; batches are passed without copies.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef, ffi::FFI_ArrowSchema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::fs::File;
use std::path::PathBuf;

/// Table of a result: Polars, pandas, DuckDB and pyarrow read it through the Arrow PyCapsule interface.
#[pyclass(frozen, module = "tidegate")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// Returns an Arrow C stream in a capsule. The requested schema is ignored, as the protocol permits.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// Returns the Arrow schema in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns the column names, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<tidegate.Table: {} rows of {}>", self.__len__(), self.column_names().join(", "))
    }
}

/// Reads a Parquet file of a result.
#[pyfunction]
pub fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let wrong = |error: &dyn std::fmt::Display| PyOSError::new_err(format!("{}: {error}", path.display()));
    py.detach(|| {
        let file = File::open(&path).map_err(|error| wrong(&error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| wrong(&error))?;
        let reader = builder.build().map_err(|error| wrong(&error))?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| wrong(&error))?;
        Ok(Table { schema, batches })
    })
}
