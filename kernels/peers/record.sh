#!/usr/bin/env bash
# Records the experiments of chapters 03, 04, 13 and 23 on a CUDA card, with PyTorch beside them and compute-sanitizer behind them.
# Run it in the repository's root: SUITE is the built example gpu_suite, OUT a folder, VRAMLAB_DATE the day. Each part has its own
# time, so that one that hangs costs itself alone. `record.sh` does everything (about six minutes on an H200), `record.sh PART…` some:
# gemm rows launch chain scan layout kernels exercises memcheck racecheck probe.
set -u
SUITE=${SUITE:-target/release/examples/gpu_suite}
OUT=${OUT:?a folder for the traces}
mkdir -p "$OUT/traces" "$OUT/log" "$OUT/probe"

# take SECONDS ID…: one recording, its log beside it.
take() {
    local secs=$1 name=${2//\//_}
    shift
    timeout "$secs" "$SUITE" record "$OUT/traces" "$@" > "$OUT/log/$name.log" 2>&1 || echo "$* ended with $?"
    cut -c1-150 "$OUT/log/$name.log" | tail -24
}

# peer SECONDS NAME ARGUMENTS…
peer() {
    local secs=$1 name=$2
    shift
    timeout "$secs" python3 "kernels/peers/$1.py" "${@:2}" > "$OUT/log/peer_$name${2:-}.jsonl" 2> "$OUT/log/peer_$name.err"
    cut -c1-160 "$OUT/log/peer_$name${2:-}.jsonl"
    tail -2 "$OUT/log/peer_$name.err"
}

check() {
    local tool=$1
    shift
    timeout 45 compute-sanitizer --tool "$tool" --error-exitcode 9 "$SUITE" small "$@" > "$OUT/log/$tool.log" 2>&1
    echo "$tool ended with $?" | tee -a "$OUT/log/$tool.log"
    tail -3 "$OUT/log/$tool.log"
}

gemm() {
    peer 25 gemm square
    take 16 gemm_hopper/main
    take 14 gemm_hopper/pairs
    take 14 gemm_hopper/stages
    take 14 gemm_mma/tiles
    take 16 gemm_mma/main
    take 25 gemm_f32/ladder
    take 14 gemm_hopper/order
    take 25 gemm_f32/traffic
}
rows() {
    take 30 softmax_rows/columns layer_norm_rows/columns
    peer 75 fusion rows
}
launch() { take 22 launch_cost/length launch_cost/count launch_cost/size; }
chain() { take 25 elementwise_chain/depth bias_gelu/size grid_total/size; }
scan() {
    take 25 prefix_scan/size softmax_rows/size
    peer 60 fusion chain scan launch
}
layout() {
    take 20 layout_copy/main layout_copy/nhwc
    take 25 channel_layout/main record_fields/fields record_fields/scattered
    peer 40 layout
}
kernels() {
    take 30 occupancy_truth/registers occupancy_truth/shared resident_blocks/main
    take 30 copy_width/warps block_sums/size
    take 30 stencil_2d/radius loop_order/footprint
    take 20 attention/time
}
exercises() { timeout 90 "$SUITE" exercises "$OUT/log/exercises.json" | tail -20; }
memcheck() {
    check memcheck gemm_f32/traffic gemm_mma/tiles gemm_hopper/stages gemm_hopper/pairs elementwise_chain/depth softmax_rows/columns \
        layer_norm_rows/columns prefix_scan/size grid_total/size bias_gelu/size layout_copy/main channel_layout/main stencil_2d/radius \
        block_sums/size copy_width/warps record_fields/fields loop_order/footprint
}
racecheck() { check racecheck softmax_rows/columns layer_norm_rows/columns prefix_scan/size grid_total/size block_sums/size stencil_2d/radius; }

# The same kernels in other shapes, a few samples each: what to choose if an aim is missed. Manifests are put back.
probe() {
    local saved
    saved=$(mktemp -d)
    cp -r kernels/gemm_mma kernels/gemm_hopper kernels/softmax_rows kernels/prefix_scan "$saved"
    tried() {
        timeout 14 "$SUITE" record "$OUT/probe" "$2/probe" > "$OUT/probe/$1.log" 2>&1
        echo "probe $1"
        grep -E "^ +(mma|hopper|on_chip|look_back|three_in_one) +[0-9]+ " "$OUT/probe/$1.log" | cut -c1-100
        rm -rf "kernels/$2"
        cp -r "$saved/$2" kernels/
    }
    short() { sed -e "s/^values = .*/values = [$3]/" -e "s/^quick = .*/quick = [$4]/" -e 's/^samples = .*/samples = [3, 7]/' "kernels/$1/$2.experiment.toml" > "kernels/$1/probe.experiment.toml"; }
    for stages in 2 4; do
        sed -e "s/^stages = \"3\"/stages = \"$stages\"/" -e 's/^samples = .*/samples = [3, 7]/' kernels/gemm_mma/tiles.experiment.toml > kernels/gemm_mma/probe.experiment.toml
        tried "mma_stages$stages" gemm_mma
    done
    for group in 4 16; do
        short gemm_hopper main "1024, 4096, 8192" "1024, 4096"
        sed -i "s/^default = 8$/default = $group/" kernels/gemm_hopper/kernel.toml
        tried "hopper_group$group" gemm_hopper
    done
    short softmax_rows columns "2048, 4096, 8192" 4096
    sed -i 's/columns <= 4096/columns <= 1024/g' kernels/softmax_rows/kernel.toml
    tried softmax_kept8 softmax_rows
    short softmax_rows columns "2048, 4096, 8192" 4096
    sed -i 's/columns <= 4096, 6,/columns <= 4096, 8,/' kernels/softmax_rows/kernel.toml
    tried softmax_blocks8 softmax_rows
    short prefix_scan size "67108864, 268435456" 67108864
    sed -i 's/ROWS 8$/ROWS 4/' kernels/prefix_scan/prefix_scan.cu
    sed -i 's/n \/ 8192/n \/ 4096/' kernels/prefix_scan/kernel.toml
    tried scan_rows4 prefix_scan
    rm -rf "$saved"
}

for part in ${*:-gemm rows launch chain scan layout kernels exercises memcheck racecheck probe}; do
    echo "== $part $(date +%T)"
    "$part"
done
