use super::*;

#[test]
fn headers_that_are_there_stay() {
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    keep_from_misuse(&mut headers, true);
    assert_eq!(headers[header::CACHE_CONTROL], "public");
    assert_eq!(headers[header::STRICT_TRANSPORT_SECURITY], "max-age=31536000");
    keep_from_misuse(&mut headers, false);
    assert_eq!(headers.len(), 6);
}

/// Contrast of two colours (WCAG 2.2, relative luminance).
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour: &str| {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(colour.get(at..at + 2).unwrap(), 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn colours_can_be_told_apart() {
    let (light, dark) = STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
    for theme in [light, dark] {
        let colour = |name: &str| {
            let from = theme.find(&format!("--{name}: #")).unwrap() + name.len() + 4;
            theme.get(from..from + 7).unwrap().to_owned()
        };
        for (text, ground, least) in [
            ("text", "ground", 4.5),
            ("text", "sheet", 4.5),
            ("quiet", "ground", 4.5),
            ("quiet", "sheet", 4.5),
            ("link", "sheet", 4.5),
            ("on-act", "act", 4.5),
            ("bad", "sheet", 4.5),
            ("bad", "bad-ground", 4.5),
            ("good", "good-ground", 4.5),
            ("edge", "sheet", 3.0),
            ("act", "sheet", 3.0),
            ("act", "ground", 3.0),
        ] {
            let found = contrast(&colour(text), &colour(ground));
            assert!(found >= least, "{text} on {ground}: {found}");
        }
    }
}
