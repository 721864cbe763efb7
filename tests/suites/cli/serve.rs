//! `serve` over a real socket. The table of hosts, methods and paths is tested beside its code.

use crate::program::command;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Server {
    child: Child,
    port: u16,
    dirs: [tempfile::TempDir; 2],
}

impl Server {
    fn start() -> Self {
        let (data, web) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(web.path().join("index.html"), "<title>VRAM Lab</title>").unwrap();
        fs::write(web.path().join("app_bg.wasm"), b"\0asm").unwrap();
        let mut child = command(data.path())
            .args(["serve", "--port", "0", "--dir", web.path().to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        assert_eq!(line, format!("http://127.0.0.1:{port}/\n"));
        Self { child, port, dirs: [data, web] }
    }

    /// One request as bytes, the whole answer as text.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(request.replace("PORT", &self.port.to_string()).as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const END: &str = "\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n";

/// W2, W8 end to end.
#[test]
fn the_page_is_served_and_nothing_from_disk() {
    let server = Server::start();
    let page = server.ask(&format!("GET / HTTP/1.1{END}"));
    assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("<title>VRAM Lab</title>"), "{page}");
    let wasm = server.ask(&format!("GET /app_bg.wasm HTTP/1.1{END}"));
    assert!(wasm.to_lowercase().contains("content-type: application/wasm"), "{wasm}");
    for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/etc/passwd", "//etc/passwd", "/C:/x"] {
        let answer = server.ask(&format!("GET {path} HTTP/1.1{END}"));
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    let other = server.ask("GET / HTTP/1.1\r\nHost: evil.example:PORT\r\nConnection: close\r\n\r\n");
    assert!(other.starts_with("HTTP/1.1 403"), "{other}");
    let post = server.ask(&format!("POST / HTTP/1.1\r\nContent-Length: 0{END}"));
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");
}

/// W7: a port that is taken is named, with one that is free.
#[test]
fn a_taken_port_is_1_and_names_a_free_one() {
    let server = Server::start();
    let web = server.dirs[1].path().to_str().unwrap();
    let data = tempfile::tempdir().unwrap();
    let second: crate::program::Answer =
        command(data.path()).args(["serve", "--port", &server.port.to_string(), "--dir", web]).output().unwrap().into();
    assert_eq!(second.code, Some(1), "{}", second.err);
    assert!(second.err.contains(&format!("port {} on 127.0.0.1 cannot be used", server.port)), "{}", second.err);
    assert!(second.err.contains("is free: vramlab serve --port "), "{}", second.err);
}

/// W10: Ctrl-C ends it within two seconds, even with a connection that says nothing.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_within_two_seconds() {
    let mut server = Server::start();
    let silent = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let sent = Instant::now();
    assert!(Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(sent.elapsed() < Duration::from_secs(2), "{:?}", sent.elapsed());
    drop(silent);
}

#[test]
fn without_a_build_it_says_how_to_make_one() {
    let (data, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let answer: crate::program::Answer =
        command(data.path()).args(["serve", "--dir", empty.path().to_str().unwrap()]).output().unwrap().into();
    assert_eq!(answer.code, Some(1), "{}", answer.err);
    assert!(answer.err.contains("cargo xtask web"), "{}", answer.err);
}
