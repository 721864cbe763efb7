//! Every lesson, kernel and trace that the program brings, held to its own rules and to the models of today.

use std::collections::{BTreeMap, BTreeSet};
use vramlab_gpu::read::MAX_SECS;
use vramlab_gpu::verdict::{self, Counters, Verdict};
use vramlab_lesson::answer::{self, Values};
use vramlab_lesson::{Answer, Chapter, Form, Question, Registry as _, StepBody, SymbolSource, render};
use vramlab_shell::Library;
use vramlab_tests::{files, read};
use vramlab_trace::{Backend, OracleOutcome, Run, file};
use vramlab_units::{Lang, Localized};

/// The sum of what all recordings of one device may take, in seconds: one sitting.
const RECORD_SECS: f64 = 900.0;

fn chapter_files() -> Vec<(String, String)> {
    let paths = vramlab_content::list("lessons/").filter(|path| path.ends_with("/chapter.toml"));
    paths.map(|path| (path.to_owned(), vramlab_content::text(path).unwrap().to_owned())).collect()
}

fn id_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap()
}

/// Every question of a chapter, wherever it stands.
fn questions(chapter: &Chapter) -> impl Iterator<Item = &Question> {
    let in_steps = chapter.steps.iter().filter_map(|step| match &step.body {
        StepBody::Predict(predict) => Some(&predict.question),
        StepBody::Check(question) => Some(question),
        _ => None,
    });
    in_steps.chain(&chapter.reviews)
}

#[test]
fn every_chapter_checks_without_a_finding() {
    let library = Library::built_in();
    let chapters = chapter_files();
    assert!(chapters.iter().any(|(path, _)| id_of(path) == "02_access_patterns"));
    for (path, text) in &chapters {
        let parsed = vramlab_lesson::parse(id_of(path), path, text.as_bytes());
        let found = vramlab_lesson::check(&parsed, &library);
        assert!(found.is_empty(), "{}", found.iter().map(render).collect::<String>());
        let chapter = parsed.chapter.unwrap();
        assert!(chapter.steps.iter().all(|step| !matches!(step.body, StepBody::Broken { .. })), "{path}");
        assert_eq!(chapter.lang, None, "{path} carries both languages");
    }
}

#[test]
fn ten_planted_faults_get_ten_findings_from_the_real_registry() {
    let library = Library::built_in();
    let text = read("app/lesson/examples/ten_faults.toml");
    let parsed = vramlab_lesson::parse("ten_faults", "ten_faults.toml", text.as_bytes());
    let found = vramlab_lesson::check(&parsed, &library);
    let shown: String = found.iter().map(render).collect();
    // The planted ids belong to a small registry of the lesson crate; here they may be unknown for one more reason,
    // but every planted line is found, with its place and a caret.
    let marked: Vec<&str> = text
        .lines()
        .filter_map(|line| line.rsplit_once("# ")?.1.split_once(' ')?.0.parse::<u32>().ok().map(|_| line))
        .collect();
    assert_eq!(marked.len(), 10);
    assert!(found.len() >= 10, "{shown}");
    assert!(found.iter().all(|problem| problem.place.line > 0 && problem.place.column > 0), "{shown}");
    assert!(shown.matches('━').count() >= 10, "{shown}");
}

#[test]
fn numbers_are_asked_of_models_and_every_draw_has_an_answer() {
    let library = Library::built_in();
    let eval = |id: &str, set: &vramlab_units::Map| library.eval(id, set);
    let mut n_models = 0;
    for chapter in library.chapters() {
        for question in questions(chapter) {
            let Form::Number { answer, min, max, .. } = &question.form else { continue };
            if let Answer::Typed { source, .. } = answer {
                assert!(!source.trim().is_empty(), "{}: {} types a number without a source", chapter.id, question.id);
            } else {
                n_models += 1;
            }
            for n in 0..answer::n_draws(question).min(4_096) {
                let draw = answer::draw(question, n);
                let value = answer::value_of(answer, &draw, &eval);
                let value = value.unwrap_or_else(|error| panic!("{}: {} {draw:?}: {error}", chapter.id, question.id));
                assert!((*min..=*max).contains(&value), "{}: {value} lies off the ruler {min} to {max}", question.id);
            }
        }
    }
    assert!(n_models >= 10, "only {n_models} answers are computed");
}

