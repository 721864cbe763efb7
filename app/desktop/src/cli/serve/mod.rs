//! `serve`: the web build on loopback. Files are read once into a table; a request is answered from the table by its
//! exact key, and nothing it says is ever joined to a path.
//!
//! `answer.rs` decides what a request gets, without a socket; here are the port, the loop and the end.

mod answer;

use super::fault::Fault;
use super::say::Say;
use super::{Exit, interrupt};
use answer::Site;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The first port that is tried.
const PORT: u16 = 8350;
/// How many ports after it are tried when nobody asked for one.
const TRIES: u16 = 20;
/// How long open connections may take after an interrupt.
const GRACE: Duration = Duration::from_millis(800);

#[derive(clap::Args)]
pub struct Args {
    /// The port on 127.0.0.1; without it the first free one from 8350. 0 lets the system choose.
    #[arg(long)]
    port: Option<u16>,
    /// The folder of the web build, if it is not found by itself.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let Some(dir) = find_build(args.dir.as_deref()) else {
        let what = match &args.dir {
            Some(dir) => format!("there is no web build in {}: no index.html", dir.display()),
            None => "the web page is not built".to_owned(),
        };
        let help = "in the repository run `cargo xtask web`, which writes it to dist/web, then `vramlab serve` again";
        return Err(Fault::new(Exit::Findings, what).help(help).into());
    };
    let site = Site::read(&dir).map_err(|why| Fault::new(Exit::Findings, why))?;
    interrupt::listen();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(args.port, site, say))
}

/// The folder of the web build: as asked, beside the program, or in the repository around it.
pub fn find_build(asked: Option<&Path>) -> Option<PathBuf> {
    let is_build = |dir: &PathBuf| dir.join("index.html").is_file();
    if let Some(dir) = asked {
        return Some(dir.to_owned()).filter(is_build);
    }
    let program = std::env::current_exe().ok();
    let around = program
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .flat_map(|dir| [dir.join("web"), dir.join("dist/web")]);
    // `web/` of the repository holds the source: its index.html alone is no build.
    let is_whole = |dir: &PathBuf| is_build(dir) && !dir.join("Cargo.toml").exists();
    std::iter::once(PathBuf::from("dist/web")).chain(around).find(is_whole)
}

async fn serve(port: Option<u16>, site: Site, say: &Say) -> anyhow::Result<Exit> {
    let listener = listen(port).await?;
    let address = listener.local_addr()?;
    let url = format!("http://127.0.0.1:{}/", address.port());
    if say.is_json {
        say.json(&serde_json::json!({ "schema": 1, "url": url, "files": site.len() }));
    } else {
        say.data(&url);
    }
    say.note(&format!("{} files, this machine only; Ctrl-C ends it", site.len()));
    let site = Arc::new(site.at(address.port()));
    let router = Router::new().fallback(handle).with_state(site);
    let ended = async {
        while !interrupt::is_raised() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let serving = axum::serve(listener, router).with_graceful_shutdown(ended);
    let patience = async {
        while !interrupt::is_raised() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        done = async { serving.await } => done?,
        () = patience => {}
    }
    Ok(Exit::Fine)
}

async fn listen(port: Option<u16>) -> Result<TcpListener, Fault> {
    let bind = |port: u16| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    if let Some(port) = port {
        return match bind(port).await {
            Ok(listener) => Ok(listener),
            Err(error) => {
                let what = format!("port {port} on 127.0.0.1 cannot be used: {error}");
                let help = match first_free(port.saturating_add(1)).await {
                    Some(free) => format!("port {free} is free: vramlab serve --port {free}"),
                    None => "leave --port out, and a free one is chosen".to_owned(),
                };
                Err(Fault::new(Exit::Findings, what).help(help))
            }
        };
    }
    for port in PORT..PORT + TRIES {
        if let Ok(listener) = bind(port).await {
            return Ok(listener);
        }
    }
    bind(0).await.map_err(|error| Fault::new(Exit::Findings, format!("no port on 127.0.0.1 can be used: {error}")))
}

async fn first_free(from: u16) -> Option<u16> {
    for port in from.max(1024)..=from.max(1024).saturating_add(TRIES) {
        if TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.is_ok() {
            return Some(port);
        }
    }
    None
}

async fn handle(State(site): State<Arc<Site>>, request: Request) -> Response {
    site.answer(request.method(), request.uri(), request.headers())
}
