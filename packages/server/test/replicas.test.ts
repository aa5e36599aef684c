import { connect } from '@tollgate/database'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  findMariadb,
  type MariadbReplication,
  startMariadbReplication,
} from '../../../test-support/mariadb-server.ts'
import {
  type PostgresPrimary,
  type PostgresStandby,
  startPostgresServer,
} from '../../../test-support/postgres-server.ts'
import { startTcpProxy, type TcpProxy } from '../../../test-support/tcp-proxy.ts'
import { checkDatabase, checkReplication } from '../src/cli/doctor/database.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

const mariadb = process.env.TEST_DATABASE === 'mariadb' ? findMariadb() : null
if (process.env.TEST_DATABASE === 'mariadb' && !mariadb) {
  console.log('Replicas of MariaDB are left out: install mariadb-server, or use .ci/run')
}

/** The findings of `doctor` for a database that it may be unable to open. */
async function examine(url: string) {
  const { config, remove } = await testConfig({ environment: { DATABASE_URL: url } })
  const { findings, database } = await checkDatabase(config)
  await database?.close()
  await remove()
  return findings
}

describe.runIf(process.env.TEST_DATABASE === 'postgres')('a service on a lagging standby', () => {
  let primary: PostgresPrimary
  let standby: PostgresStandby
  let proxy: TcpProxy
  let service: TestService
  beforeAll(async () => {
    primary = await startPostgresServer()
    standby = await primary.startStandby()
    proxy = await startTcpProxy(primary.url)
    service = await startTestService({ environment: { DATABASE_URL: proxy.url } })
    await service.users.create({ email: 'ada@example.com', password: 'correct horse', name: 'Ada' })
  })
  afterAll(async () => {
    await service.stop()
    await proxy.close()
    await standby.remove()
    await primary.remove()
  })
  afterEach(async () => {
    proxy.leadTo(primary.url)
    await proxy.heal()
  })

  const readiness = async () => {
    const response = await fetch(`${service.url}/readyz`)
    return { status: response.status, said: ((await response.json()) as { status: string }).status }
  }

  it('reports the lag at /readyz and in its log, and accepts no session until the standby has caught up (threat Q5)', async () => {
    const browser = service.browser()
    await browser.signIn('ada@example.com', 'correct horse')
    expect((await browser.get('/account')).status).toBe(200)
    await standby.catchUp()
    await standby.pause()
    proxy.leadTo(standby.url)
    await proxy.heal()
    const said = 'the database server is a standby, read-only or behind'
    await expect.poll(readiness).toEqual({ status: 503, said })
    for (let i = 0; i < 10; i += 1) expect((await browser.get('/account')).status).toBe(503)
    const stranger = await service.browser().signIn('ada@example.com', 'correct horse')
    expect(stranger.status).toBe(503)
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    const lines = () => service.log().match(/every token is rejected with 503/g)
    await expect.poll(() => lines()?.length).toBe(1)
    proxy.leadTo(primary.url)
    await proxy.heal()
    await expect.poll(readiness).toEqual({ status: 200, said: 'ok' })
    expect((await browser.get('/account')).status).toBe(200)
    await expect.poll(() => service.log()).toContain('is the primary again')
    expect(lines()).toHaveLength(1)
  })

  it('is reported by doctor, with advice (threat Q5)', async () => {
    const [finding] = await examine(standby.url)
    expect(finding?.level).toBe('problem')
    expect(finding?.message).toContain('is a standby in recovery')
    expect(finding?.fix).toContain('Point DATABASE_URL to the primary')
  })
})

describe.runIf(mariadb)('doctor on a MariaDB replica', () => {
  let replication: MariadbReplication
  beforeAll(async () => {
    replication = await startMariadbReplication(mariadb ?? '')
    await replication.primary.ask('create user app; grant all on test.* to app')
    await replication.catchUp()
  })
  afterAll(() => replication.remove())

  async function levelsAt(url: string): Promise<string[]> {
    const database = await connect(url)
    try {
      return (await checkReplication(database)).map(({ level, message }) => `${level}: ${message}`)
    } finally {
      await database.close()
    }
  }

  it('warns of a replica that accepts writes, and accepts the primary (threat Q5)', async () => {
    const { primary, replica } = replication
    expect(await levelsAt(primary.url)).toEqual(['ok: The database server is not a replica'])
    expect(await levelsAt(replica.url)).toEqual([
      'warning: The database server is a replica of another server, but accepts writes',
    ])
    expect(await levelsAt(replica.url.replace('root@', 'app@'))).toEqual([
      'ok: The database user is not allowed to see whether the server is a replica of another',
    ])
  })

  it('reports a problem for a read-only replica (threat Q5)', async () => {
    await replication.replica.ask('set global read_only = 1')
    const [finding] = await examine(replication.replica.url)
    expect(finding?.level).toBe('problem')
    expect(finding?.message).toContain('is read-only')
    expect(finding?.fix).toContain('Point DATABASE_URL to the primary')
  })
})
