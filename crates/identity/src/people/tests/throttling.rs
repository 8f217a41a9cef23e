use super::*;

fn at(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn fail(browser: &mut Browser, name: &str, times: u32) -> StatusCode {
    let mut last = StatusCode::OK;
    for _ in 0..times {
        last = browser.sign_in(name, "wrong wrong wrong").await.status;
    }
    last
}

#[tokio::test]
async fn failures_of_one_source_lock_out_nobody_else() {
    let site = Site::new().await;
    let (_, known) = site.person("maya").await;
    let mut attacker = site.browser_at(at("203.0.113.9"));
    let burst = Tries::default().name_and_source.burst;
    assert_eq!(fail(&mut attacker, "maya", burst).await, StatusCode::FORBIDDEN);
    let before = site.people.hashed();
    // Even the right password is of no use from there now, and costs nothing to refuse.
    let blocked = attacker.sign_in("Maya", GOOD).await;
    assert_eq!((blocked.status, blocked.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, Some("60")));
    assert_eq!(site.people.hashed(), before);
    assert_eq!(site.browser_at(at("203.0.113.10")).sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    // The same source, but a device that the person has used.
    let mut device = site.browser_at(at("203.0.113.9"));
    device.cookies.insert("__Host-aldgate-device".to_owned(), known.cookie("aldgate-device"));
    assert_eq!(device.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    site.pass(Duration::from_secs(60));
    assert_eq!(attacker.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn an_unknown_name_is_held_back_as_a_known_one() {
    let site = Site::new().await;
    site.person("maya").await;
    let mut told = Vec::new();
    for (name, from) in [("maya", "203.0.113.1"), ("nobody", "203.0.113.2")] {
        let mut attacker = site.browser_at(at(from));
        fail(&mut attacker, name, 5).await;
        let answer = attacker.sign_in(name, GOOD).await;
        told.push((answer.status, answer.header("retry-after").map(str::to_owned)));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].0, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_device_counts_by_itself_and_for_its_person_alone() {
    let site = Site::new().await;
    let (_, mut maya) = site.person("maya").await;
    let (_, mut bob) = site.person("bob").await;
    maya.source = at("203.0.113.9");
    let burst = Tries::default().device.burst;
    let device = maya.cookie("aldgate-device");
    assert_eq!(fail(&mut maya, "maya", burst).await, StatusCode::FORBIDDEN);
    // Nothing of it counts for the source.
    let mut neighbour = site.browser_at(at("203.0.113.9"));
    assert_eq!(neighbour.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    // Whoever else has its cookie can use it up; then it is a place like any other, and no worse.
    let mut hers = site.browser_at(at("203.0.113.10"));
    hers.cookies.insert("__Host-aldgate-device".to_owned(), device.clone());
    assert_eq!(hers.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    let stranger = Tries::default().name_and_source.burst;
    assert_eq!(fail(&mut maya, "maya", stranger).await, StatusCode::FORBIDDEN);
    assert_eq!(fail(&mut maya, "maya", 1).await, StatusCode::TOO_MANY_REQUESTS);

    // Bob's device is a stranger to Maya's account, and so is a device that was made up.
    bob.source = at("203.0.113.20");
    assert_eq!(fail(&mut bob, "maya", 6).await, StatusCode::TOO_MANY_REQUESTS);
    let (nonce, rest) = device.split_once('.').unwrap();
    for forged in
        [format!("x{nonce}.{rest}"), format!("{nonce}.9{rest}"), format!("{device}x"), "..".to_owned()]
    {
        let mut forger = site.browser_at(at("203.0.113.20"));
        forger.cookies.insert("__Host-aldgate-device".to_owned(), forged);
        assert_eq!(forger.sign_in("maya", GOOD).await.status, StatusCode::TOO_MANY_REQUESTS);
    }
    // It is known for half a year.
    let headers = maya.headers();
    let id = &site.who(&neighbour).await.unwrap().user.id;
    assert!(site.people.device(&headers, id, START + Duration::from_secs(180 * 86_400 - 1)).is_some());
    assert!(site.people.device(&headers, id, START + Duration::from_secs(180 * 86_400)).is_none());
}

#[tokio::test]
async fn one_source_cannot_try_all_names() {
    let site = Site::new().await;
    site.person("maya").await;
    let mut attacker = site.browser_at(at("2001:db8:1:200::1"));
    for index in 0..Tries::default().source.burst {
        attacker.source = at(&format!("2001:db8:1:2{index:02x}:{index:x}::1"));
        assert_eq!(fail(&mut attacker, &format!("name{index}"), 1).await, StatusCode::FORBIDDEN);
    }
    assert_eq!(attacker.sign_in("maya", GOOD).await.status, StatusCode::TOO_MANY_REQUESTS);
    // The next subscriber is another source.
    assert_eq!(
        site.browser_at(at("2001:db8:1:300::1")).sign_in("maya", GOOD).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn many_sources_together_hold_back_only_those_that_failed() {
    let tries = Tries { all: Rate { burst: 8, every: Duration::from_secs(600) }, ..Tries::default() };
    let site = Site::with(Settings { tries, ..settings("https://gate.example") }).await;
    let (_, known) = site.person("maya").await;
    let mut statuses = Vec::new();
    for index in 0..12 {
        let mut bot = site.browser_at(at(&format!("198.51.100.{index}")));
        statuses.push(fail(&mut bot, "maya", 2).await);
    }
    assert_eq!(statuses[0], StatusCode::FORBIDDEN);
    assert_eq!(statuses[11], StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(site.browser_at(at("203.0.113.1")).sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    let mut device = site.browser_at(at("198.51.100.11"));
    device.cookies.insert("__Host-aldgate-device".to_owned(), known.cookie("aldgate-device"));
    assert_eq!(device.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn tries_at_once_are_counted_as_tries_in_a_row() {
    let hashing = Hashing { waiting: 64, ..cheap() };
    let site = Site::with(Settings { hashing, ..settings("https://gate.example") }).await;
    site.person("maya").await;
    let before = site.people.hashed();
    let tries = (0..40).map(|_| {
        let mut browser = site.browser_at(at("203.0.113.9"));
        async move { browser.sign_in("maya", "wrong wrong wrong").await.status }
    });
    let answers = futures::future::join_all(tries).await;
    assert_eq!(answers.iter().filter(|status| **status == StatusCode::FORBIDDEN).count(), 5);
    assert_eq!(site.people.hashed() - before, 5);
}
