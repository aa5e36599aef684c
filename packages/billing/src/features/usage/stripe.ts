import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import { InvalidArgument, ProviderRejected } from '../../core/errors/errors.ts'
import { listAll, type StripeContext, toDate, toSeconds } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import type {
  DroppedReport,
  DroppedUsage,
  SentUsageEvent,
  UsageEvent,
  UsageFilter,
  UsageMeter,
  UsageOutcome,
  UsageReports,
  UsageSummary,
} from './contract.ts'

const CONCURRENCY = 8
const STEP = { hour: 3600, day: 86_400 } as const
const MINUTE = 60

/**
 * Implements usage for Stripe, where meters count the reported events, and prices are billed by a
 * meter.
 */
export function createStripeUsage(context: StripeContext): { readonly usage: UsageReports } {
  const { stripe } = context
  const meters = meterCache(stripe)
  const meterOfPrice = new Map<string, string | null>()

  async function send(event: UsageEvent): Promise<UsageOutcome> {
    const { id, meter, value, customerId, at } = event
    const asked = await meters.find(meter).then(
      (known) => ({ known }),
      (error: unknown) => ({ error }),
    )
    // Only the meters were requested, so the event was not sent.
    if ('error' in asked) return { id, state: 'later', error: describeSdkError(asked.error) }
    const { customer_mapping, value_settings } = asked.known ?? {}
    try {
      await stripe.billing.meterEvents.create({
        event_name: meter,
        identifier: buildStripeIdentifier(event),
        timestamp: toSeconds(at),
        payload: {
          [customer_mapping?.event_payload_key ?? 'stripe_customer_id']: customerId,
          [value_settings?.event_payload_key ?? 'value']: value,
        },
      })
      return { id, state: 'sent', error: null }
    } catch (error) {
      const state = classifyUsageError(error)
      // Forgets the meters while Stripe is unavailable: if reading them fails next time, it is
      // certain that the event was not sent.
      if (state === 'later' || state === 'unknown') meters.forget()
      return { id, state, error: state === 'sent' ? null : describeSdkError(error) }
    }
  }

  return {
    usage: {
      countedBy: 'provider',
      async send(events) {
        const outcomes: UsageOutcome[] = []
        for (let at = 0; at < events.length; at += CONCURRENCY) {
          outcomes.push(...(await Promise.all(events.slice(at, at + CONCURRENCY).map(send))))
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
        if (there) return requireSameMeter(describe(there), wanted)
        try {
          return describe(await stripe.billing.meters.create(paramsOf(wanted)))
        } catch (error) {
          meters.forget()
          const made = await meters.find(wanted.eventName)
          if (!made) throw error
          return requireSameMeter(describe(made), wanted)
        } finally {
          meters.forget()
        }
      },
    },
  }
}

function describeSdkError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function paramsOf({ name, eventName, aggregation }: Omit<UsageMeter, 'id'>) {
  return {
    display_name: name,
    event_name: eventName,
    default_aggregation: { formula: aggregation },
  } satisfies Stripe.Billing.MeterCreateParams
}

function requireSameMeter(found: UsageMeter, requestedMeter: Omit<UsageMeter, 'id'>): UsageMeter {
  if (found.aggregation === requestedMeter.aggregation) return found
  throw new InvalidArgument(
    `A meter for '${requestedMeter.eventName}' already exists, with the aggregation '${found.aggregation}'`,
  )
}

function describe(meter: Stripe.Billing.Meter): UsageMeter {
  return {
    id: meter.id,
    name: meter.display_name,
    eventName: meter.event_name,
    aggregation: meter.default_aggregation.formula as UsageMeter['aggregation'],
  }
}

/**
 * Reads sums of usage. Stripe accepts only whole minutes, hours or days, and lists the newest
 * first.
 */
async function list(
  { stripe }: StripeContext,
  meter: string,
  { customerId, from, to, by }: UsageFilter,
): Promise<UsageSummary[]> {
  const step = by === null ? MINUTE : STEP[by]
  const query: Stripe.Billing.MeterListEventSummariesParams = {
    customer: customerId,
    start_time: Math.floor(from.getTime() / 1000 / step) * step,
    end_time: Math.ceil(to.getTime() / 1000 / step) * step,
    limit: 100,
    ...(by === null ? {} : { value_grouping_window: by }),
  }
  const sums = await listAll(stripe.billing.meters.listEventSummaries(meter, query))
  const found = sums.map(({ start_time, end_time, aggregated_value }) => ({
    from: toDate(start_time),
    to: toDate(end_time),
    value: String(aggregated_value),
  }))
  return found.sort((a, b) => a.from.getTime() - b.from.getTime())
}

async function cancel({ stripe }: StripeContext, event: SentUsageEvent): Promise<void> {
  try {
    await stripe.billing.meterEventAdjustments.create({
      event_name: event.meter,
      type: 'cancel',
      cancel: { identifier: buildStripeIdentifier(event) },
    })
  } catch (error) {
    if (isMissingObjectError(error) || !/already been cancell?ed/.test(describeSdkError(error)))
      throw error
  }
}

type DroppedUsageEvent =
  | Stripe.V2.Core.Events.V1BillingMeterErrorReportTriggeredEvent
  | Stripe.V2.Core.Events.V1BillingMeterNoMeterFoundEvent

/**
 * Reads the event, of which the webhook contains only the id. Stripe names some reports for each
 * kind of error.
 */
async function readDropped(stripe: Stripe, { id }: { id: string }): Promise<DroppedUsage> {
  const { data } = (await stripe.v2.core.events.retrieve(id)) as DroppedUsageEvent
  const { error_count: count, error_types: types } = data.reason
  const named = types.flatMap(({ code, sample_errors }) =>
    sample_errors.flatMap(({ error_message, request }): DroppedReport[] => {
      const ours = parseStripeIdentifier(request.identifier)
      return ours ? [{ ...ours, error: `${error_message} (${code})` }] : []
    }),
  )
  const codes = types.map(({ code, error_count }) => `${code}: ${error_count}`)
  return { named, count, summary: [data.developer_message_summary, ...codes].join('; ') }
}

/**
 * Returns the identifier of a meter event at Stripe. It includes the customer, because two
 * applications that share a Stripe account may use the same report id.
 */
export function buildStripeIdentifier({
  id,
  customerId,
}: Pick<SentUsageEvent, 'id' | 'customerId'>): string {
  return `${id}_${hashCustomerId(customerId)}`
}

/**
 * Reads our report id from the identifier of a meter event at Stripe. `null` if the event was not
 * sent by us.
 */
export function parseStripeIdentifier(
  identifier: string,
): Pick<DroppedReport, 'id' | 'isOf'> | null {
  const [, id, mark] = /^(usage_[0-9a-f]+)_([0-9a-f]{24})$/.exec(identifier) ?? []
  if (id === undefined) return null
  return { id, isOf: (customerId) => hashCustomerId(customerId) === mark }
}

function hashCustomerId(customerId: string): string {
  return createHash('sha256').update(customerId).digest('hex').slice(0, 24)
}

type StripeMeter = Stripe.Billing.Meter

/** Caches meters, of which only the name and the status can change. */
interface MeterCache {
  /** Finds the enabled meter with this event name. `null` if there is none. */
  find(eventName: string): Promise<StripeMeter | null>
  require(eventName: string): Promise<StripeMeter>
  /** Reads all meters anew. */
  list(): Promise<StripeMeter[]>
  forget(): void
}

function meterCache(stripe: Stripe): MeterCache {
  const known = new Map<string, StripeMeter>()
  let reading: Promise<StripeMeter[]> | null = null

  async function read(): Promise<StripeMeter[]> {
    const all = await listAll(stripe.billing.meters.list({ limit: 100 }))
    known.clear()
    for (const meter of all) if (meter.status === 'active') known.set(meter.event_name, meter)
    return all
  }

  /** Concurrent callers share one read. */
  function list(): Promise<StripeMeter[]> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }

  async function find(eventName: string): Promise<StripeMeter | null> {
    if (!known.has(eventName)) await list()
    return known.get(eventName) ?? null
  }

  return {
    find,
    list,
    async require(eventName) {
      const found = await find(eventName)
      if (found) return found
      throw new ProviderRejected(`Stripe has no active meter for '${eventName}'`, {
        provider: 'stripe',
        providerCode: 'no_meter',
      })
    },
    forget: () => known.clear(),
  }
}

/** Fields of an SDK error. The SDK's classes are not used, because the SDK may not be installed. */
type SdkErrorFields = Readonly<Record<'type' | 'code' | 'param' | 'message', unknown>>

/** Error types of a rejected API key: nothing was accepted, and the next attempt may succeed. */
const RETRYABLE_ERROR_TYPES: readonly unknown[] = [
  'StripeAuthenticationError',
  'StripePermissionError',
]

/**
 * Returns the outcome of a usage report for which Stripe's SDK threw an error. The SDK retries by
 * itself, so even if its last attempt hit a rate limit or a connection error, an earlier attempt
 * may have been accepted.
 */
export function classifyUsageError(error: unknown): UsageOutcome['state'] {
  const { type, code, param, message } = error as SdkErrorFields
  if (RETRYABLE_ERROR_TYPES.includes(type)) return 'later'
  if (type !== 'StripeInvalidRequestError') return 'unknown'
  const isDuplicate =
    code === 'duplicate_meter_event' ||
    (param === 'identifier' && /already exists/.test(String(message)))
  if (isDuplicate) return 'sent'
  // Stripe's clock is slightly behind ours.
  return code === 'timestamp_in_future' ? 'unknown' : 'refused'
}
