import type Stripe from 'stripe'
import { InvalidArgument } from '../../../errors.ts'
import type {
  Meter,
  SentEvent,
  UsageEvent,
  UsageFilter,
  UsageOutcome,
  UsageReports,
  UsageSummary,
} from '../../contract/parts/money/usage.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import { type StripeContext, toDate, toSeconds } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { readDropped } from './dropped.ts'
import { identifierOf } from './identifier.ts'
import { meterCache } from './meter-cache.ts'
import { outcomeOf } from './outcome.ts'

const AT_ONCE = 8
const STEP = { hour: 3600, day: 86_400 } as const
const MINUTE = 60

/** Stripe counts what its meters get, and bills it with the price that names the meter. */
export function stripeUsage(
  context: StripeContext,
): Pick<GatewayParts, 'meteredPrices'> & { readonly usage: UsageReports } {
  const { stripe } = context
  const meters = meterCache(stripe)
  const meterOfPrice = new Map<string, string | null>()

  async function send(event: UsageEvent): Promise<UsageOutcome> {
    const { id, meter, value, customerId, at } = event
    const asked = await meters.find(meter).then(
      (known) => ({ known }),
      (error: unknown) => ({ error }),
    )
    // Only Stripe's meters were asked for: the event was not sent.
    if ('error' in asked) return { id, state: 'later', error: wordsOf(asked.error) }
    const { customer_mapping, value_settings } = asked.known ?? {}
    try {
      await stripe.billing.meterEvents.create({
        event_name: meter,
        identifier: identifierOf(event),
        timestamp: toSeconds(at),
        payload: {
          [customer_mapping?.event_payload_key ?? 'stripe_customer_id']: customerId,
          [value_settings?.event_payload_key ?? 'value']: value,
        },
      })
      return { id, state: 'sent', error: null }
    } catch (error) {
      const state = outcomeOf(error)
      // While Stripe is away, what comes next is not sent at all: that its meters cannot be read leaves no doubt.
      if (state === 'later' || state === 'unknown') meters.forget()
      return { id, state, error: state === 'sent' ? null : wordsOf(error) }
    }
  }

  return {
    meteredPrices: true,
    usage: {
      countedBy: 'provider',
      async send(events) {
        const outcomes: UsageOutcome[] = []
        for (let at = 0; at < events.length; at += AT_ONCE) {
          outcomes.push(...(await Promise.all(events.slice(at, at + AT_ONCE).map(send))))
        }
        return outcomes
      },
      async summaries(filter) {
        const meter = await meters.require(filter.meter)
        return list(context, meter.id, filter)
      },
      cancel: (event) => cancel(context, event),
      readDropped: (event) => readDropped(stripe, event as { id: string }),
      async meterOf(price) {
        const known = meterOfPrice.get(price)
        if (known !== undefined) return known
        const { recurring } = await stripe.prices.retrieve(price)
        const meter = recurring?.meter
          ? await stripe.billing.meters.retrieve(recurring.meter)
          : null
        const name = meter?.event_name ?? null
        meterOfPrice.set(price, name)
        return name
      },
      meters: async () => (await meters.list()).map(describe),
      async createMeter(wanted) {
        const there = await meters.find(wanted.eventName)
        if (there) return requireSame(describe(there), wanted)
        try {
          return describe(await stripe.billing.meters.create(paramsOf(wanted)))
        } catch (error) {
          meters.forget()
          const made = await meters.find(wanted.eventName)
          if (!made) throw error
          return requireSame(describe(made), wanted)
        } finally {
          meters.forget()
        }
      },
    },
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function paramsOf({ name, eventName, aggregation }: Omit<Meter, 'id'>) {
  return {
    display_name: name,
    event_name: eventName,
    default_aggregation: { formula: aggregation },
  } satisfies Stripe.Billing.MeterCreateParams
}

function requireSame(found: Meter, wanted: Omit<Meter, 'id'>): Meter {
  if (found.aggregation === wanted.aggregation) return found
  throw new InvalidArgument(
    `There is a meter for '${wanted.eventName}' already, which makes the ${found.aggregation} of its events`,
  )
}

function describe(meter: Stripe.Billing.Meter): Meter {
  return {
    id: meter.id,
    name: meter.display_name,
    eventName: meter.event_name,
    aggregation: meter.default_aggregation.formula as Meter['aggregation'],
  }
}

/** Stripe takes whole minutes, hours or days alone, and lists the newest first. */
async function list(
  { stripe }: StripeContext,
  meter: string,
  { customerId, from, to, by }: UsageFilter,
): Promise<UsageSummary[]> {
  const step = by === null ? MINUTE : STEP[by]
  const found: UsageSummary[] = []
  const query: Stripe.Billing.MeterListEventSummariesParams = {
    customer: customerId,
    start_time: Math.floor(from.getTime() / 1000 / step) * step,
    end_time: Math.ceil(to.getTime() / 1000 / step) * step,
    limit: 100,
    ...(by === null ? {} : { value_grouping_window: by }),
  }
  for await (const sum of stripe.billing.meters.listEventSummaries(meter, query)) {
    found.push({
      from: toDate(sum.start_time),
      to: toDate(sum.end_time),
      value: String(sum.aggregated_value),
    })
  }
  return found.sort((a, b) => a.from.getTime() - b.from.getTime())
}

async function cancel({ stripe }: StripeContext, event: SentEvent): Promise<void> {
  try {
    await stripe.billing.meterEventAdjustments.create({
      event_name: event.meter,
      type: 'cancel',
      cancel: { identifier: identifierOf(event) },
    })
  } catch (error) {
    if (isMissing(error) || !/already been cancell?ed/.test(wordsOf(error))) throw error
  }
}
