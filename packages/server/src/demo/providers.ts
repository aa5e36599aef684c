import { join } from 'node:path'
import type { BraintreeSettings } from '@tollgate/billing'
import type { Sandbox } from '@tollgate/sandbox'
import Stripe from 'stripe'
import type { Providers } from '../billing.ts'
import type { Config, SmtpSettings } from '../config/config.ts'
import { listAdditionalPrices } from '../config/plan-capabilities.ts'
import type { PriceTerms } from '../config/plans.ts'
import type { Settings } from '../config/settings.ts'

/** A sandbox with both providers, which share one clock. */
export type BothProviders = Sandbox<{ stripe: true; braintree: true }>

export interface DemoProviders {
  readonly sandbox: BothProviders
  /** Starts the sandbox's clock, which stands still at the saved time before. */
  startClock(): void
  close(): Promise<void>
}

export interface DemoProviderOptions {
  readonly config: Config
  /** Port of the service. The control room uses the next port, if it is free. */
  readonly servicePort: number
  /** File for the state of the sandbox. `null` keeps no state. */
  readonly stateFile: string | null
  /** Whether to start the sandbox's mail server. */
  readonly hasMailbox: boolean
  readonly now?: Date
}

const TICK = 1000
const SAVE_INTERVAL = 5000

/** Starts a sandbox of both payment providers from its saved state. */
export async function startProviders(options: DemoProviderOptions): Promise<DemoProviders> {
  const { config } = options
  // Imported here, so that a service in production never loads the sandbox.
  const { startSandbox } = await import('@tollgate/sandbox')
  const wanted = config.sandboxPort ?? (config.port === 0 ? 0 : options.servicePort + 1)
  const start = (port: number): Promise<BothProviders> =>
    startSandbox({
      stripe: true,
      braintree: { currency: config.settings.currency.toUpperCase() },
      mail: options.hasMailbox,
      controlRoom: { port },
      ...(options.stateFile === null ? {} : { stateFile: options.stateFile }),
      ...(options.now ? { now: options.now } : {}),
    })
  const sandbox = await start(wanted).catch((error) => {
    if (config.sandboxPort !== null || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
      throw error
    }
    return start(0)
  })
  await definePlans(sandbox, config.settings)
  let stop = async () => {}
  return {
    sandbox,
    startClock() {
      stop = startClock(sandbox)
    },
    async close() {
      await stop()
      await sandbox.close()
    },
  }
}

export function sandboxFileIn(dataDir: string): string {
  return join(dataDir, 'sandbox.json')
}

/** Returns the settings for a mail server of a sandbox, from its URL. */
export function mailboxSettings(url: string): SmtpSettings {
  const { hostname: host, port } = new URL(url)
  const from = { name: 'Tollgate', address: 'billing@tollgate.example' }
  return { host, port: Number(port), isImplicitTls: false, auth: null, needsTls: false, from }
}

/** Returns the billing settings for a sandbox that runs in this process. */
export function sandboxProviders(
  sandbox: BothProviders,
  webhookSecret: string,
  currency: string,
): Providers {
  return {
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret,
      currency,
      config: sandbox.stripe.config,
    },
    braintree: { ...sandbox.braintree.config, currency } as BraintreeSettings,
  }
}

/**
 * Runs the sandbox's clock at the speed of real time, from wherever it was moved to; after a pause
 * it first catches up. Saves the state every few seconds, so that a killed demo loses little.
 */
function startClock(sandbox: BothProviders): () => Promise<void> {
  const { clock } = sandbox
  const ahead = Math.max(0, clock.nowMs() - Date.now())
  let offset = ahead
  let expected = clock.nowMs()
  let busy = false
  const tick = async () => {
    if (busy) return
    busy = true
    // The clock was moved ahead: keep the new distance to real time.
    if (clock.nowMs() > expected) offset = Math.max(offset, clock.nowMs() - Date.now())
    expected = Math.max(clock.nowMs(), Date.now() + offset)
    try {
      await clock.advanceTo(new Date(expected))
    } catch (error) {
      // Another move has already advanced the clock further.
      if (!(error instanceof RangeError)) throw error
    } finally {
      busy = false
    }
  }
  let saved: Promise<void> = Promise.resolve()
  const save = () => {
    // One save at a time. A failure is ignored, because closing saves again and reports it.
    saved = saved.then(() => sandbox.save()).catch(() => undefined)
  }
  void tick()
  const ticking = setInterval(tick, TICK)
  const saving = setInterval(save, SAVE_INTERVAL)
  return () => {
    clearInterval(ticking)
    clearInterval(saving)
    return saved
  }
}

