-- A ledger of version 1 with one deployment, as that version wrote it. Never edited: later versions must read it.
PRAGMA application_id = 1836214631;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE deployments (
        id TEXT PRIMARY KEY, ref TEXT NOT NULL, cloud TEXT NOT NULL, service TEXT NOT NULL, name TEXT NOT NULL,
        model TEXT NOT NULL, account TEXT NOT NULL, operation TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('creating', 'active', 'deleting', 'ended', 'failed')),
        reason TEXT NOT NULL DEFAULT '', spec TEXT NOT NULL, plan TEXT NOT NULL, facts TEXT NOT NULL DEFAULT '{}',
        created TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '');
INSERT INTO "deployments" VALUES('d-20261129-7f3a','local:llama:this-machine:smollm2','local','llama','smollm2','smollm2-135m','','','active','','{"accelerator":null,"cloud":"local","instance_types":[],"location":null,"max_usd_per_hour":1.5,"model":"smollm2-135m","name":"smollm2","regions":[],"service":"llama","settings":{"context":2048},"ttl_hours":4.0}','{"deployment":"","engine":null,"expected_seconds":null,"hardware":null,"left_out":[],"price":null,"ref":{"cloud":"local","location":"this-machine","name":"smollm2","service":"llama"},"spec":{"accelerator":null,"cloud":"local","instance_types":[],"location":null,"max_usd_per_hour":1.5,"model":"smollm2-135m","name":"smollm2","regions":[],"service":"llama","settings":{"context":2048},"ttl_hours":4.0},"steps":[{"call":{"operation":"Start","parameters":{"port":8080},"service":"llama"},"command":"","creates":true,"reversal":"can be undone","text":"start the engine","until":""}],"warnings":[],"worst_usd_per_hour":null}','{"port":8080}','2026-11-29T19:04:00.000Z','');
CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL,
        deployment TEXT NOT NULL DEFAULT '', operation TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL DEFAULT '');
INSERT INTO "events" VALUES(1,'2026-11-29T19:04:00.000Z','server','deployment begun','d-20261129-7f3a','','local:llama:this-machine:smollm2');
INSERT INTO "events" VALUES(2,'2026-11-29T19:04:00.000Z','server','deployment active','d-20261129-7f3a','','');
INSERT INTO "events" VALUES(3,'2026-11-29T19:04:00.000Z','server','operation queued','','op-7f3a','deploy_endpoint');
INSERT INTO "events" VALUES(4,'2026-11-29T19:04:00.000Z','server','worker started','','op-7f3a','pid 4711');
INSERT INTO "events" VALUES(5,'2026-11-29T19:04:00.000Z','server','operation done','','op-7f3a','deploy_endpoint');
CREATE TABLE operations (
        id TEXT PRIMARY KEY, tool TEXT NOT NULL, arguments TEXT NOT NULL, flags TEXT NOT NULL, cwd TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        message TEXT NOT NULL DEFAULT '', done REAL, total REAL, pid INTEGER, process_created REAL,
        heartbeat TEXT NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, cancel_requested TEXT NOT NULL DEFAULT '',
        result TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
        created TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '');
INSERT INTO "operations" VALUES('op-7f3a','deploy_endpoint','{"name":"smollm2"}','[]','/','done','',NULL,NULL,4711,1.0,'2026-11-29T19:04:00.000Z',1,'','{"structured":{"headline":"deployed"}}','','2026-11-29T19:04:00.000Z','2026-11-29T19:04:00.000Z','2026-11-29T19:04:00.000Z');
CREATE TABLE phases (
        deployment TEXT NOT NULL REFERENCES deployments (id), position INTEGER NOT NULL, phase TEXT NOT NULL,
        seconds REAL NOT NULL, service TEXT NOT NULL, model TEXT NOT NULL, instance_type TEXT NOT NULL,
        at TEXT NOT NULL, PRIMARY KEY (deployment, phase));
CREATE TABLE plans (
        id TEXT PRIMARY KEY, salt BLOB NOT NULL, digest BLOB NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL,
        steps TEXT NOT NULL, read_from TEXT NOT NULL, created TEXT NOT NULL, expires TEXT NOT NULL,
        used TEXT NOT NULL DEFAULT '', misses INTEGER NOT NULL DEFAULT 0);
CREATE TABLE spend (
        id INTEGER PRIMARY KEY AUTOINCREMENT, deployment TEXT NOT NULL REFERENCES deployments (id),
        usd_per_hour REAL, instance_type TEXT NOT NULL DEFAULT '', as_of TEXT NOT NULL DEFAULT '',
        source TEXT NOT NULL DEFAULT '',
        from_earliest TEXT NOT NULL, from_latest TEXT, to_earliest TEXT, to_latest TEXT);
CREATE TABLE steps (
        id INTEGER PRIMARY KEY AUTOINCREMENT, deployment TEXT NOT NULL REFERENCES deployments (id),
        service TEXT NOT NULL, operation TEXT NOT NULL, parameters TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('intent', 'done', 'failed', 'undone')),
        at TEXT NOT NULL, changed TEXT NOT NULL, result TEXT NOT NULL DEFAULT '{}', error TEXT NOT NULL DEFAULT '');
INSERT INTO "steps" VALUES(1,'d-20261129-7f3a','llama','Start','{"port":8080}','done','2026-11-29T19:04:00.000Z','2026-11-29T19:04:00.000Z','{"pid":4711}','');
CREATE INDEX deployments_by_state ON deployments (state, created);
CREATE INDEX steps_by_deployment ON steps (deployment, id);
CREATE INDEX steps_by_state ON steps (state);
CREATE INDEX operations_by_state ON operations (state, created);
CREATE INDEX spend_by_deployment ON spend (deployment);
CREATE UNIQUE INDEX spend_open ON spend (deployment) WHERE to_latest IS NULL;
CREATE INDEX phases_by_key ON phases (service, model, instance_type);
CREATE INDEX events_by_deployment ON events (deployment, id);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',5);
INSERT INTO "sqlite_sequence" VALUES('steps',1);
COMMIT;
