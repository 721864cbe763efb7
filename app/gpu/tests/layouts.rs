//! Kernels of layouts, stencils and sums, played on the processor: right, and with the sectors and wavefronts that their
//! experiments expect of the counters.

#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

use vramlab_gpu::exercise::Metric;
use vramlab_gpu::play::{BUDGET, Played, play};
use vramlab_gpu::read::Library;
use vramlab_simt::{Act, Space};
use vramlab_trace::OracleOutcome;
use vramlab_units::Map;

fn played(slug: &str, params: &[(&str, u64)]) -> Played {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let names = [format!("{slug}/kernel.toml"), format!("{slug}/{slug}.cu")];
    let files = names.map(|name| (name.clone(), std::fs::read_to_string(format!("{root}/{name}")).unwrap()));
    let library = Library::from_files(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    assert!(library.problems.is_empty(), "{:?}", library.problems);
    let params: Map = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    let source = &library.sources(slug).unwrap()[&format!("{slug}.cu")];
    let played = play(&library.kernels[slug], source, &params, BUDGET);
    let played = played.unwrap_or_else(|why| panic!("{slug} {params:?}: {why}"));
    assert!(matches!(played.oracle, OracleOutcome::Passed { .. }), "{slug} {params:?}: {:?}", played.oracle);
    assert_eq!(Metric::Races.of(&played.reports), 0.0, "{slug} {params:?}");
    played
}

/// Chapter 13's brief: a coalesced request is 4 sectors (16 with 16 bytes a lane); straight, a transpose writes 32.
#[test]
fn transposes_touch_whole_sectors_and_meet_in_no_bank() {
    for (form, loads, stores) in [(0, 16, 16), (1, 4, 32), (2, 4, 4), (3, 16, 16), (4, 16, 16), (5, 16, 16)] {
        let it = played("layout_copy", &[("n_rows", 512), ("n_columns", 1024), ("form", form)]);
        assert_eq!(Metric::SectorsPerLoad.of(&it.reports), f64::from(loads), "form {form}");
        assert_eq!(Metric::SectorsPerStore.of(&it.reports), f64::from(stores), "form {form}");
        assert_eq!(Metric::ExcessWavefronts.of(&it.reports), 0.0, "form {form}");
    }
}

/// Chapter 13's brief, vector 3: lanes 4 bytes apart touch 4 sectors, lanes 32 bytes or more apart 32.
#[test]
fn a_layout_that_goes_with_the_lanes_takes_four_sectors() {
    for (is_nhwc, by_channel, sectors) in [(0, 0, 4.0), (1, 0, 32.0), (0, 1, 32.0), (1, 1, 4.0)] {
        let params = [("n_channels", 64), ("n_pixels", 4096), ("is_nhwc", is_nhwc), ("by_channel", by_channel)];
        let it = played("channel_layout", &params);
        assert_eq!(Metric::SectorsPerLoad.of(&it.reports), sectors, "{params:?}");
        assert_eq!(Metric::SectorsPerStore.of(&it.reports), 4.0, "{params:?}");
    }
}

/// Chapter 03's brief: a tile of T with a rim of r loads (T + 2r)² words for T² outputs.
#[test]
fn stencils_are_right_and_a_tile_loads_its_rim_once() {
    for radius in [1, 3, 8] {
        for in_tile in [0, 1] {
            let it = played("stencil_2d", &[("n", 64), ("radius", radius), ("in_tile", in_tile)]);
            let loads = it.reports.iter().map(|report| report.sum(Space::Global, Act::Load));
            let words: u64 = loads.map(|site| site.useful_bytes / 4).sum();
            let (side, window) = (32 + 2 * radius, (2 * radius + 1) * (2 * radius + 1));
            assert_eq!(
                words,
                if in_tile == 1 { 4 * side * side } else { 64 * 64 * window },
                "radius {radius}, {in_tile}"
            );
        }
    }
}

/// Three ways to the same sums; chapter 23's `warp_reduce` counts what each asks of shared memory.
#[test]
fn sums_of_a_block_ask_shared_memory_as_often_as_they_say() {
    for (method, requests) in [(0, 45), (1, 9), (2, 9)] {
        let it = played("block_sums", &[("n", 65_536), ("method", method)]);
        assert_eq!(Metric::SharedRequests.of(&it.reports), f64::from(requests * 256), "method {method}");
        assert_eq!(Metric::SectorsPerLoad.of(&it.reports), 4.0);
    }
}

#[test]
fn every_width_copies() {
    for (width, sectors) in [(1, 1.0), (2, 2.0), (4, 4.0), (8, 8.0), (16, 16.0)] {
        let it = played("copy_width", &[("width_bytes", width), ("warps", 4), ("n_bytes", 1 << 16)]);
        assert_eq!(Metric::SectorsPerLoad.of(&it.reports), sectors, "{width} bytes");
    }
}

/// Chapter 13's brief, vector 3, for a record of 64 B: lanes apart touch 32 sectors, fields side by side 4; 16 bytes a lane
/// still touch 32, as each has a sector of its own. A scattered record is read whole, and each is read once: the sums are right.
#[test]
fn fields_of_a_record_touch_the_sectors_of_their_layout() {
    for (layout, scattered, n_read, sectors) in [
        (0, 0, 1, 32.0),
        (0, 0, 16, 32.0),
        (1, 0, 1, 4.0),
        (1, 0, 16, 4.0),
        (2, 0, 2, 4.0),
        (2, 0, 16, 4.0),
        (0, 1, 16, 32.0),
        (1, 1, 2, 32.0),
    ] {
        let params = [("n_records", 65_536), ("n_read", n_read), ("layout", layout), ("is_scattered", scattered)];
        let it = played("record_fields", &params);
        assert_eq!(Metric::SectorsPerLoad.of(&it.reports), sectors, "{params:?}");
    }
}

/// All three orders read every tile as often; 16 bytes a lane are 16 sectors a request.
#[test]
fn every_order_of_the_passes_reads_the_same() {
    for order in [0, 1, 2] {
        let it = played("loop_order", &[("footprint_bytes", 1 << 18), ("least_bytes", 0), ("order", order)]);
        let loads = it.reports.iter().map(|report| report.sum(Space::Global, Act::Load));
        assert_eq!(loads.map(|site| site.useful_bytes).sum::<u64>(), 8 << 18, "order {order}");
        assert_eq!(Metric::SectorsPerLoad.of(&it.reports), 16.0, "order {order}");
    }
}