#[test]
fn equations_evaluate_at_both_ends_of_every_slider() {
    let library = Library::built_in();
    let eval = |id: &str, set: &vramlab_units::Map| library.eval(id, set);
    let mut n = 0;
    for (chapter, step) in library.chapters().flat_map(|chapter| chapter.steps.iter().map(move |step| (chapter, step)))
    {
        let StepBody::Equation(equation) = &step.body else { continue };
        for symbol in &equation.symbols {
            let SymbolSource::Slider { min, max, start, .. } = &symbol.source else { continue };
            for at in [*min, *max, *start] {
                let sliders = Values::from([(symbol.name.clone(), at)]);
                let result = answer::evaluate(equation, &sliders, &eval);
                let result = result.unwrap_or_else(|error| panic!("{}/{}: {error}", chapter.id, step.id)).result;
                assert!(result.is_finite(), "{}/{}: {} = {at} gives {result}", chapter.id, step.id, symbol.name);
                n += 1;
            }
        }
    }
    assert!(n > 0);
}

#[test]
fn a_chapter_has_the_parts_that_every_chapter_has() {
    for chapter in Library::built_in().chapters() {
        let id = &chapter.id;
        let has = |wanted: fn(&StepBody) -> bool| chapter.steps.iter().any(|step| wanted(&step.body));
        assert!((8..=18).contains(&chapter.steps.len()), "{id}: {} steps", chapter.steps.len());
        assert!(has(|body| matches!(body, StepBody::Predict(_))), "{id} asks for no prediction");
        assert!(has(|body| matches!(body, StepBody::Visualizer(_))), "{id} shows no figure");
        assert!(has(|body| matches!(body, StepBody::Experiment(_))), "{id} measures nothing");
        assert!(has(|body| matches!(body, StepBody::Check(_))), "{id} checks nothing");
        assert!(!chapter.audits.is_empty() && !chapter.reviews.is_empty(), "{id} has no decks");
        let verdicts: BTreeSet<_> = chapter.audits.iter().map(|audit| audit.verdict).collect();
        assert!(verdicts.len() >= 3, "{id}: audits of {verdicts:?} only");
        assert!((25..=60).contains(&chapter.minutes), "{id}: {} minutes", chapter.minutes);
    }
}

#[test]
fn the_outline_lists_every_chapter_once() {
    let library = Library::built_in();
    let rows = library.search("");
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    assert!(ids.len() >= 30, "{} chapters are in the outline", ids.len());
    for id in library.chapter_ids() {
        assert!(unique.contains(id), "{id} is not in lessons/curriculum.toml");
    }
    assert!(rows.iter().filter(|row| row.is_written).count() == library.chapter_ids().len());
}

#[test]
fn kernels_have_no_problem_and_fit_one_sitting() {
    let library = Library::built_in();
    let problems: Vec<String> = library.kernels().problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let experiments = &library.kernels().experiments;
    for (id, experiment) in experiments {
        assert!(experiment.time_secs <= MAX_SECS, "{id}: {} s", experiment.time_secs);
        assert!(experiment.effect.at_least > 1.0, "{id} expects no effect");
        assert!(!experiment.effect.causes.is_empty(), "{id} names nothing that could hide its effect");
        for text in [&experiment.title, &experiment.effect.sentence, &experiment.measure.title] {
            assert!(text.zh.is_some() && text.en.is_some(), "{id}: {text:?} lacks a language");
        }
    }
    let total: f64 = experiments.values().map(|experiment| experiment.time_secs).sum();
    println!("all experiments, recorded: {total:.0} s");
    assert!(total <= RECORD_SECS, "recording everything takes {total} s");
}

#[test]
fn every_experiment_has_a_chapter_or_a_purpose() {
    // Experiments that belong to no step yet: references that tests and later chapters compare with.
    let bench = [
        "attention/time",
        "attention_f32/main",
        "batch_gemm_f32/main",
        "stream_copy/main",
        "stream_triad/main",
        "stream_read/main",
        "shared_banks/layout",
    ];
    let library = Library::built_in();
    for id in library.kernels().experiments.keys() {
        assert!(library.step_of(id).is_some() || bench.contains(&id.as_str()), "no chapter shows {id}");
    }
}

