import fc from 'fast-check'
import Stripe from 'stripe'
import { expect, it } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import { STRIPE_OPERATIONS } from '../../src/stripe/resources/registry.ts'
import { NODES, ROUTES } from '../../src/stripe/wire/contract.generated.ts'
import { UNSUPPORTED_PARAMS } from '../../src/stripe/wire/unsupported.ts'
import { ConformanceChecker, loadContract } from './conformance.ts'

const contract = await loadContract()
const OFFERED = ROUTES.filter(([, , name]) => name in STRIPE_OPERATIONS)

/** Prefixes of ids by parameter name, so that most calls find an object. */
const PREFIXES: Readonly<Record<string, string>> = {
  charge: 'ch_',
  charges: 'ch_',
  coupon: 'COUPON',
  coupons: 'COUPON',
  customer: 'cus_',
  customers: 'cus_',
  default_payment_method: 'pm_',
  default_price: 'price_',
  default_tax_rates: 'txr_',
  endpoints: 'we_',
  from_subscription: 'sub_1',
  intents: 'pi_',
  invoice: 'in_',
  invoiceitems: 'ii_',
  invoices: 'in_',
  items: 'si_',
  payment_intent: 'pi_',
  payment_intents: 'pi_',
  payment_method: 'pm_',
  payment_methods: 'pm_',
  plan: 'price_',
  price: 'price_',
  prices: 'price_',
  product: 'prod_',
  products: 'prod_',
  refunds: 're_',
  sessions: 'cs_',
  setup_intents: 'seti_',
  subscription: 'sub_1',
  subscription_items: 'si_',
  subscription_schedules: 'sub_sched',
  subscriptions: 'sub_1',
  tax_rates: 'txr_',
  webhook_endpoints: 'we_',
}

type Node = string | number | Record<string, unknown>

/** Generates any parameters that the contract allows: right in type, mostly wrong in meaning. */
class Scribbler {
  readonly #ids: readonly string[]
  readonly #refused: readonly string[]
  readonly #draws: number[]
  #at = 0

  constructor(ids: readonly string[], refused: readonly string[], draws: number[]) {
    this.#ids = ids
    this.#refused = refused
    this.#draws = draws
  }

  pick<T>(values: readonly T[]): T {
    const draw = this.#draws[this.#at++ % this.#draws.length] ?? 0
    return values[draw % values.length] as T
  }

  chance(percent: number): boolean {
    return (this.#draws[this.#at++ % this.#draws.length] ?? 0) % 100 < percent
  }

  write(ref: Node, path: string, depth: number, out: string[]): void {
    const node = (typeof ref === 'number' ? NODES[ref] : ref) as Node
    if (typeof node === 'string') {
      out.push(`${path}=${encodeURIComponent(this.#simple(node, path))}`)
      return
    }
    if (typeof node !== 'object') return
    if ('e' in node) out.push(`${path}=${this.pick(node.e as string[])}`)
    else if ('z' in node) {
      if (this.chance(20)) out.push(`${path}=`)
      else this.write(node.z as Node, path, depth, out)
    } else if ('u' in node) this.write(this.pick(node.u as Node[]), path, depth, out)
    else if ('a' in node) this.write(node.a as Node, `${path}[0]`, depth + 1, out)
    else if ('m' in node) out.push(`${path}[k]=v`)
    else if (depth < 4) {
      const required = (node.r ?? []) as string[]
      for (const [key, child] of Object.entries(node.o as Record<string, Node>)) {
        const wanted =
          required.includes(key) ||
          (!this.#refused.includes(key) && this.chance(depth === 0 ? 12 : 20))
        if (wanted && key !== 'expand')
          this.write(child, path === '' ? key : `${path}[${key}]`, depth + 1, out)
      }
    }
  }

  #simple(type: string, path: string): string {
    const name = /(\w+)\]?$/.exec(path)?.[1] ?? path
    if (type === 'b') return this.pick(['true', 'false'])
    if (type === 'n' && /^(limit|quantity|interval_count|count)$/.test(name))
      return this.pick(['1', '2', '3', '0'])
    if (type === 'n')
      return this.pick([
        '0',
        '1',
        '3',
        '50',
        '999',
        '-5',
        '1771000000',
        '1790000000',
        '99999999',
        '12',
      ])
    if (type === 'd') return this.pick(['0', '1.5', '-3', '1000.25'])
    if (name === 'currency') return this.pick(['usd', 'usd', 'eur', 'nope'])
    if (name === 'query')
      return this.pick(['email:"a"', 'status:"active" AND created>1', 'nonsense', '-name:null'])
    const prefix = PREFIXES[name] ?? (path.endsWith('[id]') ? 'si_' : null)
    const alike = prefix === null ? [] : this.#ids.filter((id) => id.startsWith(prefix))
    if (alike.length > 0 && this.chance(92)) return this.pick(alike)
    if (name === 'email') return this.pick(['a@example.com', 'nobody'])
    if (/url$/.test(name)) return this.pick(['http://127.0.0.1:9/x', 'x'])
    return this.pick([...this.#ids, 'x', 'pm_card_visa', 'tok_visa', 'constructor', '__proto__'])
  }
}

async function seed(stripe: Stripe): Promise<string[]> {
  const customer = await stripe.customers.create({
    email: 'a@example.com',
    payment_method: 'pm_card_visa',
  })
  const [card] = (await stripe.paymentMethods.list({ customer: customer.id })).data
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: card?.id ?? '' },
  })
  const product = await stripe.products.create({ name: 'Gold' })
  const monthly = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const yearly = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 9000,
    recurring: { interval: 'year' },
  })
  const once = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 300,
  })
  const coupon = await stripe.coupons.create({ id: 'COUPON', percent_off: 10, duration: 'forever' })
  const rate = await stripe.taxRates.create({ display_name: 'T', percentage: 10, inclusive: false })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const trial = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: yearly.id }],
    trial_period_days: 9,
  })
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: trial.id })
  const invoice = await stripe.invoices.create({ customer: customer.id })
  const item = await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: invoice.id ?? '',
    amount: 500,
    currency: 'usd',
  })
  const intent = await stripe.paymentIntents.create({
    amount: 900,
    currency: 'usd',
    customer: customer.id,
  })
  const setup = await stripe.setupIntents.create({ customer: customer.id })
  const session = await stripe.checkout.sessions.create({
    mode: 'payment',
    success_url: 'https://example.com',
    line_items: [{ price: once.id, quantity: 1 }],
  })
  const endpoint = await stripe.webhookEndpoints.create({
    url: 'http://127.0.0.1:9',
    enabled_events: ['account.updated'],
  })
  return [
    customer.id,
    card?.id ?? '',
    product.id,
    monthly.id,
    yearly.id,
    once.id,
    coupon.id,
    rate.id,
    subscription.id,
    trial.id,
    schedule.id,
    subscription.items.data[0]?.id ?? '',
    invoice.id ?? '',
    item.id,
    intent.id,
    setup.id,
    session.id,
    endpoint.id,
    String(subscription.latest_invoice),
  ]
}

