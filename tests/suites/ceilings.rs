//! The ceilings of the roofline that call themselves recorded, held to the recordings.

use vramlab_gpu::verdict;
use vramlab_shell::Library;
use vramlab_tests::read;
use vramlab_trace::file;

/// The median of one point of a recording on the H200, in the experiment's own unit.
fn recorded(trace: &str, experiment: &str, series: &str, x: f64) -> f64 {
    let library = Library::built_in();
    let content = vramlab_content::get(&format!("assets/traces/h200/{trace}.vltrace")).unwrap();
    let run = file::read(content.here().unwrap()).unwrap().run;
    let (experiment, kernel) = library.experiment(experiment).unwrap();
    let judged = verdict::judge(&run, experiment, kernel);
    let point = judged.points.iter().find(|point| point.series == series && point.x == Some(x));
    point.and_then(|point| point.value).unwrap_or_else(|| panic!("{trace} has no {series} at {x}"))
}

/// `assets/ceilings.toml`, `[device.measured]` of the H200.
fn measured(key: &str) -> (f64, String) {
    let file: toml::Table = read("assets/ceilings.toml").parse().unwrap();
    let devices = file["device"].as_array().unwrap();
    let h200 = devices.iter().find(|device| device["id"].as_str() == Some("h200")).unwrap();
    let entry = h200["measured"][key].as_array().unwrap();
    let value = entry[0].as_float().or_else(|| entry[0].as_integer().map(|whole| whole as f64)).unwrap();
    let source = file["source"][entry[1].as_str().unwrap()]["text"].as_str().unwrap();
    (value, source.to_owned())
}

#[test]
fn recorded_ceilings_are_what_the_recordings_say() {
    let mebi = f64::from(1 << 20);
    let cases = [
        ("hbm", recorded("footprint.main", "footprint/main", "read", 1024.0 * mebi)),
        ("l2", recorded("footprint.main", "footprint/main", "read", 32.0 * mebi)),
        ("fp32", recorded("intensity_ramp.main", "intensity_ramp/main", "fma", 1024.0)),
    ];
    for (key, found) in cases {
        let (stated, source) = measured(key);
        assert!(source.starts_with("recorded: "), "{key}: {source}");
        assert!((stated / found - 1.0).abs() < 0.01, "{key}: the file says {stated}, the recording {found}");
    }
}