/** Defines the plans and discounts in the sandbox. Idempotent. */
async function definePlans(sandbox: BothProviders, settings: Settings): Promise<void> {
  const { braintree } = sandbox
  await definePrices(sandbox, settings)
  const known = new Set(braintree.plans().map(({ id }) => id))
  const addOns = new Set(braintree.modifications().map(({ id }) => id))
  for (const plan of settings.plans) {
    if (plan.braintree === null || known.has(plan.braintree)) continue
    braintree.definePlan({
      id: plan.braintree,
      name: plan.name,
      price: plan.amount,
      billingFrequency: plan.months,
    })
    for (const { braintree: id, amount, name } of listAdditionalPrices(plan, 'braintree')) {
      if (id === null || addOns.has(id)) continue
      braintree.defineAddOn({ id, name, amount })
      addOns.add(id)
    }
  }
  const discounts = new Set(braintree.modifications().map(({ id }) => id))
  if (!discounts.has('plan-credit')) {
    braintree.defineDiscount({ id: 'plan-credit', amount: 0, numberOfBillingCycles: 1 })
    braintree.defineDiscount({ id: DEMO_COUPON, amount: 200, numberOfBillingCycles: 3 })
    braintree.changeSettings({ customFields: ['description'] })
  }
}

/** Defines the prices that the sandbox's Stripe does not have yet. */
async function definePrices({ stripe }: BothProviders, { plans, currency }: Settings) {
  const sdk = new Stripe(stripe.apiKey, stripe.config)
  const known = new Set<string>()
  for await (const { id } of sdk.prices.list({ limit: 100 })) known.add(id)
  for (const plan of plans) {
    const isYear = plan.months === 12
    const interval = isYear
      ? ({ interval: 'year', intervalCount: 1 } as const)
      : ({ interval: 'month', intervalCount: plan.months } as const)
    for (const { stripe: id, name, ...terms } of [plan, ...listAdditionalPrices(plan, 'stripe')]) {
      if (id === null || known.has(id)) continue
      known.add(id)
      stripe.seedPrice({ id, currency, product: name, ...interval, ...costOf(terms) })
    }
  }
}

/** Returns the cost of a price in the terms of the sandbox. */
function costOf({ amount, rates, meter }: Pick<PriceTerms, 'amount' | 'rates' | 'meter'>) {
  const counted = meter === null ? {} : { meter }
  if (rates === null) return { unitAmount: amount }
  if ('tiers' in rates) return { ...counted, tiers: rates.tiers, tiersMode: rates.mode }
  const { unitAmount, packageSize, included } = rates
  if (included) {
    const tiers = [
      { upTo: included, unitAmount: 0 },
      { upTo: null, unitAmount },
    ]
    return { ...counted, tiers }
  }
  const size = packageSize === undefined ? {} : { packageSize }
  return { ...counted, unitAmount: String(unitAmount), ...size }
}

/**
 * Code of the demo's coupon, which applies to three invoices: 25 % off at Stripe, 2.00 off at
 * Braintree.
 */
export const DEMO_COUPON = 'SPRING'

/**
 * Registers the service's webhook endpoints at both providers. Stripe reveals a webhook secret only
 * on creation, so an existing endpoint is reused with the stored secret.
 */
export async function registerWebhooks(
  sandbox: BothProviders,
  url: string,
  existing: { readonly url: string; readonly secret: string } | undefined,
): Promise<{ readonly url: string; readonly secret: string }> {
  const braintreeUrl = `${url}/braintree/webhook`
  for (const known of sandbox.braintree.webhooks()) {
    if (known !== braintreeUrl) sandbox.braintree.removeWebhook(known)
  }
  sandbox.braintree.registerWebhook(braintreeUrl)

  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const stripeUrl = `${url}/stripe/webhook`
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 })
  const current = data.find((endpoint) => endpoint.url === stripeUrl)
  if (current && existing?.url === stripeUrl) return existing
  for (const { id } of data) await stripe.webhookEndpoints.del(id)
  const { secret } = sandbox.stripe.registerWebhook(stripeUrl)
  return { url: stripeUrl, secret }
}

export async function ensureCoupon(sandbox: BothProviders): Promise<void> {
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const { data } = await stripe.coupons.list({ limit: 100 })
  if (!data.some(({ id }) => id === DEMO_COUPON)) {
    await stripe.coupons.create({
      id: DEMO_COUPON,
      name: 'Spring',
      percent_off: 25,
      duration: 'repeating',
      duration_in_months: 3,
    })
  }
  // People type a promotion code, not the id of the coupon.
  const codes = await stripe.promotionCodes.list({ code: DEMO_COUPON, limit: 1 })
  if (codes.data.length > 0) return
  const promotion = { type: 'coupon', coupon: DEMO_COUPON } as const
  await stripe.promotionCodes.create({ code: DEMO_COUPON, promotion })
}
