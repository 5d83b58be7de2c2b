use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::RecordError;
use crate::file::tests::Scratch;
use crate::identity::ScenarioIdentity;
use parquet::basic::LogicalType;
use parquet::file::reader::{FileReader, SerializedFileReader};

fn columns() -> Vec<Column> {
    vec![
        Column::new("start_ps", ColumnType::U64),
        Column::new("offset_ps", ColumnType::I64),
        Column::new("slowdown", ColumnType::F64).optional().unit("1").means("how much longer it took, = fct / alone"),
        Column::new("name", ColumnType::Text).optional(),
        Column::new("paused", ColumnType::Bool),
        Column::new("acked_ps", ColumnType::U64).optional(),
    ]
}

type Row = (u64, i64, Option<f64>, Option<String>, bool, Option<u64>);

fn values(row: &Row) -> [Value<'_>; 6] {
    let (start, offset, slowdown, name, paused, acked) = row;
    [(*start).into(), (*offset).into(), (*slowdown).into(), name.as_deref().into(), (*paused).into(), (*acked).into()]
}

fn write(path: &Path, rows: &[Row], rows_per_group: usize) {
    let mut writer = TableWriter::with_rows_per_group(path, &columns(), rows_per_group).unwrap();
    for row in rows {
        writer.push(&values(row)).unwrap();
        assert!(writer.buffered_rows() < rows_per_group);
    }
    writer.close().unwrap();
}

/// Generates values of a column of times and counts: below the largest signed number, or endless.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0..i64::MAX as u64, 1 => Just(u64::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_row_comes_back(
        rows in prop::collection::vec(
            (count(), any::<i64>(), prop::option::of(-1e300..1e300), prop::option::of(".{0,8}"), any::<bool>(),
             prop::option::of(count())), 0..60),
        rows_per_group in 1usize..20,
    ) {
        let scratch = Scratch::new("table");
        let (first, second) = (scratch.0.join("a.parquet"), scratch.0.join("b.parquet"));
        write(&first, &rows, rows_per_group);
        write(&second, &rows, rows_per_group);
        prop_assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap(), "same rows, same bytes");

        let table = read_table(&first).unwrap();
        prop_assert_eq!(&table.columns, &columns());
        prop_assert_eq!(table.rows, rows.len());
        for (index, row) in rows.iter().enumerate() {
            prop_assert_eq!(table.row(index), values(row));
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_a_panic(at in 0usize..2000, byte in any::<u8>(), cut in any::<bool>()) {
        let scratch = Scratch::new("table-damaged");
        let path = scratch.0.join("a.parquet");
        let rows: Vec<Row> = (0..50).map(|i| (i, 1, Some(0.5), Some(format!("n{i}")), i % 2 == 0, None)).collect();
        write(&path, &rows, 16);
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        fs::write(&path, bytes).unwrap();
        let _ = read_table(&path);
    }
}

#[test]
fn a_file_states_units_meanings_and_its_run() {
    let scratch = Scratch::new("table-metadata");
    let path = scratch.0.join("a.parquet");
    let run = ScenarioIdentity { name: "a \"run\"".into(), hash: "c0ffee".into(), seed: u64::MAX, version: "9".into() };
    let mut writer = TableWriter::create(&path, &columns()).unwrap().about(&run);
    writer.push(&values(&(1, 2, None, None, true, None))).unwrap();
    writer.close().unwrap();
    // Read with the Parquet library only, as other programs do.
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    let key_values = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let key_values = |key: &str| key_values.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
    for (key, value) in [
        ("unit.start_ps", Some("ps")),
        ("unit.slowdown", Some("1")),
        ("unit.name", Some("none")),
        ("minimum.start_ps", Some("0")),
        ("minimum.offset_ps", None),
        ("meaning.slowdown", Some("how much longer it took, = fct / alone")),
        ("meaning.start_ps", None),
        ("tidegate.scenario", Some("a \"run\"")),
        ("tidegate.scenario_hash", Some("c0ffee")),
        ("tidegate.seed", Some("18446744073709551615")),
        ("tidegate.version", Some("9")),
    ] {
        assert_eq!(key_values(key).as_deref(), value, "{key}");
    }
    let reader = TableReader::open(&path).unwrap();
    assert_eq!((reader.about().len(), reader.rows(), reader.columns()), (4, 1, &columns()[..]));
}