/// Runs of `assets/traces` with their paths.
fn traces() -> Vec<(&'static str, Run)> {
    let paths = vramlab_content::list("assets/traces/").filter(|path| path.ends_with(".vltrace"));
    paths
        .map(|path| {
            let bytes = vramlab_content::get(path).and_then(vramlab_content::Content::here).unwrap();
            let read = file::read(bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(read.problems.is_empty(), "{path}: {:?}", read.problems);
            (path, read.run)
        })
        .collect()
}

/// Right, and not recorded yet, with the reason. A chapter that shows one says so on its card until it is.
const UNRECORDED: &[(&str, &str)] = &[
    ("attention/time", "its longest point was refused on the day of the recording; mended since, not measured"),
    ("bias_gelu/size", NEXT),
    ("block_sums/size", NEXT),
    ("channel_layout/main", NEXT),
    ("copy_width/warps", NEXT),
    ("elementwise_chain/depth", NEXT),
    ("gemm_f32/ladder", NEXT),
    ("gemm_f32/traffic", NEXT),
    ("gemm_hopper/main", NEXT),
    ("gemm_hopper/order", NEXT),
    ("gemm_hopper/pairs", NEXT),
    ("gemm_hopper/stages", NEXT),
    ("gemm_mma/main", NEXT),
    ("gemm_mma/tiles", NEXT),
    ("grid_total/size", NEXT),
    ("launch_cost/count", NEXT),
    ("launch_cost/length", NEXT),
    ("launch_cost/size", NEXT),
    ("layer_norm_rows/columns", NEXT),
    ("layout_copy/main", NEXT),
    ("layout_copy/nhwc", NEXT),
    ("loop_order/footprint", NEXT),
    ("occupancy_truth/registers", NEXT),
    ("occupancy_truth/shared", NEXT),
    ("prefix_scan/size", NEXT),
    ("record_fields/fields", NEXT),
    ("record_fields/scattered", NEXT),
    ("resident_blocks/main", NEXT),
    ("softmax_rows/columns", NEXT),
    ("softmax_rows/size", NEXT),
    ("stencil_2d/radius", NEXT),
];
const NEXT: &str = "written since the last recording";

#[test]
fn every_experiment_on_a_gpu_is_recorded() {
    let recorded: BTreeSet<String> = traces().into_iter().map(|(_, run)| run.experiment).collect();
    let library = Library::built_in();
    let missing: Vec<&String> = library
        .kernels()
        .experiments
        .iter()
        .filter(|(id, experiment)| experiment.backend == Backend::Cuda && !recorded.contains(*id))
        .filter(|(id, _)| UNRECORDED.iter().all(|(known, _)| known != id))
        .map(|(id, _)| id)
        .collect();
    assert!(missing.is_empty(), "not recorded: {missing:?}");
    for (id, why) in UNRECORDED {
        assert!(!recorded.contains(*id), "{id} is recorded: take it off the list ({why})");
        assert!(library.experiment(id).is_some(), "{id} is no experiment: take it off the list");
    }
}

#[test]
fn recorded_traces_are_whole_checked_and_made_by_today_s_kernels() {
    let library = Library::built_in();
    for (path, run) in traces() {
        assert_eq!(library.kernels().is_current(&run), Some(true), "{path} is older than its kernel: record it again");
        assert_eq!(run.mode, "full", "{path}");
        assert!(run.backend != Backend::Fake && !run.device.name.is_empty() && !run.date.is_empty(), "{path}");
        let (experiment, _) = library.experiment(&run.experiment).unwrap();
        let n_points = experiment.series.len() * experiment.sweep.values.len();
        assert_eq!(run.points.len(), n_points, "{path}");
        for point in &run.points {
            assert!(matches!(point.oracle, Some(OracleOutcome::Passed { .. })), "{path}: {} unchecked", point.series);
            // A point that takes long on a processor ends with the samples it has, five at least.
            let least = if run.backend == Backend::Cpu { 5 } else { 20 };
            let n_samples = experiment.samples[1] as usize;
            assert!(point.samples_ns.len() >= n_samples.min(least), "{path}: {} samples", point.samples_ns.len());
        }
    }
}

/// A tenth, and a little: the peak that models start from is the published one, and a long stream reaches nine tenths.
const USUAL_ERROR: f64 = 0.12;

/// Series whose recorded medians lie further from today's prediction: how far at most, and why. Chapter 02 says the same
/// to the reader.
const STATED_ERROR: &[(&str, &str, f64, &str)] = &[
    ("strided_read/stride", "read", 0.50, "beyond stride 16 the measurement sinks below the model; the cause is open"),
    (
        "transpose/main",
        "tile",
        0.25,
        "the model takes the longer of DRAM and bank conflicts; they overlap only in part",
    ),
    ("transpose/main", "pad", 0.28, "the prediction is the floor by the published peak, reading and writing at once"),
    ("transpose/main", "swizzle", 0.28, "as the padded tile"),
    ("stream_copy/main", "wide", 0.18, "reading and writing in turn stays further below the published peak"),
    ("stream_copy/main", "wide512", 0.18, "as with blocks of 256"),
    ("stream_copy/main", "sparse", 0.40, "latency grows under load; the model holds it at 650 ns"),
    ("stream_triad/main", "sparse", 0.45, "latency grows under load; the model holds it at 650 ns"),
    ("stream_read/main", "sparse", 0.20, "latency grows under load; the model holds it at 650 ns"),
    ("stream_read/main", "wide", 0.16, "one load a thread does not fill the path"),
    ("stream_read/main", "wide512", 0.20, "one load a thread does not fill the path"),
    ("footprint/main", "read", 0.55, "1 MiB is met by many SMs at once; around the size of L2 the model is coarse"),
    ("footprint/main", "copy", 0.27, "the model is coarse around the size of L2"),
    ("footprint/main", "triad", 0.26, "the model is coarse around the size of L2"),
    ("in_flight/main", "w4u1", 0.15, "latency grows before the memory is full: the knee is round"),
    ("in_flight/main", "w4u2", 0.28, "as above"),
    ("in_flight/main", "w4u4", 0.30, "as above"),
    ("in_flight/main", "w8u1", 0.22, "as above"),
    ("in_flight/main", "w8u2", 0.27, "as above"),
    ("in_flight/main", "w8u4", 0.29, "as above"),
    ("in_flight/main", "w16u1", 0.26, "as above"),
    ("in_flight/main", "w16u2", 0.30, "as above"),
    ("in_flight/main", "w16u4", 0.33, "as above"),
    ("pointer_chase/main", "chase", 0.24, "the model is coarse where a level runs out"),
    ("intensity_ramp/main", "fma", 0.25, "at the knee memory and arithmetic overlap only in part"),
    ("batch_gemm/main", "bf16", 0.70, "mma.sync reaches 40 % of the data sheet on a Hopper, wgmma twice that"),
    ("batch_gemm/time", "rotated", 1.90, "as above, in time"),
    ("batch_gemm/time", "resident", 1.75, "as above, in time"),
    ("batch_gemm_f32/main", "f32", 0.65, "a plain kernel: shared memory sets its pace, not the adders"),
    (
        "cpu_stride/main",
        "read",
        1.10,
        "beyond a line no neighbour is fetched ahead: an access costs more than in sequence",
    ),
    ("cpu_aos_soa/main", "aos", 0.25, "a row is a line, and its neighbours are fetched ahead"),
    (
        "cpu_transpose/main",
        "naive",
        10.0,
        "544² fits the second cache, where the copy that it is held against runs fastest",
    ),
    ("cpu_transpose/main", "blocked", 2.00, "as above"),
    ("cpu_false_sharing/main", "atomic", 1.90, "a line on its way costs what the distance of the cores makes it cost"),
    ("cpu_footprint/main", "read", 0.65, "figures of a common core; the last cache of this machine is shared"),
    ("cpu_chase/main", "chase", 1.30, "figures of a common core; past 8 MiB each hop walks the page table too"),
    ("cpu_intensity/main", "fma", 0.30, "figures of a common core"),
    ("cpu_scaling/main", "all", 0.30, "the cores of a virtual machine are seldom all free at the same time"),
    ("cpu_alloc/main", "malloc", 0.35, "figures of a common processor; a page fault costs what the system makes of it"),
    ("cpu_alloc/main", "arena", 0.60, "64 blocks at distances of a power of two share few sets of each cache"),
    ("cpu_alloc/main", "pool", 0.60, "as above"),
    ("alloc_cost/main", "malloc", 0.40, "between 64 and 256 MiB the driver takes longer than a straight line says"),
    ("alloc_cost/main", "async_keep", 0.35, "the sync after each free takes a little longer for blocks of GiB"),
    ("alloc_cost/main", "async_free", 0.70, "the processor had not reached its clock when the first sizes were timed"),
    ("alloc_cost/beside_kernel", "async_free", 0.40, "after a wait of milliseconds the processor's calls are slower"),
    ("alloc_cost/beside_kernel", "own", 0.25, "as above"),
    (
        "alloc_policies/main",
        "training",
        0.20,
        "the driver's pool puts scattered free memory side by side by remapping it; the model does not",
    ),
    ("alloc_policies/main", "growing", 0.30, "as above"),
    ("casts/time", "hardware", 0.22, "reading and writing in turn stays further below the published peak"),
    ("casts/time", "software", 0.22, "as above"),
    (
        "keep_recompute_offload/main",
        "keep",
        0.55,
        "the dashed line is the published peak; near the knee one load a thread overlaps with no arithmetic",
    ),
    ("keep_recompute_offload/main", "recompute", 0.55, "as above"),
    ("keep_recompute_offload/main", "pageable", 0.20, "ordinary memory goes through the driver's own buffers"),
    (
        "attention/tiles",
        "d64",
        0.66,
        "the model counts two products; the exponentials and corrections between them take time too",
    ),
    ("attention/tiles", "d128", 0.40, "as above"),
    (
        "attention_f32/main",
        "d64",
        3.15,
        "the floor of the adders; a plain kernel, which fetches nothing ahead, reaches a quarter to a third of it",
    ),
    ("attention_f32/main", "d128", 2.50, "as above"),
    ("quant_gemv/size", "bf16", 0.21, "the floor of the bytes; a start of some µs, and DRAM reaches nine tenths"),
    ("quant_gemv/size", "int8", 0.30, "as above, and unpacking takes issue slots"),
    ("quant_gemv/size", "int4", 0.62, "as above: a quarter of the bytes, as many weights to unpack"),
    ("quant_gemv/size", "e4m3", 0.40, "as above"),
    ("quant_gemv/size", "mxfp4", 0.77, "as above: sign, exponent and scale of each pair are put together by hand"),
    ("quant_gemv/batch", "bf16", 0.72, "a plain kernel: x passes shared memory for each 32 rows of weights"),
    ("quant_gemv/batch", "int8", 1.20, "as above, and unpacking repeats for each 64 rows of the batch"),
    ("quant_gemv/batch", "int4", 1.40, "as above"),
    ("quant_gemv/fp8", "bf16", 0.72, "as above"),
    ("quant_gemv/fp8", "e4m3", 0.70, "as above; mma.sync converts e4m3 to fp16 on a Hopper"),
    ("sparse_24/main", "dense", 0.40, "as above"),
    ("sparse_24/main", "sparse", 1.65, "as above; mma.sp is not kept fed, so a large batch gains next to nothing"),
    ("topk_threshold/main", "histogram", 0.36, "counting in shared memory, and two small launches"),
    ("topk_threshold/main", "all", 0.86, "nine launches, and collecting meets in two counters"),
    ("decode_attention/paged", "contiguous", 0.20, "29 µs to start and end a launch; 12 warps an SM wait for tiles"),
    ("decode_attention/paged", "sequential", 0.28, "as above; below 16 tokens a block each row is looked up by itself"),
    ("decode_attention/paged", "random", 0.30, "as above"),
    ("decode_attention/lengths", "gib1", 0.27, "as above"),
    ("decode_attention/lengths", "gib2", 0.20, "as above"),
    ("decode_attention/heads", "shared", 2.00, "with one KV head two rounds of few blocks: latency, not bytes"),
    ("decode_attention/formats", "kv", 0.75, "conversions lengthen the loop that waits for memory"),
    ("batched_decode/columns", "bf16", 0.42, "a tile of 128 or 64 columns is computed whole"),
    ("decode_gemv/batch", "cores", 0.50, "beyond the knee loads, widening and arithmetic overlap only in part"),
    (
        "capstone/all",
        "step",
        0.30,
        "ordinary memory is copied at 6 to 9 GB/s from run to run; scattered halves nearly fit L2, and the model has none",
    ),
    ("capstone/orders", "launches_first", 0.15, "as above"),
    ("capstone/orders", "precision_first", 0.30, "as above"),
    (
        "methodology/habits",
        "small",
        0.35,
        "what each habit adds is a constant of one card; a kernel of 4 µs has a start",
    ),
    ("methodology/habits", "large", 0.15, "as above"),
    ("methodology/ranges", "ranges", 0.25, "the profiler's own work is no straight line"),
    ("cpu_small_training/time", "block", 0.40, "four small parts run faster than one large; the cause is open"),
    ("cpu_methodology/main", "sum", 0.25, "figures of a common core"),
    (
        "cpu_codecs/net",
        "zstd_split",
        0.25,
        "the largest 1 % of a gradient stand in clusters; the model's are scattered",
    ),
    ("cpu_codecs/net", "lz4_split", 0.60, "as above"),
    ("cpu_codecs/speed", "encode", 0.30, "figures of a common core"),
    (
        "cpu_ptq_qat/ledger",
        "net",
        0.25,
        "one seed beside the average of three; a net that is pruned and not tuned varies most",
    ),
    (
        "cpu_formats/main",
        "weights",
        0.60,
        "the model has normal values; weights that began evenly spread end at two or three σ",
    ),
];

/// Effects that do not show on the recorded card, on purpose: the chapter explains what hides them.
const HIDDEN: &[(&str, &str)] = &[
    ("strided_read/one_load", "too few bytes in flight to fill DRAM, so a second sector travels for nothing"),
    ("strided_read/offset", "the fifth sector of a warp is the first of the next, fetched once for both"),
];

fn stated_error(experiment: &str, series: &str) -> f64 {
    let row = STATED_ERROR.iter().find(|(id, of, ..)| *id == experiment && *of == series);
    row.map_or(USUAL_ERROR, |row| row.2)
}

#[test]
fn recorded_runs_agree_with_the_models_of_today() {
    let library = Library::built_in();
    let mut wrong = Vec::new();
    for (path, run) in traces() {
        let id = run.experiment.as_str();
        let (experiment, kernel) = library.experiment(id).unwrap();
        let judged = verdict::judge(&run, experiment, kernel);
        if let Counters::Differ { n_wrong, n_checked } = judged.counters {
            wrong.push(format!("{path}: {n_wrong} of {n_checked} counters differ from the model"));
        }
        if run.backend == Backend::Cuda && !experiment.counters.is_empty() && judged.counters == Counters::NotRead {
            wrong.push(format!("{path}: no counter was read ({})", run.counter_rung));
        }
        let is_hidden = HIDDEN.iter().any(|(hidden, _)| *hidden == id);
        let word = judged.verdict.id();
        if word != if is_hidden { "hidden" } else { "shown" } {
            wrong.push(format!("{path}: the effect is {word}"));
        }
        if let Verdict::Hidden { cause: None, .. } = judged.verdict {
            wrong.push(format!("{path}: the effect is hidden and no cause applies"));
        }
        let mut worst = (String::new(), 0.0_f64);
        for point in &judged.points {
            let place = format!("{}@{}", point.series, point.x.unwrap_or_default());
            if let Some(invalid) = &point.invalid {
                wrong.push(format!("{path}: {place} is invalid: {invalid:?}"));
            }
            let error = point.rel_error.unwrap_or_default();
            if !is_hidden && error.abs() > stated_error(id, &point.series) {
                wrong.push(format!("{path}: {place} lies {:+.1} % from its prediction", error * 100.0));
            }
            if error.abs() > worst.1.abs() {
                worst = (place, error);
            }
        }
        println!("{id:<24} {word}, worst {:+.1} % at {}", worst.1 * 100.0, worst.0);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lists above name what exists, and state no more than is needed: a bound that half would do is out of date.
#[test]
fn stated_errors_are_needed() {
    let library = Library::built_in();
    let runs = traces();
    for (id, series, bound, why) in STATED_ERROR {
        assert!(!why.is_empty());
        let (experiment, kernel) =
            library.experiment(id).unwrap_or_else(|| panic!("{id} is stated and does not exist"));
        let mine = runs.iter().filter(|(_, run)| run.experiment == *id);
        let judged = mine.flat_map(|(_, run)| verdict::judge(run, experiment, kernel).points);
        let errors = judged.filter(|point| point.series == *series).filter_map(|point| point.rel_error);
        let worst = errors.fold(0.0, |worst: f64, error| worst.max(error.abs()));
        assert!(worst > bound / 2.0, "{id} {series}: {worst:.2} is measured, {bound} is stated");
    }
    assert!(HIDDEN.iter().all(|(id, why)| library.experiment(id).is_some() && !why.is_empty()));
}

/// The sample of the first version.
pub fn sample() -> (&'static str, Run) {
    let path = "tests/data/traces/v1-sample.vltrace";
    let bytes = std::fs::read(vramlab_tests::root().join(path)).unwrap();
    (path, file::read(&bytes).unwrap().run)
}

#[test]
fn the_old_sample_opens() {
    for path in files("tests/data/traces", ".vltrace") {
        let bytes = std::fs::read(vramlab_tests::root().join(&path)).unwrap();
        let read = file::read(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(read.problems.is_empty() && !read.run.points.is_empty(), "{path}");
        let wanted: u16 = path.rsplit('/').next().unwrap()[1..].split('-').next().unwrap().parse().unwrap();
        assert_eq!(read.version, wanted, "{path}");
    }
    assert!(!files("tests/data/traces", ".vltrace").is_empty());
}

/// Every character that a reader may see and no font of ours can draw, with where it stands.
fn undrawn(text: &str, place: &str, out: &mut BTreeMap<char, String>) {
    for c in text.chars().filter(|c| !vramlab_kit::fonts::has_glyph(*c)) {
        out.entry(c).or_insert_with(|| place.to_owned());
    }
}

/// L11: built-in texts, the interface's among them, have a glyph for every character.
#[test]
fn l11_no_tofu_in_lessons_kernels_and_interface() {
    let mut found = BTreeMap::new();
    for tree in ["lessons/", "kernels/"] {
        for path in vramlab_content::list(tree).filter(|path| path.ends_with(".toml")) {
            undrawn(vramlab_content::text(path).unwrap(), path, &mut found);
        }
    }
    let crates = ["app/units/src", "app/model/src", "app/trace/src", "app/lesson/src", "app/gpu/src", "app/views/src"];
    for path in crates
        .iter()
        .chain(&["app/kit/src", "app/shell/src", "app/desktop/src", "web/src"])
        .flat_map(|dir| files(dir, ".rs"))
    {
        let is_test = path.contains("test") || path.contains("/gallery");
        let text = read(&path);
        if !is_test {
            undrawn(&strings(vramlab_tests::without_tests(&text)), &path, &mut found);
        }
    }
    assert!(found.is_empty(), "no font draws {found:?}");
}

/// The contents of string literals only: comments never reach the screen.
fn strings(text: &str) -> String {
    let code = |line: &str| {
        let mut out = String::new();
        let parts: Vec<&str> = line.split('"').collect();
        for part in parts.iter().skip(1).step_by(2) {
            out.push_str(part);
        }
        out
    };
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(code).collect::<Vec<_>>().join("\n")
}

#[test]
fn both_languages_are_there_and_written_for_themselves() {
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let half_width = [",", "!", "?", ";"];
    for chapter in Library::built_in().chapters() {
        let check = |text: &Localized, what: &str| {
            let (zh, en) = (text.exact(Lang::Zh).unwrap_or_default(), text.exact(Lang::En).unwrap_or_default());
            assert!(zh.is_empty() == en.is_empty(), "{}: {what} lacks a language", chapter.id);
            assert!(!is_chinese(en), "{}: {what} has Chinese in its English: {en}", chapter.id);
            // A half-width mark right after a Chinese character is a slip of the keyboard.
            let mut n_open = 0_i32; // in `min(长度, 64)` the comma belongs to the formula
            for (before, after) in zh.chars().zip(zh.chars().skip(1)) {
                n_open += i32::from(before == '(') - i32::from(before == ')');
                let is_mark = half_width.contains(&after.to_string().as_str());
                let is_slip = is_mark && n_open == 0 && is_chinese(&before.to_string());
                assert!(!is_slip, "{}: {what}: \"{before}{after}\" in {zh}", chapter.id);
            }
        };
        for (text, what) in [(&chapter.title, "title"), (&chapter.subtitle, "subtitle"), (&chapter.outcome, "outcome")]
        {
            check(text, what);
        }
        for step in &chapter.steps {
            check(&step.title, &step.id);
            if let StepBody::Prose { text } = &step.body {
                check(text, &step.id);
            }
        }
        for question in questions(chapter) {
            check(&question.ask, &question.id);
            check(&question.explain, &question.id);
        }
        for audit in &chapter.audits {
            check(&audit.claim, &audit.id);
            check(&audit.why, &audit.id);
        }
    }
}
