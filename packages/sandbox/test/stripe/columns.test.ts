import fc from 'fast-check'
import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { startStripeSandbox } from './support.ts'

type Fields = Record<string, unknown>

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('subscribe' as const), n: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change' as const), n: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('advance' as const), n: fc.nat(40) }) },
  fc.record({ do: fc.constant('customer' as const), n: fc.nat(3) }),
  fc.record({ do: fc.constant('refund' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('pay' as const), n: fc.nat(3) }),
  fc.record({ do: fc.constant('remove' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('clock' as const), n: fc.nat(60) }),
  fc.record({ do: fc.constant('remember' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('restore' as const), n: fc.nat(9) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const CARDS = ['pm_card_visa', 'pm_card_chargeCustomerFail', 'pm_card_mastercard']
const EMAILS = ['ada@example.com', 'Ada@Example.com', 'bob@example.com', '']
const PAIRS: readonly Record<string, string>[] = [
  {},
  { k: 'v' },
  { k: 'V', constructor: 'x' },
  { other: '1' },
]

/** Applies steps. Some are rejected, which must leave no trace in any list. */
async function applySteps({ stripe, sandbox }: Setup, steps: readonly Step[]): Promise<void> {
  const product = await stripe.products.create({ name: 'Gold' })
  const { id: price } = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  let kept = sandbox.snapshot()
  const some = async (n: number) => {
    const { data } = await stripe.customers.list({ limit: 10 })
    return data[n % Math.max(1, data.length)]?.id ?? 'cus_none'
  }
  const create = (n: number, more: Stripe.CustomerCreateParams = {}) =>
    stripe.customers.create({
      email: EMAILS[n] ?? '',
      metadata: PAIRS[n] ?? {},
      payment_method: CARDS[n % CARDS.length] ?? '',
      invoice_settings: { default_payment_method: CARDS[n % CARDS.length] ?? '' },
      ...more,
    })
  const subscribe = async (n: number, customer: string) =>
    stripe.subscriptions.create({ customer, items: [{ price }], metadata: PAIRS[n] ?? {} })
  const actions: Record<Step['do'], (n: number) => Promise<unknown>> = {
    customer: (n) => create(n),
    subscribe: async (n) => subscribe(n, (await create(n)).id),
    change: async (n) =>
      stripe.customers.update(await some(n), {
        email: EMAILS[n % 4] ?? '',
        metadata: { k: `${n}` },
      }),
    advance: async (n) => sandbox.clock.advance({ days: n }),
    refund: async (n) => {
      const { data } = await stripe.charges.list({ limit: 10 })
      return stripe.refunds.create({ charge: data[n % Math.max(1, data.length)]?.id ?? 'ch_none' })
    },
    pay: async (n) =>
      stripe.paymentIntents.create({
        amount: 100 * (n + 1),
        currency: n === 1 ? 'eur' : 'usd',
        confirm: true,
        metadata: PAIRS[n] ?? {},
        payment_method: CARDS[n % CARDS.length] ?? '',
        return_url: 'https://shop.example/done',
      }),
    remove: async (n) => stripe.customers.del(await some(n)),
    clock: async (n) => {
      const now = Math.floor(sandbox.clock.now().getTime() / 1000)
      const clock = await stripe.testHelpers.testClocks.create({ frozen_time: now })
      await subscribe(n % 4, (await create(0, { test_clock: clock.id })).id)
      await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: now + n * 86_400 })
    },
    remember: async () => {
      kept = sandbox.snapshot()
    },
    restore: async () => sandbox.restore(kept),
  }
  for (const { do: name, n } of steps) {
    try {
      await actions[name](n)
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === undefined) throw error
    }
  }
}

type Setup = Awaited<ReturnType<typeof startStripeSandbox>>

it('a list of events of one type, read by columns, contains the same events as a filter over all events', async () => {
  const { stripe, sandbox } = await startStripeSandbox()
  const run = async (steps: Step[], limit: number, part: number) => {
    sandbox.reset()
    await applySteps({ stripe, sandbox } as Setup, steps)
    const all = await pages((page) => stripe.events.list({ ...page, limit: 100 }))
    const types = [...new Set(all.map(({ type }) => type))]
    const times = all.map(({ created }) => created)
    const [from, to] = [times[part % times.length] ?? 0, times[0] ?? 0]
    for (const asked of [
      ...types.map((type) => [type]),
      types.filter((_, at) => at % 3 === part % 3),
      ['invoice.*'],
      ['invoice.nothing'],
    ]) {
      if (asked.length === 0) continue
      const [type = ''] = asked
      const by = asked.length === 1 ? { type } : { types: asked }
      const found = await pages((page) =>
        stripe.events.list({ ...by, ...page, limit, created: { gte: from, lte: to } }),
      )
      const wanted = all.filter(
        (event) =>
          event.created >= from &&
          (type.endsWith('*')
            ? event.type.startsWith(type.slice(0, -1))
            : asked.includes(event.type)),
      )
      expect(found).toEqual(wanted)
      const [newer, older] = [wanted[1], wanted.at(-1)]
      if (newer && older && newer !== older) {
        const before = await stripe.events.list({ ...by, ending_before: older.id, limit: 100 })
        expect(before.data.at(-1)?.id).toBe(wanted.at(-2)?.id)
      }
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 10 }),
      fc.integer({ min: 1, max: 30 }),
      fc.nat(200),
      run,
    ),
    { numRuns: 8 },
  )
})

