use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_not_asked_for_a_resource_elsewhere() {
    let elsewhere = Names(|address| !is_not_elsewhere(address.ip()));
    let found = elsewhere.resolve("localhost".parse().unwrap()).await;
    assert!(found.is_err_and(|fault| fault.to_string().contains("no address that may be asked")));
    let here = Names(|address| address.ip().is_loopback());
    let found = here.resolve("localhost".parse().unwrap()).await.unwrap();
    assert!(found.count() > 0);
}

#[tokio::test]
async fn an_answer_that_drips_is_cut_off() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/x", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let _ = connection.read(&mut [0; 4096]).await;
        let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await;
        while connection.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let (begun, http) = (Instant::now(), Http::default().within(Duration::from_millis(500)));
    let fault = http.get(Reach::ThisMachine, &url).await.map(|_| ()).unwrap_err();
    assert!(matches!(fault, HttpFault::Slow { .. }), "{fault:?}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn plain_http_goes_to_this_machine_alone_and_faults_tell_no_query() {
    let http = Http::default().within(Duration::from_secs(5));
    for (reach, url) in [
        (Reach::ThisMachine, "http://10.0.0.1/?canary"),
        (Reach::Elsewhere, "http://127.0.0.1:1/?canary"),
        (Reach::ThisMachine, "http://127.0.0.1:1/?canary"),
    ] {
        let fault = http.get(reach, &Url::parse(url).unwrap()).await.map(|_| ()).unwrap_err();
        assert!(!format!("{fault} {fault:?}").contains("canary"), "{fault:?}");
    }
}
