import type Stripe from 'stripe'
import type { DroppedReport, DroppedUsage } from '../../contract/parts/money/usage.ts'
import { readIdentifier } from './identifier.ts'

type Told =
  | Stripe.V2.Core.Events.V1BillingMeterErrorReportTriggeredEvent
  | Stripe.V2.Core.Events.V1BillingMeterNoMeterFoundEvent

/** The webhook names the event alone: what it says is asked for. Of each kind of error Stripe names some reports. */
export async function readDropped(stripe: Stripe, { id }: { id: string }): Promise<DroppedUsage> {
  const { data } = (await stripe.v2.core.events.retrieve(id)) as Told
  const { error_count: count, error_types: types } = data.reason
  const named = types.flatMap(({ code, sample_errors }) =>
    sample_errors.flatMap(({ error_message, request }): DroppedReport[] => {
      const ours = readIdentifier(request.identifier)
      return ours ? [{ ...ours, error: `${error_message} (${code})` }] : []
    }),
  )
  const codes = types.map(({ code, error_count }) => `${code}: ${error_count}`)
  return { named, count, summary: [data.developer_message_summary, ...codes].join('; ') }
}
