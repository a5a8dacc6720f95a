use crate::workload::{
    Settings, CONSUMER, ENTRIES_AT_ONCE, FIELD, GROUP, MESSAGES_AT_ONCE, SCRIPT_THAT_ADDS, STREAM, VALUE,
};
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::AsyncCommands;

pub async fn add(s: &Settings, mut connection: MultiplexedConnection) {
    let _: i64 = connection.del(STREAM).await.unwrap();
    for _ in 0..s.n / ENTRIES_AT_ONCE as u64 {
        let mut pipe = redis::pipe();
        for _ in 0..ENTRIES_AT_ONCE {
            pipe.xadd(STREAM, "*", &[(FIELD, VALUE)]);
        }
        let ids: Vec<String> = pipe.query_async(&mut connection).await.unwrap();
        assert_eq!(ids.len(), ENTRIES_AT_ONCE);
    }
}

pub async fn consume(s: &Settings, mut connection: MultiplexedConnection) {
    let _: i64 = connection.del(STREAM).await.unwrap();
    let () = connection.xgroup_create_mkstream(STREAM, GROUP, "0").await.unwrap();
    let options = StreamReadOptions::default().group(GROUP, CONSUMER).count(ENTRIES_AT_ONCE);
    for _ in 0..s.scripts() {
        let _: i64 =
            redis::cmd("EVAL").arg(SCRIPT_THAT_ADDS).arg(0).arg(VALUE).query_async(&mut connection).await.unwrap();
        let mut left = MESSAGES_AT_ONCE as usize;
        while left > 0 {
            let found: Option<StreamReadReply> =
                connection.xread_options(&[STREAM], &[">"], &options).await.unwrap();
            let mut ids = Vec::new();
            for entry in &found.unwrap().keys[0].ids {
                assert_eq!(entry.get::<String>(FIELD).unwrap(), VALUE);
                ids.push(entry.id.clone());
            }
            let acknowledged: usize = connection.xack(STREAM, GROUP, &ids).await.unwrap();
            assert_eq!(acknowledged, ids.len());
            left -= ids.len();
        }
    }
}
