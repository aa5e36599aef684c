import { connect } from '@tollgate/database'
import { createGate, type Gate, type GateOptions, meter, plan } from '@tollgate/gate'
import { afterEach, vi } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'

/** A clock that tests move. It begins in the middle of a month. */
export interface TestClock {
  now(): Date
  set(moment: string): void
}

const meters = {
  calls: meter({ kind: 'count' }),
  tokens: meter({ unit: 'tokens' }),
  capped: meter({ over: 'cap' }),
  billed: meter({ over: 'bill' }),
  seats: meter({ kind: 'gauge' }),
  lenient: meter({ onOutage: { allow: 5 } }),
}
const plans = {
  free: plan<keyof typeof meters>({
    scopes: ['read'],
    quota: {
      calls: '3/month',
      tokens: '100/month',
      capped: '100/month',
      billed: '100/month',
      seats: 2,
      lenient: '1000/month',
    },
  }),
  pro: plan<keyof typeof meters>({
    scopes: ['read', 'write'],
    features: ['export'],
    quota: { calls: '10/month', tokens: 'unlimited', seats: 5 },
  }),
  fast: plan<keyof typeof meters>({ quota: { calls: 'unlimited' }, rate: '2/second' }),
}

export type TestGate = Gate<keyof typeof meters>

/** A gate on a database of its own. */
export interface GateTest extends TestDatabase {
  readonly gate: TestGate
  readonly clock: TestClock
  readonly warnings: string[]
  /** Plans that the application assigns, by id of the user. */
  readonly assigned: Map<string, string>
  /** Creates a gate on this database, as another process has it. */
  create(database: TestDatabase['database'], options?: Partial<GateOptions>): TestGate
  /** Opens a connection and a gate of its own, as another process has them. */
  another(options?: Partial<GateOptions>): Promise<TestGate>
}

export const user = (id: string | number = 7) => ({ type: 'user', id })

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const end of ends.splice(0).reverse()) await end()
})

export function createClock(moment = '2026-03-15T12:00:00Z'): TestClock {
  let now = new Date(moment)
  return {
    now: () => now,
    set(next) {
      now = new Date(next)
    },
  }
}

/** Starts a gate, which the test framework closes. */
export async function startGate(options: Partial<GateOptions> = {}): Promise<GateTest> {
  const test = await createTestDatabase()
  ends.push(() => test.drop())
  const clock = createClock()
  const warnings: string[] = []
  const assigned = new Map<string, string>()
  const logger = {
    warn: (message: string) => void warnings.push(message),
    error: (message: string) => void warnings.push(message),
  }
  const create = (
    database: TestDatabase['database'],
    more: Partial<GateOptions> = {},
  ): TestGate => {
    const gate = createGate({
      database,
      meters,
      plans,
      otherwise: 'free',
      planOf: ({ id }) => assigned.get(String(id)) ?? null,
      clock,
      logger,
      ...(options as object),
      ...(more as object),
    })
    ends.push(() => gate.close())
    return gate
  }
  return {
    ...test,
    gate: create(test.database),
    create,
    clock,
    warnings,
    assigned,
    async another(more) {
      const database = await connect(test.url, { timeout: 10_000 })
      ends.push(() => database.close())
      return create(database, more)
    },
  }
}
