import { connect, type Database } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { movableClock } from '@tollgate/oauth/testing'
import type { Caller } from '../../src/admin/audit/caller.ts'
import { type AuditChainOptions, createAuditChain } from '../../src/admin/audit/chain.ts'
import type { AuditDescription } from '../../src/admin/audit/described.ts'
import { createAuditLog } from '../../src/admin/audit/log.ts'
import { type VerifyOptions, verifyAudit } from '../../src/admin/audit/verify.ts'
import type { ServiceTables } from '../../src/storage/tables.ts'
import { testConfig } from '../support.ts'

export const SECRETS = ['a secret of the tests with 32 characters']

const silent = { error() {} }

/** Returns an operator with a network address, as the caller of an operation. */
export function operatorCalling(id = '7'): Caller {
  const email = `operator-${id}@example.com`
  return {
    actor: { kind: 'operator', id, email, role: 'admin', signedInAt: new Date() },
    door: 'api',
    address: '203.0.113.9',
    requestId: null,
  }
}

/** An audit log on a database of its own, without the rest of the service. */
export async function startAuditLog() {
  const { database: given, databaseUrl, remove } = await testConfig()
  const database = given as unknown as Database<ServiceTables>
  const clock = movableClock()
  const opened: Database[] = []
  const partsOn = (on: Database) => ({ database: on, clock, secrets: SECRETS })
  const log = createAuditLog(partsOn(given))
  return {
    database,
    clock,
    log,
    /** Opens another connection, as another process would. */
    async connect() {
      const other = await connect(databaseUrl, { timeout: 60_000 })
      opened.push(other)
      return other
    },
    logOn: (on: Database | Database<ServiceTables>, at: Clock = clock) =>
      createAuditLog({ ...partsOn(on as Database), clock: at }),
    chain: (options: Partial<AuditChainOptions> = {}) =>
      createAuditChain({ ...partsOn(given), logger: silent, everySeconds: null, ...options }),
    /** Writes this many entries about a person, and returns their ids. */
    async write(count: number, described: AuditDescription = {}, by = operatorCalling()) {
      const ids: string[] = []
      for (let at = 0; at < count; at += 1) {
        const subject = { kind: 'user', id: '12' }
        const personal = { email: 'person@example.com' }
        ids.push(
          await log.add({
            caller: by,
            operation: 'users.disable',
            outcome: 'done',
            described: { subject, personal, details: { count: at }, ...described },
          }),
        )
      }
      return ids
    },
    verify: (options: Partial<VerifyOptions> = {}) =>
      verifyAudit({ database: given, secrets: SECRETS, ...options }),
    entries: () => database.kysely.selectFrom('audit_entries').selectAll().orderBy('id').execute(),
    async stop() {
      for (const each of opened) await each.close()
      await remove()
    },
  }
}

export type TestAuditLog = Awaited<ReturnType<typeof startAuditLog>>
