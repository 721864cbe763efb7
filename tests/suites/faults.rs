//! The list of what must not break, each case with the test that covers it, or with the reason why none does.
//!
//! The cases: L lessons and packs, T traces, H configurations and headers, R the runner, P storage, B the browser. A case is covered by a test whose
//! name begins with its code (`l1_…`), or that names the code in the lines above or inside it. The table is checked
//! against the sources, so a test that is renamed or removed leaves a hole that this suite reports.

use std::collections::BTreeMap;
use vramlab_tests::{files, read};

/// How many cases each group has.
const GROUPS: &[(&str, usize)] = &[("L", 12), ("T", 7), ("H", 5), ("R", 16), ("P", 8), ("B", 10)];

const LESSON: &str = "app/lesson/tests/lesson_cases.rs";
const FILE: &str = "app/trace/src/file/tests.rs";
const FAULTS: &str = "app/gpu/tests/runner/faults.rs";
const LIFE: &str = "app/gpu/tests/runner/life.rs";
const HEADERS: &str = "app/modelfile/tests/suite/faults.rs";
const STORE: &str = "app/lesson/src/progress/store_tests.rs";
const MERGE: &str = "app/lesson/src/progress/merge.rs";
const SCHEDULE: &str = "app/lesson/src/schedule_tests.rs";
const DUE: &str = "app/lesson/src/due.rs";
const SAVER: &str = "app/lesson/src/progress/saver.rs";
const BROWSER: &str = "tests/browser/faults.mjs";
const PACKS: &str = "tests/suites/pages/files.rs";
const GUIDE: &str = "tests/suites/pages/guide.rs";
const HOSTILE: &str = "app/snapshot/tests/hostile.rs";
const PARTS: &str = "app/snapshot/tests/parts.rs";
const FLOWS: &str = "tests/suites/pages/flows.rs";

