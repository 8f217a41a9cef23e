//! Faults and the parts catalogue with price, stock, lead time and exact fitment.

use sqlx::SqliteConnection;

use super::batch::Batch;
use super::tickets::DEMO_VARIANT;
use crate::content::{Content, Family, PartKind, VARIANTS};
use crate::rng::Rng;
use crate::store::StoreFault;

const STREAM: u64 = 3;

pub(super) async fn write(
    connection: &mut SqliteConnection,
    seed: u64,
    content: &Content,
) -> Result<(), StoreFault> {
    let mut faults = Batch::new("INSERT INTO faults (code, title, category, cause, fix)");
    for fault in &content.faults {
        let row = [&fault.code, &fault.title, &fault.category, &fault.cause, &fault.fix];
        faults.add(connection, row.into_iter().map(|text| text.as_str().into()).collect()).await?;
    }
    faults.write(connection).await?;

    let mut parts =
        Batch::new("INSERT INTO parts (part_no, category, description, price_cents, stock, lead_time_days)");
    let mut fitment = Batch::new("INSERT INTO fitment (model_variant, part_no)");
    let mut index = 0;
    for family in &content.world.families {
        for kind in &content.parts {
            for group in groups(kind) {
                let mut rng = Rng::for_item(seed, STREAM, index);
                index += 1;
                let part_no = part_number(family, kind, group);
                let is_demo = kind.category == "thermostatic-valve"
                    && group.iter().any(|variant| format!("{}-{variant}", family.code) == DEMO_VARIANT);
                let stock = if is_demo { 3 } else { rng.below(9).saturating_sub(1) };
                let lead = if is_demo { 2 } else { rng.between(1, 21) };
                let price = (kind.price as f64 * family.factor * rng.between(95, 108) as f64 / 100.0) as i64;
                let row = vec![
                    part_no.as_str().into(),
                    kind.category.as_str().into(),
                    format!("{}, {} variant {}", kind.name, family.code, group.join(" and ")).into(),
                    price.into(),
                    i64::try_from(stock).unwrap_or(0).into(),
                    i64::try_from(lead).unwrap_or(0).into(),
                ];
                parts.add(connection, row).await?;
                for variant in *group {
                    let model = format!("{}-{variant}", family.code);
                    fitment.add(connection, vec![model.into(), part_no.as_str().into()]).await?;
                }
            }
        }
    }
    parts.write(connection).await?;
    fitment.write(connection).await
}

/// The variants that share one part. S machines are sound attenuated and never share one with A or B.
fn groups(kind: &PartKind) -> &'static [&'static [&'static str]] {
    if kind.split { &[&["A"], &["B"], &["S"]] } else { &[&["A", "B"], &["S"]] }
}

fn part_number(family: &Family, kind: &PartKind, group: &[&str]) -> String {
    format!("{}-{}-{}1", family.code.replace('-', ""), kind.code, group.concat())
}

/// The part of a category that fits a model variant, as the catalogue numbers it.
pub(super) fn fitted_part(family: &Family, kind: &PartKind, variant: &str) -> String {
    debug_assert!(VARIANTS.contains(&variant));
    let group = groups(kind).iter().find(|group| group.contains(&variant)).copied().unwrap_or_default();
    part_number(family, kind, group)
}
