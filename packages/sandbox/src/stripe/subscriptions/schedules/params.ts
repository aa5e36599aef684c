import type Stripe from 'stripe'
import { requireTaxRates } from '../../catalog/tax-rates.ts'
import { isMeteredPriceRow } from '../../catalog/tiers.ts'
import { requireOneTimePrice } from '../../invoices/invoice-items.ts'
import type { AddedItemRow, CustomerRow, PhaseRow, SubscriptionRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
} from '../../wire/errors.ts'
import { mergeMetadata } from '../../wire/fields.ts'
import { addIntervals } from '../../wire/periods.ts'
import { createUnsupportedParamFault } from '../../wire/unsupported.ts'
import {
  checkActive,
  checkDuplicates,
  checkQuantity,
  requireItemPrice,
} from '../subscription-items.ts'
import { checkMixedIntervals, resolveCurrency } from '../subscription-params.ts'
import { buildAutomaticTaxSettings } from '../subscription-settings.ts'
import { createEmptyPhase, createPhaseItem } from './phase-of.ts'
import { readDiscounts } from './phase-terms.ts'

export type PhaseParams = Stripe.SubscriptionScheduleUpdateParams.Phase

/** Parameters of a phase that the sandbox would ignore, and therefore rejects. */
const IGNORED_PARAMS = ['collection_method', 'invoice_settings'] as const

/** Customer and billing mode of the phases. */
interface PhaseOwner extends Pick<SubscriptionRow, 'billing_mode'> {
  readonly customer: CustomerRow
}

/**
 * Reads the phases of a schedule from the parameters of a call. They follow each other, beginning
 * at `start` (Unix seconds).
 * @throws {StripeFault} If a phase is invalid.
 */
export function readPhases(
  work: UnitOfWork,
  phaseOwner: PhaseOwner,
  params: readonly PhaseParams[],
  start: number,
): PhaseRow[] {
  const { customer } = phaseOwner
  let from = start
  return params.map((phase, at) => {
    const path = `phases[${at}]`
    rejectIgnored(phase, path)
    const items = phase.items.map((item, i) => {
      const where = `${path}[items][${i}]`
      const price = requireItemPrice(work, item as never, where)
      checkActive(work, price, where)
      checkQuantity(item.quantity, where, price)
      const quantity = isMeteredPriceRow(price) ? undefined : (item.quantity ?? 1)
      const row = {
        ...createPhaseItem(price.id, quantity),
        discounts: readDiscounts(work, customer, item.discounts as never, where),
        metadata: mergeMetadata({}, item.metadata),
        tax_rates: requireTaxRates(work, item.tax_rates ?? null, `${where}[tax_rates]`),
      }
      return { price, row }
    })
    const first = items[0]?.price
    if (!first) throw createMissingParamFault(`${path}[items]`)
    const begin =
      phase.start_date === undefined || phase.start_date === 'now' ? from : phase.start_date
    if (at > 0 && begin !== from)
      throw createInvalidRequestFault(
        'Phases must follow each other without a gap.',
        `${path}[start_date]`,
      )
    const end = phaseEnd(work, phase, first.recurring, begin, at === params.length - 1, path)
    // Not `end <= begin`, because a date beyond the calendar's range is NaN.
    if (!(end > begin))
      throw createInvalidRequestFault('A phase must end after it starts.', `${path}[end_date]`)
    from = end
    // Rejected now, instead of when the phase starts.
    const prices = items.map((item) => item.price)
    checkDuplicates(prices.map(({ id }) => id))
    checkMixedIntervals(phaseOwner, prices, `${path}[items]`)
    const currency = resolveCurrency(customer, prices, phase.currency)
    const trialEnd = phaseTrialEnd(phase, begin, end, path)
    return {
      ...createEmptyPhase(currency),
      start_date: begin,
      end_date: end,
      items: items.map(({ row }) => row),
      add_invoice_items: readAddedItems(work, customer, phase, path),
      ...readAutomaticTax(phase),
      billing_cycle_anchor: phase.billing_cycle_anchor ?? null,
      default_tax_rates: requireTaxRates(
        work,
        phase.default_tax_rates ?? null,
        `${path}[default_tax_rates]`,
      ),
      description: phase.description || null,
      discounts: readDiscounts(work, customer, phase.discounts as never, path),
      proration_behavior: phase.proration_behavior ?? 'create_prorations',
      metadata: mergeMetadata({}, phase.metadata),
      trial_end: trialEnd,
      default_payment_method: phase.default_payment_method ?? null,
    }
  })
}

function rejectIgnored(phase: PhaseParams, path: string): void {
  const name = IGNORED_PARAMS.find((each) => phase[each])
  if (name) throw createUnsupportedParamFault(`${path}[${name}]`)
}

/** Reads automatic tax. If a phase does not set it, the subscription's setting remains. */
function readAutomaticTax({ automatic_tax: wanted }: PhaseParams): Pick<PhaseRow, 'automatic_tax'> {
  return wanted === undefined ? {} : { automatic_tax: buildAutomaticTaxSettings(wanted.enabled) }
}

/** Reads the one-time items billed when the phase starts. */
function readAddedItems(
  work: UnitOfWork,
  customer: CustomerRow,
  { add_invoice_items: added = [] }: PhaseParams,
  path: string,
): AddedItemRow[] {
  return added.map((item, at) => {
    const of = `${path}[add_invoice_items][${at}]`
    return {
      discountable: null,
      discounts: readDiscounts(work, customer, item.discounts as never, of),
      metadata: mergeMetadata({}, item.metadata),
      period: { end: { type: 'min_item_period_end' }, start: { type: 'phase_start' } },
      price: requireOneTimePrice(work, item as never, of).id,
      quantity: item.quantity ?? 1,
      tax_rates: requireTaxRates(work, item.tax_rates ?? null, `${of}[tax_rates]`),
    }
  })
}

function phaseTrialEnd(
  phase: PhaseParams,
  begin: number,
  end: number,
  path: string,
): number | null {
  if (phase.trial) return end
  if (typeof phase.trial_end !== 'number') return null
  if (phase.trial_end > begin && phase.trial_end <= end) return phase.trial_end
  throw createInvalidRequestFault(
    'The trial of a phase must end after the phase starts and no later than it ends.',
    `${path}[trial_end]`,
  )
}

function phaseEnd(
  work: UnitOfWork,
  phase: PhaseParams,
  recurring: { interval: string; interval_count: number } | null,
  begin: number,
  last: boolean,
  path: string,
): number {
  if (phase.end_date !== undefined && phase.duration !== undefined) {
    throw createMutuallyExclusiveFault('end_date, duration', path)
  }
  if (phase.end_date === 'now') return work.now
  if (phase.end_date !== undefined) return phase.end_date
  if (phase.duration) {
    return addIntervals(
      begin,
      { interval: phase.duration.interval, interval_count: phase.duration.interval_count ?? 1 },
      1,
    )
  }
  if (!last)
    throw createInvalidRequestFault(
      'Every phase but the last needs an end_date or a duration.',
      `${path}[end_date]`,
    )
  return addIntervals(begin, recurring ?? { interval: 'month', interval_count: 1 }, 1)
}