/// Case, file, and the test's name: a function in Rust, the beginning of a step in the browser's walk.
const COVERED: &[(&str, &str, &str)] = &[
    ("L1", LESSON, "l1_a_syntax_error_on_line_41_leaves_the_other_steps_open"),
    ("L1", LESSON, "l1_one_broken_chapter_leaves_the_others_of_its_pack"),
    ("L1", PACKS, "l1_a_watched_folder_keeps_the_last_good_chapter"),
    ("L2", LESSON, "l2_all_unknown_names_of_a_file_are_reported_in_one_go"),
    ("L2", "app/gpu/src/read/tests.rs", "l2_all_problems_of_a_file_come_at_once"),
    ("L3", LESSON, "l3_the_version_is_read_before_anything_else"),
    ("L4", LESSON, "l4_a_missing_language_is_found_and_the_other_one_shown"),
    ("L5", LESSON, "l5_numbers_without_unit_and_mixed_units"),
    ("L6", LESSON, "l6_an_answer_that_differs_from_the_model_shows_both_values"),
    ("L6", LESSON, "l6_every_redraw_and_every_slider_position_is_asked"),
    ("L7", LESSON, "l7_bounds_and_encodings"),
    ("L7", LESSON, "l7_no_large_file_takes_long_or_reports_without_end"),
    ("L7", LESSON, "l7_bom_and_crlf_are_accepted"),
    ("L7", LESSON, "l7_bidirectional_controls_are_flagged"),
    ("L7", LESSON, "l7_markdown_is_bounded"),
    ("L8", LESSON, "l8_pictures_and_links_stay_in_the_pack"),
    ("L8", LESSON, "l8_names_that_leave_the_pack_are_refused"),
    ("L9", LESSON, "l9_two_chapters_with_one_id_are_both_named"),
    ("L9", LESSON, "l9_empty_packs_and_folders_without_a_chapter"),
    ("L10", "tests/suites/watching.rs", "l10_a_file_replaced_while_it_is_read_is_never_half_a_chapter"),
    ("L11", LESSON, "l11_a_character_without_glyph_is_found_once"),
    ("L11", "tests/suites/content.rs", "l11_no_tofu_in_lessons_kernels_and_interface"),
    ("L12", LESSON, "l12_parameters_out_of_range_name_the_range"),
    ("L12", PACKS, "l12_parameters_of_a_link_out_of_range_are_refused_with_the_range"),
    ("T1", FILE, "t1_every_prefix_gives_all_whole_blocks_and_says_where_it_ends"),
    ("T1", PACKS, "t1_a_cut_trace_says_so_on_the_page"),
    ("T2", FILE, "t2_every_flipped_byte_is_named_and_costs_one_block"),
    ("T3", FILE, "t3_what_is_no_trace_is_called_what_it_is"),
    ("T3", PACKS, "t3_other_files_are_named_and_refused"),
    ("T4", FILE, "t4_a_version_from_the_future_says_so_and_the_first_one_opens"),
    ("T5", FILE, "t5_odd_durations_are_counted_and_left_out"),
    ("T6", FILE, "t6_bombs_stop_at_the_cap"),
    ("T7", "app/gpu/src/verdict/tests.rs", "t7_a_device_that_tells_nothing_is_shown_without_prediction"),
    ("H1", HEADERS, "h1_nested_parts_nulls_old_names_and_missing_kv_heads_are_resolved_in_sight"),
    ("H2", HEADERS, "h2_unknown_types_mixed_layers_and_latent_attention_without_ranks_ask_for_numbers"),
    ("H3", HEADERS, "h3_numbers_out_of_range_are_refused_at_their_field"),
    ("H4", HEADERS, "h4_what_is_saved_in_the_place_of_a_config_is_called_what_it_is"),
    ("H5", HEADERS, "h5_headers_that_lie_are_refused_and_unknown_formats_counted_by_what_is_known"),
    ("S1", HOSTILE, "s1_a_class_is_refused_with_its_name_and_place"),
    ("S2", HOSTILE, "s2_protocols_0_to_5"),
    ("S2", PARTS, "s2_a_cycle_is_named"),
    ("S3", HOSTILE, "s3_small_files_that_want_to_be_large"),
    ("S3", HOSTILE, "s3_a_bomb_stops_at_the_limit"),
    ("S4", PARTS, "s4_reading_is_watched_and_can_be_cancelled"),
    ("S4", PARTS, "s4_241_384_events_are_read_and_a_part_of_them_says_so"),
    ("S5", "tests/suites/cli/snapshot.rs", "s5_a_checkpoint_is_called_one_and_recording_is_taught"),
    ("S6", HOSTILE, "s6_older_and_newer_files_are_read_and_what_is_unknown_is_listed"),
    ("S6", PARTS, "s6_files_without_history_open_with_what_is_missing"),
    ("S7", HOSTILE, "s7_frees_without_an_alloc_are_counted"),
    ("R1", FAULTS, "r1_to_r3_what_is_missing_is_a_value_that_says_what_to_do"),
    ("R1", "app/gpu/src/backend/cuda/errors.rs", "start_up_states_have_their_own_sentences"),
    ("R1", FLOWS, "r1_a_missing_back_end_is_a_reason_and_not_a_hidden_button"),
    ("R2", "app/gpu/src/backend/cuda/errors.rs", "start_up_states_have_their_own_sentences"),
    ("R2", "app/desktop/src/cli/doctor/gpu.rs", "versions_together"),
    ("R3", "app/gpu/src/backend/cuda/guard.rs", "a_panic_of_the_binding_is_a_value"),
    ("R3", "app/desktop/src/cli/doctor/gpu.rs", "versions_together"),
    ("R4", FAULTS, "r4_a_compile_error_carries_log_and_options_and_the_child_lives_on"),
    ("R4", "app/gpu/tests/nvrtc.rs", "a_mistake_is_told_with_its_line"),
    ("R5", FAULTS, "r5_a_lost_context_names_code_and_kernel_and_a_new_child_serves_the_next_run"),
    ("R5", FAULTS, "r5_each_lost_context_gets_a_new_child_while_the_window_polls"),
    ("R6", FAULTS, "r6_an_endless_kernel_is_ended_at_its_deadline"),
    ("R7", FAULTS, "r7_out_of_memory_tells_asked_free_and_total_and_the_child_lives_on"),
    ("R7", FAULTS, "r7_a_plan_over_the_budget_is_refused_before_it_allocates"),
    ("R8", FAULTS, "r8_an_exit_is_reported_as_the_value_it_was"),
    ("R8", FAULTS, "r8_what_is_not_the_protocol_is_quoted_with_its_first_bytes"),
    ("R8", FAULTS, "r8_a_child_that_stands_still_or_never_speaks_is_ended"),
    ("R8", FAULTS, "r8_answers_for_a_cancelled_job_are_not_taken_for_the_next_one"),
    ("R8", LIFE, "r8_a_busy_child_that_the_system_kills_is_reported_with_the_signal"),
    ("R8", "app/gpu/src/wire.rs", "r8_an_endless_line_stops_at_the_cap_with_bounded_memory"),
    ("R9", LIFE, "r9_three_crashes_turn_the_runner_off_until_it_is_reset"),
    ("R9", LIFE, "r9_a_crash_leaves_no_core_file"),
    ("R10", LIFE, "r10_a_child_whose_parent_is_gone_leaves_within_a_second_even_from_an_endless_kernel"),
    ("R10", LIFE, "r10_a_window_that_closes_takes_its_child_along"),
    ("R11", FAULTS, "r11_a_gpu_that_another_program_has_is_named_and_the_next_try_asks_again"),
    ("R11", FAULTS, "r11_a_shared_gpu_is_told_with_the_progress"),
    ("R12", FAULTS, "r12_a_lost_gpu_costs_the_run_and_not_the_window"),
    ("R13", "app/gpu/src/backend/cuda/nvml.rs", "missing_sensors_answer_nothing"),
    ("R14", FAULTS, "r14_a_wrong_result_arrives_marked_with_its_first_wrong_index"),
    ("R14", "app/gpu/src/verdict/tests.rs", "r14_wrong_and_unchecked_results_are_not_measurements"),
    ("R15", "app/gpu/src/verdict/tests.rs", "r15_a_hidden_effect_names_the_first_cause_that_applies"),
    ("R16", FAULTS, "r16_another_protocol_version_asks_for_a_restart"),
    ("R16", FAULTS, "r16_a_program_that_moved_away_says_so"),
    ("P1", STORE, "p1_a_damaged_file_is_set_aside_and_the_last_good_copy_loaded"),
    ("P1", STORE, "p1_every_prefix_of_the_file_is_noticed"),
    ("P2", STORE, "p2_a_read_only_disk_leaves_the_session_in_memory"),
    ("P2", FLOWS, "p2_a_disk_that_takes_nothing_is_said_with_a_way_out"),
    ("P3", STORE, "p3_after_any_single_failure_the_old_document_is_intact_and_the_next_try_saves"),
    ("P3", SAVER, "p2_p3_failures_back_off_and_stay_visible"),
    ("P4", STORE, "p4_after_a_power_cut_at_any_operation_the_old_or_the_new_document_is_there"),
    ("P5", MERGE, "p5_done_beats_not_done_and_the_later_answer_wins"),
    ("P5", STORE, "p5_two_windows_lose_nothing"),
    ("P5", SCHEDULE, "p5_two_windows_keep_both_reviews"),
    ("P6", MERGE, "p6_order_is_the_counter"),
    ("P6", SCHEDULE, "p6_a_clock_that_jumps_neither_loses_a_question_nor_breaks_a_number"),
    ("P7", MERGE, "p7_unknown_ids_and_fields_are_kept"),
    ("P7", DUE, "p7_questions_that_are_gone_are_not_due_and_not_lost"),
    ("P8", SAVER, "p8_an_answer_is_due_within_two_seconds"),
    ("P8", FLOWS, "p8_answers_settings_and_place_are_there_in_the_next_window"),
    ("B1", BROWSER, "B1: without WebGL 2 there is a sentence and the text version"),
    ("B1", BROWSER, "B1: a lost canvas comes back at the same place"),
    ("B2", "web/src/cabinet.rs", "b2_a_blocked_store_is_told_once_and_the_visit_goes_on_in_memory"),
    ("B2", BROWSER, "B2: blocked storage is told once"),
    ("B3", BROWSER, "B3: after the first visit the page opens without a network"),
    ("B3", BROWSER, "B3: a page whose files are gone reloads once"),
    ("B4", BROWSER, "B4: of a file that is too large only the size is looked at"),
    ("B5", PARTS, "b5_a_file_that_needs_more_memory_than_is_allowed_is_an_error_with_the_need"),
    ("B6", BROWSER, "B6: a panic is told in words"),
    ("B7", FLOWS, "b7_a_long_sleep_makes_no_storm"),
    ("B8", BROWSER, "B8: at 320 px the page is one column"),
    ("B8", "tests/suites/pages/looks.rs", "b8_nothing_lies_beside_a_narrow_page"),
    ("B8", GUIDE, "every_page_fits_a_phone_and_has_names"),
    ("B9", BROWSER, "B9: a server that sends the program as text is named"),
    ("B9", BROWSER, "B9: a policy that forbids WebAssembly is named"),
    ("B10", BROWSER, "B10: an old bookmark leads to the nearest chapter"),
    ("B10", PACKS, "b10_old_bookmarks_lead_to_the_nearest_place"),
    ("B10", GUIDE, "old_addresses_of_the_guide_lead_to_the_nearest_place"),
];

