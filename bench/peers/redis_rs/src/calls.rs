use crate::workload::{key_of, Settings, VALUE};
use redis::aio::MultiplexedConnection;
use redis::AsyncCommands;

async fn call(mut connection: MultiplexedConnection, key: String, n: u64) {
    for i in 0..n {
        if i % 2 == 0 {
            let () = connection.set(&key, VALUE).await.unwrap();
        } else {
            let value: String = connection.get(&key).await.unwrap();
            assert_eq!(value, VALUE);
        }
    }
}

pub async fn multiplexed(s: &Settings, connection: MultiplexedConnection) {
    let callers: Vec<_> =
        (0..s.callers).map(|i| tokio::spawn(call(connection.clone(), key_of(i), s.share(i)))).collect();
    for caller in callers {
        caller.await.unwrap();
    }
}

pub async fn pipeline(s: &Settings, mut connection: MultiplexedConnection) {
    let keys: Vec<_> = (0..s.callers).map(key_of).collect();
    for round in 0..s.n / s.callers {
        let mut pipe = redis::pipe();
        if round % 2 == 0 {
            for key in &keys {
                pipe.set(key, VALUE).ignore();
            }
            let () = pipe.query_async(&mut connection).await.unwrap();
        } else {
            for key in &keys {
                pipe.get(key);
            }
            let values: Vec<String> = pipe.query_async(&mut connection).await.unwrap();
            assert!(values.len() == keys.len() && values.iter().all(|v| v == VALUE));
        }
    }
}
