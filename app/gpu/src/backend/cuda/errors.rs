//! CUDA's result codes as sentences: what each means, what to do, and whether the context survives it.

use super::zh;
use crate::error::RunError;

/// The name in the driver's header, what it means for the reader, and what to do.
struct Known {
    code: i32,
    name: &'static str,
    meaning: &'static str,
    fix: &'static str,
}

const fn known(code: i32, name: &'static str, meaning: &'static str, fix: &'static str) -> Known {
    Known { code, name, meaning, fix }
}

const RESTART: &str = "the runner is replaced; run it again";

/// Codes of the driver API (`cuda.h`), in numerical order.
const KNOWN: &[Known] = &[
    known(
        1,
        "CUDA_ERROR_INVALID_VALUE",
        "the driver refused an argument of the call",
        "check the launch shape and the sizes",
    ),
    known(2, "CUDA_ERROR_OUT_OF_MEMORY", "the device has not enough free memory", "choose a smaller size"),
    known(3, "CUDA_ERROR_NOT_INITIALIZED", "the driver was not initialised in this process", "restart the program"),
    known(
        34,
        "CUDA_ERROR_STUB_LIBRARY",
        "the libcuda that was loaded is the stub of the CUDA toolkit, which only serves for linking",
        "take the toolkit's `stubs` folder out of LD_LIBRARY_PATH, so that the driver's own libcuda is found",
    ),
    known(
        35,
        "CUDA_ERROR_INSUFFICIENT_DRIVER",
        "the driver is older than this program's CUDA calls need",
        "install a driver of branch 525 or later",
    ),
    known(
        46,
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "another program holds the device alone (exclusive compute mode) or the device is busy",
        "end that program, then run again",
    ),
    known(
        100,
        "CUDA_ERROR_NO_DEVICE",
        "the driver works and finds no device",
        "check CUDA_VISIBLE_DEVICES (empty hides every device) and `nvidia-smi -L`",
    ),
    known(
        101,
        "CUDA_ERROR_INVALID_DEVICE",
        "there is no device with this number",
        "check CUDA_VISIBLE_DEVICES against `nvidia-smi -L`",
    ),
    known(200, "CUDA_ERROR_INVALID_IMAGE", "the compiled kernel is damaged", "run again; if it stays, report it"),
    known(201, "CUDA_ERROR_INVALID_CONTEXT", "the context of this process is gone", RESTART),
    known(
        209,
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "the compiled kernel holds no code for this architecture",
        "run again; it is compiled for the device at hand",
    ),
    known(
        214,
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "the device's memory reported an error that ECC could not correct",
        "restart the machine; if it comes back, the card is failing",
    ),
    known(218, "CUDA_ERROR_INVALID_PTX", "the driver could not translate the PTX", "update the driver"),
    known(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "the link between GPUs failed", "restart the machine"),
    known(
        222,
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "the PTX was written by a newer NVRTC than the driver reads",
        "update the driver, or install the NVRTC of the driver's CUDA version",
    ),
    known(226, "CUDA_ERROR_CONTAINED", "a memory error was contained and ended the process's work", RESTART),
    known(
        700,
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "a thread read or wrote outside the memory that was allocated",
        "compare the largest index of the kernel with the size of its buffers",
    ),
    known(
        701,
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "a block asks for more threads, registers or shared memory than one SM has",
        "make the block or its shared memory smaller",
    ),
    known(
        702,
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "the operating system ended the kernel, because this GPU drives a display and the kernel ran too long",
        "choose a smaller size, or run on a GPU without a display",
    ),
    known(
        710,
        "CUDA_ERROR_ASSERT",
        "an assert() in the kernel failed",
        "read the assertion in the runner's last words",
    ),
    known(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "the call stack of a thread was damaged or overflowed", RESTART),
    known(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "a thread met an instruction that the device does not know", RESTART),
    known(
        716,
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "a vector load or store was not aligned to its own size",
        "an 8-byte access needs an address divisible by 8, a 16-byte access one divisible by 16",
    ),
    known(
        717,
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "an instruction used an address of the wrong kind of memory",
        RESTART,
    ),
    known(718, "CUDA_ERROR_INVALID_PC", "the program counter of a thread left the program", RESTART),
    known(719, "CUDA_ERROR_LAUNCH_FAILED", "the kernel faulted while it ran", RESTART),
    known(721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "a block ended without giving its tensor memory back", RESTART),
    known(
        802,
        "CUDA_ERROR_SYSTEM_NOT_READY",
        "the driver is there, the system is not ready; on NVSwitch machines the fabric manager is not running",
        "start nvidia-fabricmanager, then run again",
    ),
    known(
        803,
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "the driver's kernel module and its libcuda have different versions, usually after an update",
        "restart the machine",
    ),
    known(
        804,
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "a forward-compatibility libcuda was found that this device does not support",
        "take the `compat` folder out of LD_LIBRARY_PATH",
    ),
    known(810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS server ended this client", "restart the MPS server"),
    known(911, "CUDA_ERROR_EXTERNAL_DEVICE", "an external device reported an error", RESTART),
    known(
        999,
        "CUDA_ERROR_UNKNOWN",
        "the driver reports an unknown error, often after the machine was suspended",
        "reload the driver (`sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm`) or restart the machine",
    ),
];

/// Codes after which the context, and with it the process, is lost.
const FATAL: &[i32] = &[201, 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911];

fn find(code: i32) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.code == code)
}

