//! What is wrong with a kernel is said with its line; nothing panics, nothing hangs.

use vramlab_simt::fault::{Fault, Kind};
use vramlab_simt::{Act, Arg, Buffer, Launch, Report, Space, read, run};

/// Plays a kernel `k(float* a, unsigned n)` over 64 floats with one block of 64 threads.
fn play(body: &str) -> Result<(Report, Vec<f32>), Fault> {
    let source = format!("extern \"C\" __global__ void k(float* a, unsigned n) {{\n{body}\n}}\n");
    whole(&source)
}

fn whole(source: &str) -> Result<(Report, Vec<f32>), Fault> {
    let program = read(source, &[])?;
    let mut buffers =
        [Buffer { name: "a".to_owned(), bytes: (0..64).flat_map(|at| (at as f32).to_le_bytes()).collect() }];
    let args = [Arg::Buffer(0), Arg::Bits(64)];
    let launch =
        Launch { entry: "k", grid: [1, 1, 1], block: [64, 1, 1], shared_bytes: 256, args: &args, budget: 1_000_000 };
    let report = run(&program, &launch, &mut buffers)?;
    let out = buffers[0].bytes.chunks(4).map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    Ok((report, out))
}

#[track_caller]
fn fails(body: &str, kind: Kind, line: u32, said: &str) {
    let fault = play(body).map(|(report, _)| report).expect_err("it was played");
    let text = fault.to_string();
    assert_eq!((fault.kind, fault.at.line), (kind, line), "{text}");
    assert!(text.contains(said), "{text}");
    assert!(fault.said.zh.as_ref().is_some_and(|zh| !zh.is_empty()));
}

#[test]
fn what_is_not_c() {
    fails("a[0] = 1.0f", Kind::Syntax, 3, "expected ;");
    fails("a[0] = (1.0f;", Kind::Syntax, 2, "expected ), found ;");
    fails("if (n > 3 {", Kind::Syntax, 2, "expected )");
    fails("a[0] = 08z;", Kind::Syntax, 2, "not a number");
    fails("/* never closed", Kind::Syntax, 2, "no closing */");
    fails("a[0] = 'x';", Kind::Syntax, 2, "does not belong here");
    fails("{", Kind::Syntax, 3, "no closing }");
}

#[test]
fn what_makes_no_sense() {
    fails("a[0] = b;", Kind::Meaning, 2, "nothing is named b");
    fails("a[0] = a;", Kind::Meaning, 2, "float* is not float");
    fails("n.x = 1;", Kind::Meaning, 2, "unsigned has no .x");
    fails("int v[n];", Kind::Meaning, 2, "not known when compiling");
    fails("a[0] = 1 % 2.0f;", Kind::Meaning, 2, "float has no such operation");
    fails("int v[4]; v[4] = 1;", Kind::Meaning, 2, "outside 0…3");
    fails("3 = n;", Kind::Meaning, 2, "cannot be assigned");
    fails("a[0] = fmaf(1.0f, 2.0f);", Kind::Meaning, 2, "takes 3 arguments, 2 were given");
    fails("a[0] = 1 / (threadIdx.x - 3);", Kind::Meaning, 2, "thread 3 divides by zero");
}

#[test]
fn what_only_a_gpu_runs() {
    fails("asm volatile(\"nop;\");", Kind::Unsupported, 2, "inline assembly");
    fails("__half h;", Kind::Unsupported, 2, "__half");
    fails("switch (n) {}", Kind::Unsupported, 2, "switch");
    fails("struct S { int x; };", Kind::Unsupported, 2, "struct");
}

/// What only a GPU runs spoils the functions that reach it, and no other: a source may hold several kernels.
#[test]
fn what_is_not_called_is_not_missed() {
    let source = |call: &str| {
        format!(
            "__device__ void copy(float* to) {{\n__shared__ float big[60000];\nif (to) {{ asm volatile(\"nop;\"); }}\n}}\n\
             extern \"C\" __global__ void fast(float* a, unsigned n) {{ copy(a); }}\n\
             extern \"C\" __global__ void k(float* a, unsigned n) {{ a[threadIdx.x] = 2.0f; {call} }}\n"
        )
    };
    let (_, out) = whole(&source("")).expect("k is played");
    assert_eq!(out, [2.0; 64]);
    let fault = whole(&source("copy(a);")).map(|(report, _)| report).expect_err("copy was played");
    assert_eq!((fault.kind, fault.at.line), (Kind::Unsupported, 3), "{fault}");
}

#[test]
fn addresses() {
    fails("a[threadIdx.x + 1] = 0.0f;", Kind::Address, 2, "thread 63 accesses 4 B at byte 256 of a, which has 256 B");
    fails("a[(int)threadIdx.x - 1] = 0.0f;", Kind::Address, 2, "thread 0 accesses 4 B at byte -4 of a");
    fails("((float4*)(a + 1))[0] = make_float4(0, 0, 0, 0);", Kind::Address, 2, "address 4 is no multiple of 16");
    fails(
        "__shared__ float t[32];\nt[threadIdx.x + 96] = 0.0f;",
        Kind::Address,
        3,
        "of shared memory, which has 384 B",
    );
    fails("float v[4];\nv[threadIdx.x] = 1.0f;", Kind::Address, 3, "thread 4 uses index 4 of an array of 4");
    fails("float* p = nullptr;\n*p = 1.0f;", Kind::Address, 3, "null pointer");
}

