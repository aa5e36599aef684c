import type { GatewayParts } from '../../contract/parts.ts'
import type { NewSubscription, StartTerms } from '../../contract/subscription.ts'
import { toDate, toSeconds } from '../sdk/client.ts'

/** Terms of `createSubscription` that Stripe knows. */
export const stripeStarts: Pick<GatewayParts, 'anchors' | 'backdating' | 'freeStarts'> = {
  anchors: true,
  backdating: true,
  freeStarts: true,
}

/** The same for a subscription that begins on a page. */
interface StartParams {
  billing_cycle_anchor?: number
  backdate_start_date?: number
  proration_behavior?: 'none'
  trial_settings?: { end_behavior: { missing_payment_method: 'cancel' } }
}

/** A date comes back from the record as text. */
export function startParams(
  wanted: StartTerms & Pick<NewSubscription, 'withoutCard'>,
): StartParams {
  const { anchorAt, backdateTo, prorate = true, withoutCard } = wanted
  return {
    ...(anchorAt ? { billing_cycle_anchor: toSeconds(new Date(anchorAt)) } : {}),
    ...(backdateTo ? { backdate_start_date: toSeconds(new Date(backdateTo)) } : {}),
    ...((anchorAt || backdateTo) && !prorate ? { proration_behavior: 'none' } : {}),
    // Whoever has given no card owes nothing.
    ...(withoutCard
      ? { trial_settings: { end_behavior: { missing_payment_method: 'cancel' } } }
      : {}),
  }
}

/** What the first payment depends on and the subscription does not tell; null for nothing. Kept in its metadata. */
export function termsOf({ anchorAt, backdateTo, prorate = true }: StartTerms): string | null {
  if (!anchorAt && !backdateTo) return null
  const seconds = [anchorAt, backdateTo].map((date) => (date ? toSeconds(new Date(date)) : 'now'))
  return [...seconds, prorate ? 'prorated' : 'whole'].join(' ')
}

/** The same, read again. */
export function readTerms(written: string | undefined): StartTerms {
  const [anchor, start, paid] = (written ?? '').split(' ')
  const toTerm = (text: string | undefined) => (/^\d+$/.test(text ?? '') ? Number(text) : null)
  const [anchorAt, backdateTo] = [toTerm(anchor), toTerm(start)]
  return {
    ...(anchorAt === null ? {} : { anchorAt: toDate(anchorAt) }),
    ...(backdateTo === null ? {} : { backdateTo: toDate(backdateTo) }),
    ...(paid === 'whole' ? { prorate: false } : {}),
  }
}
