//! Receives destroys (`eno-webhook --sink-url`), which may come more than once, and tells each once.
use std::{collections::BTreeSet, env, io, sync::Mutex};

use axum::{Json, Router, routing::post};

static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new()); // yours: beside what you do about them

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(env::args().nth(1).unwrap_or("127.0.0.1:8090".into())).await?;
    println!("listening http://{}", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/", post(receive))).await
}

async fn receive(Json(event): Json<serde_json::Value>) {
    if KNOWN.lock().unwrap().insert(event["id"].to_string()) {
        println!("{} {} {}", event["type"], event["subject"], event["poduid"]);
    }
}
