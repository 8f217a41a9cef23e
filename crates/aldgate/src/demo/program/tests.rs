use super::*;

#[test]
fn the_name_is_enough_only_where_it_finds_this_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = |folder: &Path| {
        std::fs::create_dir_all(folder).expect("made");
        std::fs::write(folder.join(NAME), "").expect("written");
        folder.join(NAME).canonicalize().expect("it is there")
    };
    let (here, other) = (folder.path().join("here"), folder.path().join("an other"));
    let (this, that) = (program(&here), program(&other));
    let path = |folders: &[&Path]| std::env::join_paths(folders).expect("a path");
    assert_eq!(typed_with(&this, &path(&[&here, &other])), "aldgate");
    // Another one is found first, or none.
    assert_eq!(typed_with(&this, &path(&[&other, &here])), this.display().to_string());
    assert_eq!(typed_with(&this, OsStr::new("")), this.display().to_string());
    // A shell takes the path as one word.
    assert_eq!(typed_with(&that, OsStr::new("")), format!("'{}'", that.display()));
}