const RESOURCES = {
  charges: ['amount', 'created', 'currency', 'customer', 'disputed', 'refunded', 'status'],
  customers: ['created', 'email', 'name'],
  invoices: ['created', 'customer', 'number', 'status', 'total', 'subscription'],
  payment_intents: ['amount', 'created', 'currency', 'customer', 'status'],
  prices: ['active', 'currency', 'product', 'type'],
  products: ['active', 'name'],
  subscriptions: ['canceled_at', 'created', 'status'],
} as const
const NUMBERS = ['amount', 'canceled_at', 'created', 'total']
const WORDS = ['email', 'name']

interface Clause {
  readonly field: number
  readonly like: number
  readonly operator: number
  readonly negated: boolean
}
const clause: fc.Arbitrary<Clause> = fc.record({
  field: fc.nat(20),
  like: fc.nat(20),
  operator: fc.nat(5),
  negated: fc.boolean(),
})
const query = fc.record({
  clauses: fc.array(clause, { minLength: 1, maxLength: 3 }),
  any: fc.boolean(),
})

/** Returns a clause about a value that some object has, as query text and as a predicate. */
function toClause(
  { field: at, like, operator, negated }: Clause,
  fields: readonly string[],
  objects: readonly Fields[],
): { text: string; isTrue: (object: Fields) => boolean } {
  const names = [...fields, 'metadata["k"]', 'metadata["constructor"]']
  const name = names[at % names.length] ?? ''
  const read = (object: Fields) => {
    const key = /"(.*)"/.exec(name)?.[1]
    const value = key === undefined ? object[name] : (object.metadata as Fields)[key]
    if (name === 'subscription') {
      const parent = object.parent as Stripe.Invoice.Parent | null
      return parent?.subscription_details?.subscription ?? null
    }
    return key === 'constructor' && !Object.hasOwn(object.metadata as Fields, key)
      ? null
      : (value ?? null)
  }
  const sample = objects[like % Math.max(1, objects.length)]
  const value = sample === undefined ? null : read(sample)
  const minus = negated ? '-' : ''
  const lower = (each: unknown) => String(each).toLowerCase()
  if (value === null) {
    return {
      text: `${minus}${name}:null`,
      isTrue: (object) => (read(object) === null) !== negated,
    }
  }
  const number = Number(value)
  const signs = {
    '>': (each: unknown) => Number(each) > number,
    '<=': (each: unknown) => Number(each) <= number,
    '~': (each: unknown) => lower(each).includes(lower(value)),
    ':': (each: unknown) => lower(each) === lower(value),
  }
  const allowed = NUMBERS.includes(name)
    ? [':', '>', '<=']
    : WORDS.includes(name)
      ? [':', '~']
      : [':']
  const sign = (allowed[operator % allowed.length] ?? ':') as keyof typeof signs
  return {
    text: `${minus}${name}${sign}${NUMBERS.includes(name) ? value : `"${value}"`}`,
    isTrue: (object) => {
      const own = read(object)
      return (own !== null && signs[sign](own)) !== negated
    },
  }
}

it('the Stripe sandbox returns the same objects from every search as a scan of all objects', async () => {
  const { stripe, sandbox } = await startStripeSandbox()
  const search = (resource: string, params: Record<string, string>) =>
    stripe.rawRequest(
      'GET',
      `/v1/${resource}/search?${new URLSearchParams(params)}`,
    ) as unknown as Promise<{ data: Fields[]; next_page: string | null }>
  const searchAll = async (resource: string, text: string, limit: number) => {
    const found: Fields[] = []
    for (let page: string | undefined; ; ) {
      const answer = await search(resource, {
        query: text,
        limit: `${limit}`,
        ...(page && { page }),
      })
      found.push(...answer.data)
      if (answer.next_page === null) return found
      page = answer.next_page
    }
  }
  const run = async (
    steps: readonly Step[],
    queries: Array<typeof query extends fc.Arbitrary<infer Q> ? Q : never>,
    limit: number,
  ) => {
    sandbox.reset()
    for (const part of [steps.slice(0, 4), steps.slice(4)]) {
      await applySteps({ stripe, sandbox } as Setup, part)
      for (const [resource, fields] of Object.entries(RESOURCES)) {
        const all = await searchAll(resource, '-metadata["none"]:"none"', 100)
        for (const { clauses, any } of queries) {
          const read = clauses.map((each) => toClause(each, fields, all))
          const wanted = all.filter((object) =>
            any && read.length > 1
              ? read.some(({ isTrue }) => isTrue(object))
              : read.every(({ isTrue }) => isTrue(object)),
          )
          const text = read.map((each) => each.text).join(any ? ' OR ' : ' AND ')
          const found = await searchAll(resource, text, limit)
          expect(found, `${resource}: ${text}`).toEqual(wanted)
        }
      }
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 10 }),
      fc.array(query, { minLength: 3, maxLength: 5 }),
      fc.integer({ min: 1, max: 30 }),
      run,
    ),
    { numRuns: 8 },
  )
})

/** Reads all pages of a list, each starting after the last object of the previous one. */
async function pages<T extends { id: string }>(
  list: (page: { starting_after?: string }) => Promise<{ data: T[]; has_more: boolean }>,
): Promise<T[]> {
  const found: T[] = []
  for (;;) {
    const last = found.at(-1)
    const { data, has_more } = await list(last ? { starting_after: last.id } : {})
    found.push(...data)
    if (!has_more) return found
  }
}
