import { connect, type Database } from '@tollgate/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMINED_ENTRIES } from '../../src/admin/audit/reader.ts'
import { type AdminServices, execute } from '../../src/admin/execute.ts'
import type { JsonLinesResult } from '../../src/admin/lines.ts'
import { OPERATIONS, requireOperation } from '../../src/admin/operations/all.ts'
import { createAdminServices } from '../../src/admin/services.ts'
import { createServiceBilling, NO_PROVIDER } from '../../src/billing.ts'
import { createCore } from '../../src/core.ts'
import { createLogger } from '../../src/logger.ts'
import { createRecovery } from '../../src/recovery/recovery.ts'
import { testConfig } from '../support.ts'
import { addEntries, addPeople, PERSON } from './many-rows.ts'
import { explain } from './query-plan.ts'

/** Every list, with its filters. A list that has further pages is read on the second one, too. */
const LISTS: ReadonlyArray<readonly [operation: string, input: Readonly<Record<string, string>>]> =
  [
    ['users.list', {}],
    ['users.list', { email: 'person-2@example.com' }],
    ['users.list', { customer: 'cus_2' }],
    ['users.list', { role: 'support' }],
    ['users.list', { customer: 'cus_20', role: 'support' }],
    ['users.listSessions', { id: String(PERSON) }],
    ['users.listApplications', { id: String(PERSON) }],
    ['users.listTokens', { id: String(PERSON) }],
    ['users.listLinks', { id: String(PERSON) }],
    ['users.listTimeline', { id: String(PERSON) }],
    ['teams.list', {}],
    ['teams.list', { user_id: String(PERSON) }],
    ['teams.list', { search: 'Team' }],
    ['teams.list', { search: 'nowhere' }],
    ['teams.list', { search: 'team-00000002' }],
    ['billing.listSubscriptionsOf', { owner: 'team:team-00000001' }],
    ['clients.list', {}],
    ['clients.list', { search: 'Application' }],
    ['clients.list', { search: 'nowhere' }],
    ['clients.list', { search: 'client-00000002' }],
    ['audit.list', {}],
    ['audit.list', { actor_kind: 'operator', actor_id: '7' }],
    ['audit.list', { operation: 'users.disable' }],
    ['audit.list', { subject_kind: 'user', subject_id: String(PERSON) }],
    ['audit.list', { owner: String(PERSON) }],
    ['audit.list', { outcome: 'failed' }],
    ['audit.list', { from: '2020-01-01T00:00:00Z' }],
    ['audit.list', { to: '2100-01-01T00:00:00Z' }],
    ['audit.list', { outcome: 'failed', from: '2020-01-01T00:00:00Z' }],
    ['audit.list', { actor_kind: 'operator', actor_id: '7', operation: 'users.disable' }],
    ['audit.list', { operation: 'users.disable', outcome: 'refused' }],
    ['audit.head', {}],
    ['billing.listSubscriptions', {}],
    ['billing.listSubscriptions', { provider: 'stripe' }],
    ['billing.listSubscriptions', { state: 'active' }],
    ['billing.listSubscriptions', { plan: 'monthly' }],
    ['billing.listSubscriptionsOf', { owner: String(PERSON) }],
    ['billing.listPlans', {}],
    ['billing.listDisputes', {}],
    ['billing.listDisputes', { status: 'open' }],
    ['billing.listDisputes', { owner: String(PERSON) }],
    ['webhooks.list', {}],
    ['webhooks.list', { state: 'done' }],
    ['webhooks.listDeliveries', {}],
    ['webhooks.listDeliveries', { state: 'pending' }],
    ['webhooks.listEndpoints', {}],
    ['keys.list', {}],
    ['mail.list', {}],
    ['mail.listAboutAccounts', {}],
  ]

/** Lists that a payment provider answers. */
const AT_PROVIDERS = [
  'billing.listInvoices',
  'billing.findInvoices',
  'billing.listPrices',
  'billing.listCoupons',
  'billing.listPromotionCodes',
  'billing.listUsage',
  'billing.listTaxIds',
  'billing.listCreditNotes',
]

/** Lists of use that the gate counts: gate.test.ts has the plan of their query. */
const OF_GATE = ['billing.listQuotas', 'billing.listTopUse']

/** Tables that grow with the number of people. The lists of subscriptions are tested by billing. */
const BIG = [
  'users',
  'sessions',
  'teams',
  'team_members',
  'oauth_clients',
  'oauth_tokens',
  'oauth_consents',
  'audit_entries',
  'audit_personal',
  'admin_requests',
  'billing_webhooks',
  'billing_deliveries',
  'billing_notices',
]

