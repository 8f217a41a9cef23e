//! Customers with accounts, their sites and contacts. The payment and contract fields are canaries: texts that no
//! tool or resource may ever return, which tests look for in every answer.

use sqlx::SqliteConnection;

use super::batch::Batch;
use crate::content::World;
use crate::rng::Rng;
use crate::store::StoreFault;

const STREAM: u64 = 1;
pub(super) const SITES: usize = 400;
const CUSTOMERS: usize = 240;

pub(super) async fn write(
    connection: &mut SqliteConnection,
    seed: u64,
    world: &World,
) -> Result<(), StoreFault> {
    let mut customers = Batch::new(
        "INSERT INTO customers (id, name, account_no, payment_iban, payment_terms, contract_no, contract_rate)",
    );
    let heads = world.company_heads.len().max(1);
    for index in 0..CUSTOMERS {
        let mut rng = Rng::for_item(seed, STREAM, index as u64);
        let head = world.company_heads.get(index % heads).map_or("", String::as_str);
        let tail = world.company_tails.get((index / heads) % world.company_tails.len().max(1));
        let row = vec![
            (index + 1).into(),
            format!("{head} {}", tail.map_or("", String::as_str)).into(),
            format!("ACC-{:05}", 40_000 + index * 7).into(),
            format!("PAYCANARY-IBAN-{:016}", rng.below(10_000_000_000_000_000)).into(),
            format!("PAYCANARY-TERMS-{}-days", rng.between(7, 90)).into(),
            format!("CONTRACTCANARY-NO-{:08}", rng.below(100_000_000)).into(),
            format!("CONTRACTCANARY-RATE-{}-per-hour", rng.between(61, 142)).into(),
        ];
        customers.add(connection, row).await?;
    }
    customers.write(connection).await?;

    let mut sites = Batch::new(
        "INSERT INTO sites (id, customer_id, street, city, contact_name, contact_phone, contact_email)",
    );
    for index in 0..SITES {
        let mut rng = Rng::for_item(seed, STREAM + 1, index as u64);
        let first = rng.pick(&world.first_names);
        let last = rng.pick(&world.last_names);
        let row = vec![
            (index + 1).into(),
            (index % CUSTOMERS + 1).into(),
            format!("{} {}", rng.between(1, 140), rng.pick(&world.streets)).into(),
            rng.pick(&world.cities).into(),
            format!("{first} {last}").into(),
            format!("+44 7700 9{:05}", rng.below(100_000)).into(),
            format!("{}.{}@site{}.example", first.to_lowercase(), last.to_lowercase(), index + 1).into(),
        ];
        sites.add(connection, row).await?;
    }
    sites.write(connection).await
}
