//! Search quality on phrasings that the data does not hold, and the proof that it does not hold them.

use std::collections::HashSet;

use aldgate_field_service::ServerName;
use serde_json::{Value, json};

use crate::site::{Site, start};

/// Share of questions whose answer is first, and among the first five.
#[derive(Default)]
struct Score {
    asked: usize,
    first: usize,
    five: usize,
}

impl Score {
    fn add(&mut self, rank: Option<usize>) {
        self.asked += 1;
        self.first += usize::from(rank == Some(0));
        self.five += usize::from(rank.is_some_and(|rank| rank < 5));
    }

    fn check(&self, what: &str) {
        let percent = |count: usize| 100.0 * count as f64 / self.asked as f64;
        println!(
            "{what}: {} asked, top-1 {:.0} %, top-5 {:.0} %",
            self.asked,
            percent(self.first),
            percent(self.five)
        );
        assert!(percent(self.first) >= 60.0, "{what}: top-1 {:.0} %", percent(self.first));
        assert!(percent(self.five) >= 85.0, "{what}: top-5 {:.0} %", percent(self.five));
    }
}

fn questions(file: &str) -> Vec<Value> {
    let path = format!("{}/eval/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test]
async fn a_symptom_in_other_words_finds_the_fault() {
    let site = start().await;
    let questions = questions("symptoms.json");
    assert_eq!(questions.len(), 100);
    let (mut all, mut held_out) = (Score::default(), Score::default());
    let mut missed = Vec::new();
    for question in &questions {
        let arguments = json!({ "model_variant": "AC-250-S", "symptom": question["symptom"], "limit": 5 });
        let found = site.done(ServerName::Tickets, "search_tickets", arguments).await;
        let codes: Vec<&Value> =
            found["tickets"].as_array().unwrap().iter().map(|t| &t["fault_code"]).collect();
        let rank = codes.iter().position(|code| **code == question["fault_code"]);
        all.add(rank);
        if question["half"] == json!("held_out") {
            held_out.add(rank);
        }
        if rank != Some(0) && question["half"] == json!("tune") {
            missed.push(format!("{} {} -> {codes:?}", question["fault_code"], question["symptom"]));
        }
    }
    println!("not first, of the half for tuning:\n{}", missed.join("\n"));
    held_out.check("symptoms, held-out half");
    all.check("symptoms, all");
}

#[tokio::test]
async fn a_question_in_other_words_finds_the_passage() {
    let site = start().await;
    let questions = questions("manuals.json");
    assert_eq!(questions.len(), 50);
    let (mut all, mut held_out) = (Score::default(), Score::default());
    let mut missed = Vec::new();
    for question in &questions {
        let mut arguments = question.clone();
        arguments
            .as_object_mut()
            .unwrap()
            .retain(|name, _| ["query", "product_family", "variant"].contains(&&**name));
        arguments["k"] = json!(5);
        let found = site.done(ServerName::Manuals, "search_manual", arguments).await;
        let passages = found["passages"].as_array().unwrap();
        let right = |passage: &Value| {
            passage["section"] == question["section"]
                && (question.get("product_family").is_none()
                    || passage["product_family"] == question["product_family"])
                && (question.get("variant").is_none()
                    || passage["variant"].is_null()
                    || passage["variant"] == question["variant"])
                && passage["superseded"] == json!(false)
        };
        let rank = passages.iter().position(right);
        all.add(rank);
        if question["half"] == json!("held_out") {
            held_out.add(rank);
        }
        if rank != Some(0) && question["half"] == json!("tune") {
            let sections: Vec<&Value> = passages.iter().map(|passage| &passage["section"]).collect();
            missed.push(format!("{} {} -> {sections:?}", question["section"], question["query"]));
        }
    }
    println!("not first, of the half for tuning:\n{}", missed.join("\n"));
    held_out.check("manual questions, held-out half");
    all.check("manual questions, all");
}

fn four_grams(text: &str) -> HashSet<Vec<String>> {
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(4).map(<[String]>::to_vec).collect()
}

/// Every text of the store that a symptom or question is searched in, and every text that the generator holds.
async fn known_texts(site: &Site) -> Vec<String> {
    let mut texts = Vec::new();
    let store = format!("sqlite://{}", site.store.display());
    let pool = sqlx::SqlitePool::connect(&store).await.unwrap();
    for query in [
        "SELECT DISTINCT symptom FROM tickets WHERE status = 'closed'",
        "SELECT DISTINCT customer_text FROM tickets WHERE status = 'closed'",
        "SELECT title || '. ' || cause || ' ' || fix FROM faults",
        "SELECT DISTINCT note FROM notes",
        "SELECT title || '. ' || passage FROM passages",
    ] {
        let rows: Vec<String> = sqlx::query_scalar(query).fetch_all(&pool).await.unwrap();
        assert!(!rows.is_empty());
        texts.extend(rows);
    }
    for file in ["data/faults.json", "data/manuals.json", "data/world.json", "data/synonyms.json"] {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        strings(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(), &mut texts);
    }
    texts
}

fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        Value::Object(members) => members.values().for_each(|value| strings(value, into)),
        _ => {}
    }
}

#[tokio::test]
async fn eval_texts_share_no_four_words_in_a_row_with_the_data() {
    let site = start().await;
    let known: HashSet<Vec<String>> =
        known_texts(&site).await.iter().flat_map(|text| four_grams(text)).collect();
    assert!(known.len() > 1000);
    let mut shared = Vec::new();
    for (file, member) in [("symptoms.json", "symptom"), ("manuals.json", "query")] {
        for question in questions(file) {
            let text = question[member].as_str().unwrap().to_owned();
            shared.extend(
                four_grams(&text)
                    .into_iter()
                    .filter(|gram| known.contains(gram))
                    .map(|gram| (text.clone(), gram)),
            );
        }
    }
    assert!(shared.is_empty(), "shared with the data: {shared:#?}");
}
