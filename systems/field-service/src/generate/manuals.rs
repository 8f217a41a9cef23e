//! The manual corpus: an operator manual and a field-maintenance manual for each family, two revisions of each,
//! with figures that differ by family, variant and revision.

use sqlx::SqliteConnection;

use super::batch::Batch;
use crate::content::{Content, Family, Section, VARIANTS};
use crate::store::StoreFault;

/// Revisions from old to current: name, number of the first page, factor of the tightening torques.
const REVISIONS: [(&str, usize, f64, bool); 2] = [("R1", 9, 0.92, true), ("R2", 11, 1.0, false)];

/// The identifier of a manual, such as `FM-AC-250`.
pub(crate) fn document(kind: &str, family: &str) -> String {
    format!("{kind}-{family}")
}

pub(super) async fn write(connection: &mut SqliteConnection, content: &Content) -> Result<(), StoreFault> {
    let mut passages = Batch::new(
        "INSERT INTO passages (id, document, revision, page, section, title, kind, family, variant, superseded, passage)",
    );
    let mut words = Batch::new("INSERT INTO passage_words (rowid, title, passage)");
    let mut id = 0_usize;
    for family in &content.world.families {
        for kind in ["FM", "OM"] {
            for (revision, first_page, torque, superseded) in REVISIONS {
                let sections = content.sections.iter().filter(|section| section.doc == kind);
                let mut page = first_page;
                for section in sections {
                    let variants: Vec<Option<&str>> = if section.by_variant {
                        VARIANTS.iter().copied().map(Some).collect()
                    } else {
                        vec![None]
                    };
                    for variant in variants {
                        id += 1;
                        let text = render(section, family, variant, torque);
                        let row = vec![
                            id.into(),
                            document(kind, &family.code).into(),
                            revision.into(),
                            page.into(),
                            section.id.as_str().into(),
                            section.title.as_str().into(),
                            section.kind.as_str().into(),
                            family.code.as_str().into(),
                            variant.into(),
                            usize::from(superseded).into(),
                            text.as_str().into(),
                        ];
                        passages.add(connection, row).await?;
                        words
                            .add(connection, vec![id.into(), section.title.as_str().into(), text.into()])
                            .await?;
                        page += 1;
                    }
                }
            }
        }
    }
    passages.write(connection).await?;
    words.write(connection).await
}

/// Fills `{family}`, `{variant}` and `{unit:number}`.
fn render(section: &Section, family: &Family, variant: Option<&str>, torque: f64) -> String {
    let mut text = String::with_capacity(section.text.len() + 16);
    let mut rest = section.text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else { break };
        text.push_str(before);
        match name.split_once(':') {
            Some((unit, number)) => text.push_str(&figure(unit, number, family, variant, torque)),
            None if name == "family" => text.push_str(&family.code),
            None => text.push_str(variant.unwrap_or_default()),
        }
        rest = tail;
    }
    text.push_str(rest);
    text
}

fn figure(unit: &str, number: &str, family: &Family, variant: Option<&str>, torque: f64) -> String {
    let Ok(base) = number.parse::<f64>() else { return number.to_owned() };
    let by_variant = match variant {
        Some("B") => 1.06,
        Some("S") => 1.15,
        _ => 1.0,
    };
    let value = match unit {
        "nm" => base * family.factor * by_variant * torque,
        "l" | "amp" | "kg" | "newton" | "flow" | "ma" => base * family.factor * by_variant,
        // Sound attenuated machines are quieter.
        "db" if variant == Some("S") => base - 8.0,
        _ => base,
    };
    if value >= 20.0 || (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}
