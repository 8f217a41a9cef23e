use super::Approver;

#[test]
fn a_password_is_called_good_once_until_it_was_changed() {
    let mut approver = Approver::with("first");
    assert_eq!(approver.shown(), "the password first (good once)");
    approver.signed_in_with("second".to_owned());
    assert_eq!(approver.shown(), "the password second");
}