/// Cases without a test of their own, with the reason.
const REASONS: &[(&str, &str)] = &[];

/// `L1` as a word, so that `L12` does not count for it.
fn names(text: &str, case: &str) -> bool {
    text.match_indices(case).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + case.len()..].chars().next();
        !before.is_some_and(|c| c.is_ascii_alphanumeric()) && !after.is_some_and(|c| c.is_ascii_alphanumeric())
    })
}

/// Whether `name` in `text` is a test that stands for `case`.
fn stands_for(text: &str, name: &str, case: &str) -> Result<(), String> {
    if !name.contains(' ') {
        let Some(at) = text.find(&format!("fn {name}(")) else { return Err(format!("there is no fn {name}")) };
        let above: Vec<&str> = text[..at].lines().rev().take(6).collect();
        let is_test = above.iter().any(|line| line.contains("#[test]")) || text.contains("proptest!");
        let code = case.to_ascii_lowercase();
        let is_named = name.split('_').any(|part| part == code)
            || in_range(name, case)
            || above.iter().any(|line| names(line, case))
            || text[at..].lines().take(12).any(|line| names(line, case));
        return match (is_test, is_named) {
            (true, true) => Ok(()),
            (false, _) => Err(format!("{name} is no test")),
            (_, false) => Err(format!("{name} does not name {case}")),
        };
    }
    if text.contains(&format!("\"{name}")) { Ok(()) } else { Err(format!("there is no step \"{name}…\"")) }
}