/// True if nothing more can be done with the context after this code.
pub fn is_fatal(code: i32) -> bool {
    FATAL.contains(&code)
}

/// An error while a kernel or a buffer of `kernel` was handled.
pub fn device(code: i32, kernel: &str) -> RunError {
    let (name, meaning) = match find(code) {
        Some(known) => (known.name.to_owned(), format!("{}; {}", known.meaning, known.fix)),
        None => (format!("CUDA_ERROR {code}"), "the driver's header names this code".to_owned()),
    };
    RunError::Device { code, name, meaning, kernel: kernel.to_owned(), is_fatal: is_fatal(code) }
}

/// An error while the device was being opened: what is missing, as a value.
pub fn unavailable(code: i32, doing: &str) -> RunError {
    match find(code) {
        Some(known) => {
            let text = zh::of(code);
            let (what, fix) = text.unwrap_or((known.meaning, known.fix));
            RunError::unavailable(
                (
                    format!("{what}（{doing} 返回 {} {code}）", known.name),
                    format!("{} ({} {code} from {doing})", known.meaning, known.name),
                ),
                (fix, known.fix),
            )
        }
        None => RunError::unavailable(
            (format!("驱动对 {doing} 返回代码 {code}"), format!("the driver answers {doing} with code {code}")),
            ("到 cuda.h 里查这个代码", "look the code up in cuda.h"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    /// The codes at which CUDA's header says that the process must be relaunched, and the four we add.
    #[test]
    fn fatal_codes_are_those_of_the_header() {
        for code in [226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 214, 220, 201] {
            assert!(is_fatal(code), "{code}");
            assert!(matches!(device(code, "k"), RunError::Device { is_fatal: true, .. }), "{code}");
            assert!(find(code).is_some(), "{code} has no sentence");
        }
        for code in [1, 2, 46, 200, 209, 218, 222, 701] {
            assert!(!is_fatal(code), "{code}");
        }
    }

    /// R1, R2: each start-up state is its own sentence.
    #[test]
    fn start_up_states_have_their_own_sentences() {
        let mut seen = Vec::new();
        for code in [34, 35, 100, 101, 802, 803, 804, 999] {
            let RunError::Unavailable { what, fix } = unavailable(code, "cuInit") else { unreachable!() };
            for lang in vramlab_units::Lang::ALL {
                let (what, fix) = (what.exact(lang).unwrap(), fix.exact(lang).unwrap());
                assert!(!fix.is_empty() && what.contains(&code.to_string()), "{what}");
            }
            assert!(zh::of(code).is_some(), "{code} has no Chinese sentence");
            assert!(!seen.contains(&what));
            seen.push(what);
        }
    }
}