it('the Stripe sandbox never responds to random calls with status 500, and responds to accepted calls with complete objects', {
  timeout: 600_000,
}, async () => {
  const checker = new ConformanceChecker(contract)
  const call = fc.record({
    route: fc.nat(OFFERED.length - 1),
    draws: fc.array(fc.nat(9999), { minLength: 12, maxLength: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 25, maxLength: 60 }), async (calls) => {
      const sandbox = await startSandbox({ stripe: true, now: new Date('2026-01-31T10:00:00Z') })
      try {
        const stripe = new Stripe(sandbox.stripe.apiKey, {
          ...sandbox.stripe.config,
          maxNetworkRetries: 0,
        })
        const ids = await seed(stripe)
        for (const { route, draws } of calls) {
          const [method, path, name, node] = OFFERED[route] as (typeof OFFERED)[number]
          if (name.includes('TestClocks')) continue
          const refused = UNSUPPORTED_PARAMS[name.split('.')[0] ?? ''] ?? []
          const scribbler = new Scribbler(ids, refused, draws)
          const noun = path.split('/').filter((part) => !part.startsWith(':'))[
            path.includes('/checkout/') ? 3 : 2
          ]
          const own = ids.filter((id) => id.startsWith(PREFIXES[noun ?? ''] ?? '~'))
          const url = path.replaceAll(/:\w+/g, () =>
            encodeURIComponent(
              own.length > 0 && scribbler.chance(90) ? scribbler.pick(own) : scribbler.pick(ids),
            ),
          )
          const out: string[] = []
          scribbler.write(node, '', 0, out)
          const form = out.join('&')
          const response = await fetch(
            `${sandbox.stripe.url}${url}${method === 'POST' ? '' : `?${form}`}`,
            {
              method,
              ...(method === 'POST' ? { body: form } : {}),
              headers: {
                authorization: `Bearer ${sandbox.stripe.apiKey}`,
                'content-type': 'application/x-www-form-urlencoded',
              },
            },
          )
          const body = (await response.json()) as {
            id?: string
            error?: { type: string; message: string }
          }
          expect(
            [200, 400, 402, 403, 404],
            `${method} ${url} ${form} ${body.error?.message}`,
          ).toContain(response.status)
          if (response.status !== 200)
            expect(body.error?.message, `${method} ${url} ${form}`).toBeTruthy()
          else {
            expect(
              checker.check(method, new URL(url, 'http://x').pathname, body),
              `${method} ${url} ${form}`,
            ).toEqual([])
            if (typeof body.id === 'string' && body.id !== '') ids.push(body.id)
          }
        }
        await sandbox.clock.advance({ months: 3 })
      } finally {
        await sandbox.close()
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 15) },
  )
})