/** Conditions on an index after which only rows of one person, or at most one, are left. */
const OF_ONE_PERSON = /\((?:rowid|user_id|email_key|provider=\? AND provider_id)=\?/

/** Statements in the background: the feed of revocations, logouts, and the time of the database. */
const FROM_TIME_TO_TIME = /oauth_(?:revocations|heartbeats|logouts)|tollgate_clock| as now$/

let database: Database
let services: AdminServices
let statements: string[] = []
const closers: Array<() => unknown> = []

beforeAll(async () => {
  const { config, databaseUrl, remove } = await testConfig()
  closers.push(remove)
  const onQuery = (sql: string) => !FROM_TIME_TO_TIME.test(sql) && statements.push(sql)
  database = await connect(databaseUrl, { timeout: 60_000, onQuery })
  closers.push(() => database.close())
  const logger = createLogger('silent')
  const parts = { config, database, clock: database.clock, logger, background: false }
  const core = createCore({ ...parts, url: 'http://localhost' })
  closers.push(() => core.oauth.close())
  const billing = createServiceBilling({ ...parts, providers: NO_PROVIDER })
  closers.push(() => billing.close())
  await Promise.all([core.oauth.ready(), billing.migrate()])
  services = createAdminServices({
    gate: null,
    ...parts,
    ...core,
    recovery: createRecovery({
      ...{ ...parts, ...core, url: 'http://localhost' },
      ...{ mailer: null, hasMail: false },
    }),
    billing: { rows: async () => billing, provider: async () => billing },
  })
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

interface Page {
  readonly data?: readonly unknown[]
  readonly next?: string | null
}

async function read(name: string, input: object): Promise<Page> {
  const actor = { kind: 'command', id: 'test' } as const
  const caller = { actor, door: 'command', address: null, requestId: null } as const
  return (await execute(requireOperation(name), { caller, input }, services)) as Page
}

/** Reads the first two pages, and returns the statements of each. */
async function recordPageStatements(name: string, given: object): Promise<string[][]> {
  const input = hasPages(name) ? { ...given, limit: 5 } : given
  const { sent: first, page } = await recordStatements(() => read(name, input))
  if (page.next == null) return [first]
  const { sent: second } = await recordStatements(() => read(name, { ...input, after: page.next }))
  return [first, second]
}

async function recordStatements(
  work: () => Promise<Page>,
): Promise<{ page: Page; sent: string[] }> {
  statements = []
  const page = await work()
  const sent = statements
  statements = []
  return { page, sent }
}

const fieldsOf = (schema: unknown): object => (schema as { shape?: object }).shape ?? {}
const hasPages = (name: string) => 'after' in fieldsOf(requireOperation(name).input)

describe('the lists in the management API', () => {
  beforeAll(async () => {
    await addPeople(database, 1, 50)
  })

  it('are all covered by this test, except for those read from payment providers', () => {
    const lists = OPERATIONS.filter(
      ({ effect, output }) => effect === 'read' && 'data' in fieldsOf(output),
    )
    const tested = new Set(LISTS.map(([name]) => name).filter((name) => name !== 'audit.head'))
    expect([...tested, ...AT_PROVIDERS, ...OF_GATE].sort()).toEqual(
      lists.map(({ name }) => name).sort(),
    )
  })

  it('need no more SQL statements for ten times as many people', async () => {
    const countAll = async () => {
      const counts: string[] = []
      for (const [name, input] of LISTS) {
        const pages = await recordPageStatements(name, input)
        const numbers = pages.map((sent) => sent.length).join(' and ')
        counts.push(`${name} ${JSON.stringify(input)}: ${numbers}`)
      }
      return counts
    }
    // The first calls prepare what later ones find prepared.
    await countAll()
    const few = await countAll()
    await addPeople(database, 51, 500)
    expect(await countAll()).toEqual(few)
  })

  it.runIf(process.env.TEST_DATABASE === 'sqlite').each(LISTS)(
    'neither read a large table completely nor sort it: %s with %j',
    async (name, input) => {
      const found: string[] = []
      for (const sent of await recordPageStatements(name, input)) {
        for (const statement of sent) found.push(...(await findSlowSteps(statement)))
      }
      expect(found).toEqual([])
    },
  )
})

/** A search in names examines 10,000 clients for one page: `pages.test.ts` of oauth tests it. */
const NAME_SEARCH = /name like \?/

/** Returns the steps of a statement that take longer the more people there are. */
async function findSlowSteps(statement: string): Promise<string[]> {
  const steps = await explain(database, statement)
  const big = steps.filter(({ table }) => table !== null && BIG.includes(table))
  const isOfOnePerson = big.every(({ text }) => OF_ONE_PERSON.test(text))
  // In the order of an index, a statement without a condition ends at its limit.
  const endsEarly = / limit /.test(statement) && !/ where /.test(statement)
  const isBounded = endsEarly || NAME_SEARCH.test(statement)
  return steps
    .filter((step) =>
      step.isSort ? !isOfOnePerson : big.includes(step) && step.isScan && !isBounded,
    )
    .map(({ text }) => `${text}, in ${statement}`)
}

describe('a long audit log in the management API', () => {
  const RARE = { operation: 'keys.rotate', outcome: 'failed' }
  let first: string
  let last: string
  beforeAll(async () => {
    const count = EXAMINED_ENTRIES + 500
    const isRare = (n: number) => n === 1 || n === count
    const ids = await addEntries(database, count, (n) => ({
      operation: RARE.operation,
      outcome: isRare(n) ? RARE.outcome : 'done',
    }))
    first = ids[0] ?? ''
    last = ids.at(-1) ?? ''
  })

  it('is searched in steps if several filters are given, without leaving anything out', async () => {
    const pages: string[][] = []
    let after: string | null | undefined
    do {
      const page: Page = await read('audit.list', { ...RARE, ...(after && { after }) })
      pages.push((page.data as { id: string }[]).map(({ id }) => id))
      after = page.next
    } while (after)
    expect(pages).toEqual([[last], [first]])
  })

  it('is exported completely if several filters are given', async () => {
    const { pages } = (await read('audit.export', RARE)) as unknown as JsonLinesResult
    const ids: string[] = []
    for await (const page of pages) ids.push(...(page as { id: string }[]).map(({ id }) => id))
    expect(ids).toEqual([first, last])
  })

  it('returns an empty page and a cursor if a step finds no match', async () => {
    const found = await read('audit.list', { ...RARE, outcome: 'refused' })
    expect(found).toMatchObject({ data: [], next: expect.any(String) })
    const { next: after } = found
    const rest = await read('audit.list', { ...RARE, outcome: 'refused', after })
    expect(rest).toEqual({ data: [], next: null })
  })
})
