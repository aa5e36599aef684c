import { join } from 'node:path'
import type { BraintreeSettings } from '@tollgate/billing'
import type { Sandbox } from '@tollgate/sandbox'
import type { Providers } from '../billing.ts'
import type { Config } from '../config/config.ts'
import type { Settings } from '../config/settings.ts'

/** Both twins, on one clock. */
export type BothProviders = Sandbox<{ stripe: true; braintree: true }>

export interface DemoProviders {
  readonly sandbox: BothProviders
  /** Lets the sandbox's clock go by itself; until then it stands where it was left. */
  keepTime(): void
  close(): Promise<void>
}

export interface DemoProviderOptions {
  readonly config: Config
  /** Of the service itself; the control room takes the next one where it is free. */
  readonly servicePort: number
  /** Null: the state is not kept. */
  readonly stateFile: string | null
  readonly now?: Date
}

const TICK = 1000
const SAVED_EVERY = 5000

/** Both payment providers on this machine, as they were left. */
export async function startProviders(options: DemoProviderOptions): Promise<DemoProviders> {
  const { config } = options
  // Only a demo has these: a service in production never loads them.
  const { startSandbox } = await import('@tollgate/sandbox')
  const wanted = config.sandboxPort ?? (config.port === 0 ? 0 : options.servicePort + 1)
  const start = (port: number): Promise<BothProviders> =>
    startSandbox({
      stripe: true,
      braintree: { currency: config.settings.currency.toUpperCase() },
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
  definePlans(sandbox, config.settings)
  let stop = async () => {}
  return {
    sandbox,
    keepTime() {
      stop = keepTime(sandbox)
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

/** How billing gets to a sandbox in this process. */
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
 * The sandbox's clock goes as fast as time does, from wherever it was moved to; after a pause it first
 * catches up. The state is saved while it changes, so that even a killed demo loses seconds only.
 */
function keepTime(sandbox: BothProviders): () => Promise<void> {
  const { clock } = sandbox
  const ahead = Math.max(0, clock.nowMs() - Date.now())
  let offset = ahead
  let expected = clock.nowMs()
  let busy = false
  const tick = async () => {
    if (busy) return
    busy = true
    // Somebody moved it: the distance to real time is another one now.
    if (clock.nowMs() > expected) offset = Math.max(offset, clock.nowMs() - Date.now())
    expected = Math.max(clock.nowMs(), Date.now() + offset)
    try {
      await clock.advanceTo(new Date(expected))
    } catch (error) {
      // A move that was under way has led further than this.
      if (!(error instanceof RangeError)) throw error
    } finally {
      busy = false
    }
  }
  let saved: Promise<void> = Promise.resolve()
  const save = () => {
    // One after the other; a disk that is full now may have room at the end, where it is said.
    saved = saved.then(() => sandbox.save()).catch(() => undefined)
  }
  void tick()
  const ticking = setInterval(tick, TICK)
  const saving = setInterval(save, SAVED_EVERY)
  return () => {
    clearInterval(ticking)
    clearInterval(saving)
    return saved
  }
}

/** Defining a plan again changes nothing. */
function definePlans({ stripe, braintree }: BothProviders, settings: Settings): void {
  const known = new Set(braintree.plans().map(({ id }) => id))
  for (const plan of settings.plans) {
    if (known.has(plan.braintree)) continue
    const isYear = plan.months === 12
    stripe.seedPrice({
      id: plan.stripe,
      unitAmount: plan.amount,
      currency: settings.currency,
      interval: isYear ? 'year' : 'month',
      intervalCount: isYear ? 1 : plan.months,
      product: plan.name,
    })
    braintree.definePlan({
      id: plan.braintree,
      name: plan.name,
      price: plan.amount,
      billingFrequency: plan.months,
    })
  }
  const discounts = new Set(braintree.modifications().map(({ id }) => id))
  if (!discounts.has('plan-credit')) {
    braintree.defineDiscount({ id: 'plan-credit', amount: 0, numberOfBillingCycles: 1 })
    braintree.defineDiscount({ id: COUPON, amount: 200, numberOfBillingCycles: 3 })
    braintree.changeSettings({ customFields: ['description'] })
  }
}

/** A quarter off at Stripe, two units of the currency at Braintree; three times. */
export const COUPON = 'SPRING'