#[test]
fn units_are_those_of_the_names() {
    let units = [("a_ps", "ps"), ("b_ns", "ns"), ("bytes", "byte"), ("rate_bps", "bit/s"), ("packets", "packet")];
    for (name, unit) in units {
        assert_eq!(Column::new(name, ColumnType::U64).unit.as_deref(), Some(unit), "{name}");
    }
    assert_eq!(Column::new("label_ps", ColumnType::Text).unit.as_deref(), Some("none"));
    assert_eq!(Column::new("flow", ColumnType::U64).unit.as_deref(), Some("1"));
}

/// With unsigned columns, a negative difference would be about 2^64 in Polars and an error in DuckDB.
#[test]
fn times_and_counts_are_signed_in_the_file_and_seeds_are_not() {
    let scratch = Scratch::new("table-signed");
    let path = scratch.0.join("a.parquet");
    let columns = [
        Column::new("start_ps", ColumnType::U64),
        Column::new("offset_ps", ColumnType::I64),
        Column::new("seed", ColumnType::Key),
    ];
    let mut writer = TableWriter::create(&path, &columns).unwrap();
    writer.push(&[7u64.into(), (-7i64).into(), (u64::MAX - 1).into()]).unwrap();
    writer.push(&[u64::MAX.into(), 0i64.into(), 1u64.into()]).unwrap();
    let error = writer.push(&[(1u64 << 63).into(), 0i64.into(), 1u64.into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column start_ps cannot hold 9223372036854775808: times and counts are less than 2^63 - 1"
    );
    writer.close().unwrap();
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    let unsigned = LogicalType::integer(64, false);
    let types = reader.metadata().file_metadata().schema_descr_ptr();
    let types: Vec<_> = types.columns().iter().map(|column| column.logical_type_ref() == Some(&unsigned)).collect();
    assert_eq!(types, [false, false, true]);
    let table = read_table(&path).unwrap();
    assert_eq!(table.columns, columns);
    assert_eq!(table.row(0), [Value::U64(7), Value::I64(-7), Value::U64(u64::MAX - 1)]);
    assert_eq!(table.row(1)[0], Value::U64(u64::MAX), "without end");
}

/// Earlier versions wrote unsigned columns without a lower bound in the metadata.
#[test]
fn tables_of_earlier_versions_are_read() {
    let scratch = Scratch::new("table-earlier");
    let path = scratch.0.join("a.parquet");
    let mut writer = TableWriter::create(&path, &[Column::new("start_ps", ColumnType::Key)]).unwrap();
    writer.push(&[(1u64 << 63).into()]).unwrap();
    writer.close().unwrap();
    assert_eq!(read_table(&path).unwrap().u64s("start_ps").unwrap(), [Some(1 << 63)]);
}

#[test]
fn memory_is_bounded_by_a_row_group() {
    let scratch = Scratch::new("table-groups");
    let path = scratch.0.join("a.parquet");
    let mut writer = TableWriter::with_rows_per_group(&path, &[Column::new("time_ps", ColumnType::U64)], 100).unwrap();
    for time in 0..1050u64 {
        writer.push(&[time.into()]).unwrap();
        assert!(writer.buffered_rows() < 100);
    }
    assert_eq!((writer.rows(), writer.buffered_rows()), (1050, 50));
    writer.close().unwrap();
    let mut reader = TableReader::open(&path).unwrap();
    let mut groups = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        groups.push(group.rows);
    }
    assert_eq!(groups, [vec![100; 10], vec![50]].concat());
    assert_eq!(read_table(&path).unwrap().u64s("time_ps").unwrap()[1049], Some(1049));
}

#[test]
fn a_writer_that_is_not_closed_leaves_nothing() {
    let scratch = Scratch::new("table-drop");
    let path = scratch.0.join("a.parquet");
    let mut writer = TableWriter::with_rows_per_group(&path, &columns(), 1).unwrap();
    writer.push(&values(&(1, 2, None, None, true, None))).unwrap();
    assert!(!path.exists());
    drop(writer);
    assert!(scratch.names().is_empty());
}