/// `r1_to_r3_…` names R2 too.
fn in_range(name: &str, case: &str) -> bool {
    let number = |text: &str| text.get(1..).and_then(|digits| digits.parse::<u32>().ok());
    let parts: Vec<&str> = name.split('_').take(3).collect();
    match (parts.as_slice(), number(case)) {
        ([from, "to", to], Some(n)) => number(from).zip(number(to)).is_some_and(|(from, to)| (from..=to).contains(&n)),
        _ => false,
    }
}

#[test]
fn every_case_has_its_test_or_its_reason() {
    let mut texts = BTreeMap::new();
    let mut holes = Vec::new();
    for (case, file, name) in COVERED {
        let text = texts.entry(*file).or_insert_with(|| read(file));
        if let Err(why) = stands_for(text, name, case) {
            holes.push(format!("{case}: {why} in {file}"));
        }
    }
    for (group, n) in GROUPS {
        for case in (1..=*n).map(|number| format!("{group}{number}")) {
            let is_covered = COVERED.iter().any(|(known, ..)| *known == case);
            let reason = REASONS.iter().find(|(known, _)| *known == case);
            match (is_covered, reason) {
                (false, None) => holes.push(format!("{case} has neither a test nor a reason")),
                (true, Some(_)) => holes.push(format!("{case} has a test and a reason why it has none")),
                (false, Some((_, why))) => println!("{case} has no test: {why}"),
                (true, None) => {}
            }
        }
    }
    assert!(holes.is_empty(), "{}", holes.join("\n"));
}

#[test]
fn the_table_itself_is_checked() {
    let text = "/// R3: x\n#[test]\nfn a_value() {}\n\n#[test]\nfn l1_x() {}\n";
    assert!(stands_for(text, "a_value", "R3").is_ok());
    assert!(stands_for(text, "l1_x", "L1").is_ok());
    assert!(stands_for(text, "l1_x", "L12").is_err());
    assert!(stands_for(text, "gone", "L1").is_err());
    assert!(stands_for("#[test]\nfn r1_to_r3_x() {}", "r1_to_r3_x", "R2").is_ok());
    assert!(stands_for("#[test]\nfn r1_to_r3_x() {}", "r1_to_r3_x", "R4").is_err());
    assert!(stands_for("check(\"B1: a lost", "B1: a lost", "B1").is_ok());
}

/// Tests that carry a case's code and stand in no row are not wrong, but worth seeing.
#[test]
fn tests_with_a_code_are_listed() {
    let mut n = 0;
    for path in ["app", "web", "tests"].iter().flat_map(|tree| files(tree, ".rs")) {
        for line in read(&path).lines().filter(|line| line.trim_start().starts_with("fn ")) {
            let name = line.trim_start().trim_start_matches("fn ").split('(').next().unwrap_or_default();
            let code = name.split('_').next().unwrap_or_default().to_ascii_uppercase();
            let is_case = GROUPS.iter().any(|(group, most)| {
                code.strip_prefix(group).and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| (1..=*most).contains(&n))
            });
            if is_case {
                n += 1;
                if !COVERED.iter().any(|(_, _, known)| *known == name) {
                    println!("{name} in {path} is not in the table");
                }
            }
        }
    }
    assert!(n >= 60, "only {n} tests carry a code");
}