#[test]
fn barriers_and_endless_loops() {
    fails("if (threadIdx.x < 32) {\n__syncthreads();\n}", Kind::Barrier, 3, "thread 32 never reaches");
    fails("while (true) {}", Kind::Budget, 2, "endless");
    fails("for (;;) { a[0] = 1.0f; }", Kind::Budget, 2, "endless");
    // Who has left the kernel is not waited for.
    assert!(play("if (threadIdx.x >= 32) return;\n__syncthreads();").is_ok());
    let deep = "extern \"C\" __global__ void k(float* a, unsigned n) { a[0] = f(n); }";
    let loops = format!("__device__ float f(unsigned n) {{ return f(n + 1); }}\n{deep}");
    assert_eq!(whole(&loops).unwrap_err().kind, Kind::Budget);
}

/// A missing barrier changes nothing when all threads go in step, so it is found by who touched what.
#[test]
fn a_missing_barrier_is_a_race() {
    let body = |barrier: &str| {
        format!(
            "__shared__ float t[64];\nt[threadIdx.x] = a[threadIdx.x];\n{barrier}\na[threadIdx.x] = t[63 - threadIdx.x];"
        )
    };
    let (report, out) = play(&body("__syncthreads();")).unwrap();
    assert!(report.races.is_empty() && report.barriers == 1);
    assert_eq!((out[0], out[63]), (63.0, 0.0));
    let (report, _) = play(&body("")).unwrap();
    let lines: Vec<(u32, u32)> = report.races.iter().map(|race| (race.first.line, race.second.line)).collect();
    assert_eq!(lines, [(3, 5)]);
    let (report, _) = play("__shared__ float t[64];\na[threadIdx.x] = t[threadIdx.x];").unwrap();
    assert_eq!(report.unwritten.iter().map(|at| at.line).collect::<Vec<_>>(), [3]);
}

/// Loops, early exits and short circuits, thread by thread, against the same in Rust.
#[test]
fn every_thread_goes_its_own_way() {
    let body = "
        unsigned i = threadIdx.x;
        float sum = 0.0f;
        for (unsigned k = 0; k < 20; ++k) {
            if (k == i) continue;
            if (k > i + 7 || (i % 5 == 0 && k > 9)) break;
            sum += k & 1 ? (int)(k * 2) : -(int)k;
        }
        int w = 3;
        do { sum += w; } while (--w > (int)(i % 3));
        a[i] = i > 60 ? sum++ : (sum -= 0.5f, sum);
        if (i == 62) return;
        a[i] += 1;";
    let (report, out) = play(body).unwrap();
    for i in 0..64_u32 {
        let mut sum = 0.0_f32;
        for k in 0..20_u32 {
            if k == i {
                continue;
            }
            if k > i + 7 || (i % 5 == 0 && k > 9) {
                break;
            }
            sum += if k & 1 == 1 { (k * 2) as f32 } else { -(k as f32) };
        }
        let mut w = 3;
        loop {
            sum += w as f32;
            w -= 1;
            if w <= (i % 3) as i32 {
                break;
            }
        }
        let kept = if i > 60 { sum } else { sum - 0.5 };
        assert_eq!(out[i as usize], if i == 62 { kept } else { kept + 1.0 }, "thread {i}");
    }
    assert!(report.divergent > 0);
}

/// A warp's functions against their definitions in the CUDA Programming Guide.
#[test]
fn a_warps_functions() {
    let body = "
        unsigned lane = threadIdx.x % 32;
        unsigned down = __shfl_down_sync(0xffffffffu, lane, 3);
        unsigned votes = __ballot_sync(0xffffffffu, lane < 5);
        int most = __reduce_max_sync(0xffffffffu, (int)lane - 40);
        unsigned sum = lane;
        for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        a[threadIdx.x] = threadIdx.x < 32 ? down + 100 * __popc(votes) + 1000 * (most == -9) : sum + (threadIdx.x == 63 ? __ffs(8) : 0);";
    let (_, out) = play(body).unwrap();
    assert_eq!((out[0], out[28], out[29], out[31]), (1503.0, 1531.0, 1529.0, 1531.0));
    // Butterfly over lanes 0 to 31: every lane holds 496.
    assert_eq!((out[32], out[63]), (496.0, 500.0));
}

/// One counter a block, added to by all: what the sites count of it.
#[test]
fn atomics_add_up() {
    let (report, out) = play("atomicAdd(&a[0], 1.0f); atomicMax((int*)&a[1], (int)threadIdx.x);").unwrap();
    assert_eq!((out[0], out[1].to_bits()), (64.0, 63_u32.max(1.0_f32.to_bits())));
    assert_eq!(report.sum(Space::Global, Act::Atomic).requests, 4);
}

/// Garbage of every kind ends in a fault or in an answer.
#[test]
fn anything_may_be_typed() {
    let good = "__shared__ float t[64]; float v[2] = {1, 2}; for (int k = 0; k < 2; ++k) { t[threadIdx.x] = v[k] * a[threadIdx.x]; } \
                __syncthreads(); a[threadIdx.x] = t[threadIdx.x ^ 1] + (n > 3 ? 1.0f : 2.0f);";
    assert!(play(good).is_ok());
    for cut in (0..good.len()).filter(|cut| good.is_char_boundary(*cut)) {
        let _ = play(&good[..cut]);
        let _ = play(&good[cut..]);
        for sign in ["(", ")", "{", "}", "[", ";", "*", "&", "<", "0", "#", "\"", "template", "auto", "-", "float"] {
            let _ = play(&format!("{}{sign}{}", &good[..cut], &good[cut..]));
        }
    }
    for open in ["(", "{", "[", "-", "*", "if (1) ", "a[", "#define X X\nX", "#if 1\n"] {
        let _ = play(&open.repeat(50_000));
    }
    let macros: String = (1..40).map(|at| format!("#define M{at} M{} M{}\n", at - 1, at - 1)).collect();
    let _ = whole(&format!("{macros}extern \"C\" __global__ void k(float* a, unsigned n) {{ M39; }}"));
}
