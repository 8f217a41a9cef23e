use super::Case;

#[test]
fn a_case_is_as_large_as_the_schemas_that_it_is_known_by() {
    assert_eq!(Case::never().size(), 0);
    assert_eq!(Case::of([3, 1, 3]).with(2).without(1).without(1).size(), 4);
}
