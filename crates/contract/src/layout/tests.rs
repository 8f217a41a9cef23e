use expect_test::expect;

use super::{compact, pretty};

#[test]
fn lays_out_one_member_a_line_and_keeps_every_token() {
    let text =
        r#"{"a":[1.10,1E5,-0,9007199254740993],"s":"\u00e9é\"{[,:]}\\","e":{},"f":[ ],"g":[{}, {"h":null}]}"#;
    expect![[r#"
        {
          "a": [
            1.10,
            1E5,
            -0,
            9007199254740993
          ],
          "s": "\u00e9é\"{[,:]}\\",
          "e": {},
          "f": [],
          "g": [
            {},
            {
              "h": null
            }
          ]
        }
    "#]]
    .assert_eq(&pretty(text));
}

#[test]
fn compacting_undoes_the_layout() {
    for text in [
        "{}",
        "[]",
        r#"{"a":" spaces  stay ","b":[[],[[]],{"c":{}}],"\"":"\\\"","d":[1,[2,3]]}"#,
        r#""a b""#,
        "1.10",
    ] {
        assert_eq!(compact(&pretty(text)), text);
        assert_eq!(compact(text), text);
    }
    assert_eq!(compact(" { \"a\" :\r\n\t[ 1 , 2 ] } "), r#"{"a":[1,2]}"#);
}
