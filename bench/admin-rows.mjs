import { sql } from 'kysely'

const MINUTE = 60_000
/** Time between two entries of the audit log, in milliseconds. */
const STEP = 10
/** SQLite keeps a transaction in memory until its end. */
const BATCH = 100_000

/**
 * Writes the rows of this many people directly into the tables: clients for a tenth of them, and two
 * entries of the audit log each. Lists do not check seals and hashes, so none of them are real.
 * Returns places in the middle of the lists.
 */
export async function fill(database, people) {
  const { name } = database.dialect
  const write = DIALECTS[name]
  if (!write) throw new Error(`The benchmark cannot fill ${name}`)
  const now = Date.now()
  const [clients, entries, subscriptions] = [people / 10, people * 2, people / 2]
  const execute = (text) => sql.raw(text).execute(database.kysely)
  const insert = async (table, count, columns) => {
    for (let first = 1; first <= count; first += BATCH) {
      await execute(`INSERT INTO ${table} (${Object.keys(columns)}) SELECT ${Object.values(columns)}
        FROM ${write.series(first, Math.min(first + BATCH - 1, count))}`)
    }
  }
  const id = (kind) => `'${kind}-' || ${write.padded('n')}`
  const client = `'client-' || ${write.padded(`1 + (n * 31) % ${clients}`)}`
  const pick = (...choices) =>
    `CASE n % ${choices.length} ${choices.map((choice, at) => `WHEN ${at} THEN '${choice}'`).join(' ')} END`

  await insert('users', people, {
    id: 'n',
    email: `'person-' || n || '@example.com'`,
    email_key: `'person-' || n || '@example.com'`,
    name: `'Person ' || n`,
    password_hash: `'-'`,
    demo: 0,
    turns: 0,
    created_at: `${now} + n`,
    role: `CASE WHEN n % 100 = 0 THEN 'support' END`,
    provider: pick('stripe', 'braintree'),
    provider_id: `'cus_' || n`,
  })
  await insert('sessions', people, {
    id_hash: id('session'),
    user_id: `1 + (n * 7) % ${people}`,
    created_at: now,
    seen_at: `${now} + n`,
    expires_at: now + 30 * 24 * 60 * MINUTE,
    address: `'203.0.113.9'`,
    browser: `'Firefox'`,
    authenticated_at: now,
    methods: `'pwd'`,
  })
  await insert('oauth_clients', clients, {
    id: id('client'),
    name: `'Application ' || n`,
    confidential: 1,
    secret_version: 1,
    redirect_uris: `'[]'`,
    grant_types: `'["client_credentials"]'`,
    any_scope: 1,
    first_party: 0,
    resource_server: 0,
    created_at: `${now} + n`,
    updated_at: `${now} + n`,
    settings: `'{}'`,
    last_used_at: now,
  })
  await insert('oauth_tokens', people, {
    id: id('token'),
    client_id: client,
    user_id: write.text(`1 + (n * 7) % ${people}`),
    grant_type: `'authorization_code'`,
    scopes: `'[]'`,
    generation: 1,
    client_secret_version: 1,
    issued_at: now,
    expires_at: now + 24 * 60 * MINUTE,
    live_until: now + 24 * 60 * MINUTE,
    created_at: `${now} + n`,
  })
  await insert('oauth_consents', people, {
    user_id: write.text('n'),
    client_id: client,
    scopes: `'[]'`,
    updated_at: now,
  })
  const busyPerson = people / 2
  const owner = write.text(`CASE WHEN n % ${people / 100} = 0 THEN ${busyPerson}
    ELSE 1 + n % ${people} END`)
  const entryId = (n) => `${now.toString(36).padStart(9, '0')}${String(n).padStart(20, '0')}`
  await insert('audit_entries', entries, {
    id: `'${now.toString(36).padStart(9, '0')}' || ${write.padded('n', 20)}`,
    at: `${now} + n * ${STEP}`,
    actor_kind: `'operator'`,
    actor_id: write.text('n % 20'),
    door: `'api'`,
    operation: pick(
      'users.disable',
      'users.enable',
      'users.signOut',
      'clients.update',
      'keys.rotate',
    ),
    outcome: pick('done', 'started', 'failed', 'done'),
    subject_kind: `'user'`,
    subject_id: owner,
    owner_id: owner,
    details: `'{}'`,
    commitments: `'[]'`,
    seal: `'-'`,
    number: 'n',
    chained_at: now,
    hash: id('hash'),
  })
  await insert('audit_personal', entries, {
    entry_id: `'${now.toString(36).padStart(9, '0')}' || ${write.padded('n', 20)}`,
    person: write.text('n % 20'),
    salt: `'-'`,
    content: `'{"actor":{"address":"203.0.113.9"}}'`,
  })
  await insert('admin_requests', people / 10, {
    key_hash: id('key'),
    request_hash: `'-'`,
    created_at: now,
    response: `'{}'`,
  })
  await insert('subscriptions', subscriptions, {
    user_id: 'n',
    name: `'main'`,
    provider: pick('stripe', 'braintree'),
    provider_id: `'sub_' || n`,
    provider_plan: pick('basic', 'pro'),
    // No person has the states that a list looks for in vain.
    provider_status: `CASE WHEN n % 1000 = 0 THEN 'past_due' ELSE 'active' END`,
    quantity: 1,
    created_at: write.moment,
    updated_at: write.moment,
  })
  const queue = {
    event_id: `'evt_' || n`,
    type: `'invoice.paid'`,
    payload: `'{}'`,
    state: pick('done', 'done', 'dead'),
    attempts: 1,
    due_at: `${now} + n`,
  }
  await insert('billing_webhooks', people / 10, {
    ...queue,
    provider: `'stripe'`,
    received_at: now,
  })
  await insert('billing_deliveries', people / 10, {
    ...queue,
    endpoint: `'default'`,
    created_at: now,
  })
  for (const statement of write.tidy) await execute(statement)

  const middle = Math.floor(clients / 2)
  const clientId = `client-${String(middle).padStart(12, '0')}`
  const iso = (time) => new Date(time).toISOString()
  return {
    busyPerson,
    clientId,
    client: Buffer.from(JSON.stringify([now + middle, clientId])).toString('base64url'),
    entry: entryId(people),
    // All entries have one time in their ids, because only their order matters.
    from: iso(now),
    to: iso(now + 1),
    webhook: { id: people / 20, due: now + people / 20 },
  }
}

const DIALECTS = {
  sqlite: {
    series: (first, last) => `(WITH RECURSIVE s(n) AS
      (SELECT ${first} UNION ALL SELECT n + 1 FROM s WHERE n < ${last}) SELECT n FROM s)`,
    padded: (number, length = 12) => `printf('%0${length}d', ${number})`,
    text: (value) => `CAST(${value} AS TEXT)`,
    moment: '1',
    // Without ANALYZE, as the service leaves its file.
    tidy: ['PRAGMA wal_checkpoint(TRUNCATE)'],
  },
  postgres: {
    series: (first, last) => `generate_series(${first}, ${last}) AS s(n)`,
    padded: (number, length = 12) => `lpad((${number})::text, ${length}, '0')`,
    text: (value) => `(${value})::text`,
    moment: 'to_timestamp(1)',
    tidy: ['VACUUM ANALYZE', 'CHECKPOINT'],
  },
}
