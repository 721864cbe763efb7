//! The child's side: a loop over any byte stream that opens back ends and runs jobs. It greets first, sends
//! heartbeats from a side thread, turns a panic into a message, and leaves within a second of a closed input.
//!
//! [`run`] is what the hidden subcommand calls; [`serve`] is the loop itself, for a socket, for ssh, for tests. The
//! threads' shared state is in `shared.rs`, what is done with a message in `work.rs`.

mod shared;
mod work;

use crate::backend::{self, Backend, fake};
use crate::error::RunError;
use crate::protocol::{FromChild, ToChild, VERSION};
use crate::{sys, wire};
use shared::{Beat, Jobs, Out};
use std::io::{self, BufReader, Read, Write};
use std::panic;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;
use vramlab_trace::Backend as Kind;

/// The hidden subcommand of our own executable that becomes the child.
pub const SUBCOMMAND: &str = "__runner";
/// How often the side thread says that the process lives.
pub const BEAT: Duration = Duration::from_millis(250);
/// How long a running job may take to notice that the parent is gone.
const GRACE: Duration = Duration::from_millis(600);

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The parent said so, or closed the stream.
    Quit,
    /// The device's context is lost, or the code panicked: the process must be replaced.
    Lost,
    /// Parent and child do not speak the same version.
    Version,
    /// The parent sent something that is not the protocol.
    Protocol,
}

impl Ended {
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Quit => 0,
            Self::Lost => 70,
            Self::Version => 71,
            Self::Protocol => 72,
        }
    }
}

/// Opens a back end for the loop: [`backend::open`], or a scripted one.
pub type Open = Box<dyn FnMut(Kind, Option<u64>) -> Result<Box<dyn Backend>, RunError>>;

/// What the loop needs from its surroundings.
pub struct Host {
    pub open: Open,
    /// Called from a side thread when the parent is gone and a job has not ended after a grace time.
    pub gone: fn(),
    /// Name and version of the program.
    pub program: String,
}

/// Becomes the child: standard input and output are the stream. `script` is the id of a fault to play instead of
/// measuring. Never returns, because exit handlers of a driver may wait for a kernel that never ends.
pub fn run(program: &str, script: Option<&str>) -> ! {
    sys::no_core_dumps();
    // One line: the parent keeps the last few of standard error, and a backtrace would push the reason out.
    panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "{}", panic.to_string().replace('\n', " "));
    }));
    let Ok(output) = sys::take_stdout() else { sys::exit_now(Ended::Protocol.exit_code()) };
    let open: Open = match script.map(fake::Script::find) {
        None => Box::new(backend::open),
        Some(None) => sys::exit_now(2),
        Some(Some(script)) if script.is_raw() => sys::exit_now(fake::play(script, io::stdin(), output)),
        Some(Some(script)) => Box::new(move |_, _| fake::open(script)),
    };
    let host = Host { open, gone: || sys::exit_now(0), program: program.to_owned() };
    sys::exit_now(serve(io::stdin(), output, host).exit_code())
}

/// Speaks the protocol until the parent is done.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static, host: Host) -> Ended {
    let (out, jobs) = (Out::new(output), Jobs::default());
    let (tell, inbox) = mpsc::channel();
    out.say(&FromChild::Hello { version: VERSION, program: host.program });
    let _beat = Beat::start(out.clone(), jobs.clone());
    let listening = jobs.clone();
    thread::spawn(move || listen(input, &tell, &listening, host.gone));
    work::Loop::new(out, jobs, host.open).run(&inbox)
}

/// The reader's side thread: passes messages on, and raises the stop flag of a cancelled job at once.
fn listen(input: impl Read, tell: &Sender<Result<ToChild, RunError>>, jobs: &Jobs, gone: fn()) {
    let mut input = BufReader::new(input);
    loop {
        match wire::read(&mut input) {
            Ok(Some(ToChild::Cancel { job_id })) => jobs.cancel(job_id),
            Ok(Some(message)) => {
                if tell.send(Ok(message)).is_err() {
                    return;
                }
            }
            Ok(None) => break,
            Err(error) => {
                let _ = tell.send(Err(error));
                break;
            }
        }
    }
    jobs.end_all();
    if tell.send(Ok(ToChild::Quit)).is_ok() {
        thread::sleep(GRACE);
        gone();
    }
}
