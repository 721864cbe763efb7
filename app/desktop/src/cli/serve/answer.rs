//! What a request gets. Pure: a method, an address, headers; a response.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use std::collections::BTreeMap;
use std::path::Path;

/// Most files and bytes of a web build.
const MAX_FILES: usize = 4_096;
const MAX_BYTES: usize = 256 << 20;

/// Scripts and WebAssembly of this origin only; no frame around it, nothing sent elsewhere.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; worker-src 'self'; object-src 'none'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The files of the web build by their address.
pub struct Site {
    files: BTreeMap<String, axum::body::Bytes>,
    port: u16,
}

impl Site {
    /// Reads every plain file below `dir`. Links are left out.
    pub fn read(dir: &Path) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        let mut left = MAX_BYTES;
        collect(dir, "", &mut files, &mut left).map_err(|why| format!("{why}: {}", dir.display()))?;
        Ok(Self { files, port: 0 })
    }

    #[cfg(test)]
    fn of(files: &[(&str, &str)], port: u16) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), axum::body::Bytes::from((*text).to_owned()));
        Self { files: files.iter().map(own).collect(), port }
    }

    #[must_use]
    pub fn at(self, port: u16) -> Self {
        Self { port, ..self }
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
        if !self.is_own_host(headers) {
            return plain(StatusCode::FORBIDDEN, "this server answers on 127.0.0.1 and localhost only\n");
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let path = uri.path();
        let path = path.strip_prefix('/').unwrap_or(path);
        let key = if path.is_empty() || path.ends_with('/') { format!("{path}index.html") } else { path.to_owned() };
        let Some((key, bytes)) = self.files.get_key_value(&key) else {
            return plain(StatusCode::NOT_FOUND, "there is no such file\n");
        };
        let body = if *method == Method::HEAD { Body::empty() } else { Body::from(bytes.clone()) };
        let mut response = safe(Response::new(body));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(mime(key)));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    /// Exactly one Host, and it is ours: a page elsewhere that resolves its name to loopback gets nothing.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let Ok(host) = host.to_str() else { return false };
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        port == self.port.to_string() && (name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost"))
    }
}

fn collect(
    dir: &Path,
    before: &str,
    files: &mut BTreeMap<String, axum::body::Bytes>,
    left: &mut usize,
) -> Result<(), String> {
    for entry in std::fs::read_dir(dir).map_err(|error| error.to_string())?.flatten() {
        let kind = entry.file_type().map_err(|error| error.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let key = format!("{before}{name}");
        if kind.is_dir() {
            collect(&entry.path(), &format!("{key}/"), files, left)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).map_err(|error| format!("{key}: {error}"))?;
            *left = left.checked_sub(bytes.len()).ok_or("a web build has at most 256 MiB")?;
            files.insert(key, bytes.into());
        }
        if files.len() > MAX_FILES {
            return Err(format!("a web build has at most {MAX_FILES} files"));
        }
    }
    Ok(())
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = safe(Response::new(Body::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Headers that every answer carries.
fn safe(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

fn mime(key: &str) -> &'static str {
    match key.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "css" => "text/css; charset=utf-8",
        "json" | "webmanifest" | "map" => "application/json",
        "toml" | "txt" | "md" | "cu" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::of(
            &[
                ("index.html", "<p>"),
                ("app_bg.wasm", "\0asm"),
                ("text/index.html", "<h1>"),
                ("assets/theme.toml", "a = 1"),
            ],
            8350,
        )
    }

    fn ask(method: &str, path: &str, hosts: &[&str]) -> Response {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
        }
        site().answer(&method.parse().unwrap(), &path.parse().unwrap(), &headers)
    }

    const OWN: &[&str] = &["127.0.0.1:8350"];

    #[test]
    fn files_come_by_their_exact_key_with_their_type() {
        let header = |response: &Response, name| response.headers()[name].to_str().unwrap().to_owned();
        let page = ask("GET", "/", OWN);
        assert_eq!((page.status(), header(&page, "content-type")), (StatusCode::OK, "text/html; charset=utf-8".into()));
        assert_eq!(header(&ask("GET", "/text/", OWN), "content-length"), "4");
        assert_eq!(header(&ask("GET", "/app_bg.wasm", OWN), "content-type"), "application/wasm");
        assert_eq!(header(&ask("GET", "/assets/theme.toml?v=2", OWN), "content-length"), "5");
        assert_eq!(header(&page, "x-content-type-options"), "nosniff");
        assert!(header(&page, "content-security-policy").contains("frame-ancestors 'none'"));
        assert!(!page.headers().contains_key("access-control-allow-origin"));
    }

    /// W8: path tricks, unknown routes, other methods.
    #[test]
    fn nothing_else_is_found_or_done() {
        for path in [
            "/../Cargo.toml",
            "/..%2fCargo.toml",
            "/%2e%2e/Cargo.toml",
            "/index.html%00",
            "/C:/x",
            "//index.html",
            "/assets/",
            "/assets",
            "/nothing",
            "/INDEX.HTML",
        ] {
            assert_eq!(ask("GET", path, OWN).status(), StatusCode::NOT_FOUND, "{path}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
            let response = ask(method, "/", OWN);
            assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
            assert_eq!(response.headers()["allow"], "GET, HEAD");
        }
        let head = ask("HEAD", "/", OWN);
        assert_eq!((head.status(), head.headers()["content-length"].to_str().unwrap()), (StatusCode::OK, "3"));
    }

    /// W2: a name that somebody pointed at loopback.
    #[test]
    fn only_our_own_host_is_served() {
        for host in ["127.0.0.1:8350", "localhost:8350", "LOCALHOST:8350"] {
            assert_eq!(ask("GET", "/", &[host]).status(), StatusCode::OK, "{host}");
        }
        let wrong: [&[&str]; 8] = [
            &[],
            &[""],
            &["evil.example"],
            &["evil.example:8350"],
            &["localhost.evil:8350"],
            &["localhost.:8350"],
            &["127.0.0.1:9000"],
            &["127.0.0.1:8350", "evil.example"],
        ];
        for hosts in wrong {
            assert_eq!(ask("GET", "/", hosts).status(), StatusCode::FORBIDDEN, "{hosts:?}");
        }
    }
}
