//! The child of the suites: the program's own child loop, or a scripted fault named by the first argument.
fn main() {
    let script = std::env::args().nth(1);
    vramlab_gpu::child::run("vramlab-fake-runner", script.as_deref())
}
