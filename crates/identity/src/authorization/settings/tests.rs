use time::Duration;

use crate::Doors;
use crate::authorization::{Settings, SettingsFault};

#[test]
fn what_cannot_be_is_found_before_a_server_starts() {
    let issuer = "https://gateway.example.com";
    let good = Settings::new(issuer.into(), Doors::at(issuer, "https://admin.example.com"));
    assert_eq!(good.check(), Ok(()));
    let slash = Settings { issuer: format!("{issuer}/"), ..good.clone() };
    assert!(matches!(slash.check(), Err(SettingsFault::Issuer { .. })));
    let long = Settings { access_token_life: Duration::hours(2), ..good };
    assert!(matches!(long.check(), Err(SettingsFault::Life { found: 7200, most: 3600, .. })));
}
