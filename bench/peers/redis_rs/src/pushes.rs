use crate::workload::{Settings, CHANNEL, MESSAGES_AT_ONCE, SCRIPT, SCRIPT_FOR_MANY, VALUE};
use crate::{config, connect};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, PushInfo, PushKind};
use std::collections::HashMap;
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};

/// A connection that is subscribed to the channel, and its pushes.
async fn subscribed(s: &Settings) -> (MultiplexedConnection, UnboundedReceiver<PushInfo>) {
    let (sender, pushes) = unbounded_channel();
    let mut connection = connect(s, config("").set_push_sender(sender)).await;
    connection.subscribe(CHANNEL).await.unwrap();
    (connection, pushes)
}

async fn receive(mut pushes: UnboundedReceiver<PushInfo>, n: u64) {
    let mut left = n;
    while left > 0 {
        let push = pushes.recv().await.unwrap();
        if push.kind == PushKind::Message {
            left -= 1;
        }
    }
}

async fn call(mut connection: MultiplexedConnection, n: u64) {
    for _ in 0..n {
        let _: i64 = connection.publish(CHANNEL, VALUE).await.unwrap();
    }
}

pub async fn publish(s: &Settings) {
    let (connection, pushes) = subscribed(s).await;
    let receiver = tokio::spawn(receive(pushes, s.n));
    let callers: Vec<_> = (0..s.callers).map(|i| tokio::spawn(call(connection.clone(), s.share(i)))).collect();
    for task in callers {
        task.await.unwrap();
    }
    receiver.await.unwrap();
}

pub async fn run_scripts(s: &Settings) {
    let (mut connection, pushes) = subscribed(s).await;
    let receiver = tokio::spawn(receive(pushes, s.scripts() * MESSAGES_AT_ONCE));
    for _ in 0..s.scripts() {
        let _: i64 = redis::cmd("EVAL").arg(SCRIPT).arg(0).arg(VALUE).query_async(&mut connection).await.unwrap();
    }
    receiver.await.unwrap();
}

async fn follow(mut messages: UnboundedReceiver<String>, n: u64) {
    for _ in 0..n {
        assert_eq!(messages.recv().await.unwrap(), VALUE);
    }
}

/// All messages come through one receiver; it hands them to a channel for each subscriber.
async fn hand_out(
    mut pushes: UnboundedReceiver<PushInfo>,
    subscribers: HashMap<String, UnboundedSender<String>>,
    n: u64,
) {
    let mut left = n;
    while left > 0 {
        let push = pushes.recv().await.unwrap();
        if push.kind == PushKind::Message {
            let message = redis::Msg::from_push_info(push).unwrap();
            subscribers[message.get_channel_name()].send(message.get_payload().unwrap()).unwrap();
            left -= 1;
        }
    }
}

pub async fn run_scripts_for_many(s: &Settings) {
    let (sender, pushes) = unbounded_channel();
    let mut connection = connect(s, config("").set_push_sender(sender)).await;
    let mut subscribers = HashMap::new();
    let mut followers = Vec::new();
    for i in 0..s.callers {
        let name = format!("{CHANNEL}:{i}");
        connection.subscribe(&name).await.unwrap();
        let (sender, messages) = unbounded_channel();
        subscribers.insert(name, sender);
        followers.push(tokio::spawn(follow(messages, s.scripts() * MESSAGES_AT_ONCE / s.callers)));
    }
    followers.push(tokio::spawn(hand_out(pushes, subscribers, s.scripts() * MESSAGES_AT_ONCE)));
    for _ in 0..s.scripts() {
        let _: i64 = redis::cmd("EVAL")
            .arg(SCRIPT_FOR_MANY)
            .arg(0)
            .arg(VALUE)
            .arg(s.callers)
            .query_async(&mut connection)
            .await
            .unwrap();
    }
    for follower in followers {
        follower.await.unwrap();
    }
}