#[test]
fn a_row_that_does_not_fit_is_refused_whole() {
    let scratch = Scratch::new("table-kind");
    let path = scratch.0.join("a.parquet");
    let columns = [Column::new("a", ColumnType::U64), Column::new("b", ColumnType::F64)];
    let mut writer = TableWriter::create(&path, &columns).unwrap();
    let error = writer.push(&[1u64.into(), 1u64.into()]).unwrap_err();
    assert_eq!(error.to_string(), "column b holds F64 values, not U64");
    let error = writer.push(&[Value::Null, 1.0.into()]).unwrap_err();
    assert_eq!(error.to_string(), "column a holds U64 values, not Null");
    assert!(matches!(writer.push(&[1u64.into()]), Err(RecordError::RowLength { expected: 2, found: 1, .. })));
    writer.push(&[7u64.into(), 0.5.into()]).unwrap();
    writer.close().unwrap();
    let table = read_table(&path).unwrap();
    assert_eq!(table.rows, 1);
    assert_eq!(table.row(0), [Value::U64(7), Value::F64(0.5)]);
    assert!(matches!(table.f64s("a"), Err(RecordError::ColumnKind { .. })));
    assert_eq!(table.u64s("c").unwrap_err().to_string(), "no column c; the table has a, b");

    let twice = [Column::new("a", ColumnType::U64), Column::new("a", ColumnType::U64)];
    assert!(matches!(TableWriter::create(&path, &twice), Err(RecordError::Table { .. })));
}

#[test]
fn a_file_that_is_no_table_is_named() {
    let scratch = Scratch::new("table-not");
    let path = scratch.0.join("a.parquet");
    assert!(matches!(read_table(&path), Err(RecordError::Unreadable { .. })));
    fs::write(&path, b"time,queue\n").unwrap();
    let error = read_table(&path).unwrap_err();
    assert!(matches!(&error, RecordError::Table { path: at, .. } if *at == path), "{error}");
}

#[test]
fn a_missing_dictionary_page_is_an_error() {
    // The page type of the dictionary page is overwritten, which makes the library panic.
    let scratch = Scratch::new("table-dictionary");
    let path = scratch.0.join("a.parquet");
    let mut writer = TableWriter::create(&path, &[Column::new("port", ColumnType::U64)]).unwrap();
    (0..50u64).for_each(|row| writer.push(&[(row % 3).into()]).unwrap());
    writer.close().unwrap();
    let good = fs::read(&path).unwrap();
    // The page header follows the magic number: field 1 is the page type, dictionary page = 2, zigzag-encoded as 4.
    assert_eq!(good[..6], *b"PAR1\x15\x04");
    for page_type in 0..=255 {
        let mut bytes = good.clone();
        bytes[5] = page_type;
        fs::write(&path, bytes).unwrap();
        let result = read_table(&path);
        assert_eq!(result.is_ok(), page_type == 4, "page type {page_type}");
    }
}

#[test]
fn csv_quotes_what_needs_it() {
    let scratch = Scratch::new("csv");
    let parquet = scratch.0.join("a.parquet");
    let rows: Vec<Row> = vec![
        (u64::MAX, -1, Some(0.1), Some("plain".into()), true, None),
        (0, i64::MIN, None, Some("a,\"b\"".into()), false, Some(5)),
        (0, 0, Some(1e21), Some(String::new()), false, None),
        (0, 0, Some(1.0), None, false, None),
        (0, 0, None, Some("=HYPERLINK(1)".into()), false, None),
    ];
    write(&parquet, &rows, 3);
    let mut text = String::new();
    print_csv(&parquet, |line| {
        text.push_str(line);
        Ok::<(), RecordError>(())
    })
    .unwrap();
    let expected = "start_ps,offset_ps,slowdown,name,paused,acked_ps\n\
        18446744073709551615,-1,0.1,plain,true,\n\
        0,-9223372036854775808,,\"a,\"\"b\"\"\",false,5\n\
        0,0,1000000000000000000000,\"\",false,\n\
        0,0,1,,false,\n\
        0,0,,'=HYPERLINK(1),false,\n";
    assert_eq!(text, expected);
}
