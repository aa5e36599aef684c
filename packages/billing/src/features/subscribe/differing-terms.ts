import type { DifferentTerm, SubscriptionTerm } from '../../core/errors/different-term.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import { isSubscriptionCancelled, isTrialRunning } from '../../core/values/subscription-state.ts'
import type { TaxSource } from '../../options.ts'
import type { Capability } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import type { AgreedTerms } from '../../providers/subscription.ts'
import { formatPaymentMethodLabel } from '../payment-methods/label.ts'
import { isSameMethod } from '../payment-methods/payment-method.ts'
import type { ChosenTax, RequestedSubscription } from './wanted-terms.ts'

/** The terms requested by a `create()` call whose subscription name is already in use. */
export interface RequestedTerms {
  readonly wanted: RequestedSubscription
  readonly tax: ChosenTax
  /**
   * Payment method behind the card token of the call. `null` for the customer's default payment
   * method. Left out if the card is not compared, as in a preview.
   */
  readonly method?: ProviderPaymentMethod | null
}

/** The existing subscription with the same name, and its agreed terms. */
export interface ExistingSubscription {
  readonly record: Pick<
    SubscriptionRecord,
    'provider' | 'providerPlan' | 'quantity' | 'items' | 'standing' | 'trialEndsAt' | 'endsAt'
  >
  readonly agreed: AgreedTerms
  readonly now: Date
  /** The option `tax`, which applies to a subscription for which no tax was chosen. */
  readonly tax: TaxSource | object
  /** Capabilities of the provider, which decide what can be changed. */
  readonly can: readonly Capability[]
}

/** How a term differs. `null` if it is the same. */
type Difference = Omit<DifferentTerm, 'term'> | null

const NONE = 'none'
/** Advice for terms that cannot be changed while the subscription runs. */
const RECREATE_ADVICE = 'cancelNow() and create()'

/**
 * Compares the requested terms with those of the existing subscription, and returns the terms that
 * differ. The length of a running trial is compared as requested: a call for ten days of trial,
 * repeated two days later, means the trial that has begun. A coupon matches if the subscription
 * began with it or has it now.
 */
export function listDifferingTerms(
  requestedTerms: RequestedTerms,
  existingSubscription: ExistingSubscription,
): DifferentTerm[] {
  if (requestedTerms.wanted.provider !== existingSubscription.record.provider) {
    const { provider } = existingSubscription.record
    return [
      {
        term: 'provider',
        inForce: provider,
        wanted: requestedTerms.wanted.provider,
        use: RECREATE_ADVICE,
      },
    ]
  }
  return (Object.keys(TERMS) as (keyof typeof TERMS)[]).flatMap((name) => {
    const difference = TERMS[name](requestedTerms, existingSubscription)
    const isCode = name === 'coupon' && requestedTerms.wanted.code !== undefined
    return difference ? [{ term: isCode ? 'promotionCode' : name, ...difference }] : []
  })
}

const TERMS: Readonly<
  Record<
    Exclude<SubscriptionTerm, 'provider' | 'promotionCode'>,
    (asked: RequestedTerms, taken: ExistingSubscription) => Difference
  >
> = {
  plan: ({ wanted }, { record }) =>
    wanted.price === record.providerPlan
      ? null
      : { inForce: quoted(record.providerPlan), wanted: quoted(wanted.price), use: 'swap()' },

  quantity: ({ wanted }, { record }) =>
    wanted.isMetered || wanted.quantity === record.quantity
      ? null
      : {
          inForce: String(record.quantity),
          wanted: String(wanted.quantity),
          use: 'updateQuantity()',
        },

  price({ wanted: { items: wanted = [] } }, { record, agreed }) {
    const has = (all: readonly RequestedItem[], { price, quantity }: RequestedItem) =>
      all.some((item) => item.price === price && item.quantity === quantity)
    const others = record.items.filter(
      ({ price }) =>
        !agreed.included.includes(price) || wanted.some((item) => item.price === price),
    )
    const isSame = wanted.every((item) => has(others, item)) && others.length === wanted.length
    if (isSame) return null
    const isMore = wanted.some((item) => !has(others, item))
    const use = isMore ? 'addPrice() or updateQuantity()' : 'removePrice()'
    return { inForce: writtenItems(others), wanted: writtenItems(wanted), use }
  },

  coupon({ wanted: { coupon, code } }, { agreed, can }) {
    const { coupon: first, discounts } = agreed
    const isFirstInForce = first !== null && discounts.includes(first)
    if (coupon === null ? !isFirstInForce : coupon === first || discounts.includes(coupon)) {
      return null
    }
    const change = code === undefined ? 'applyCoupon()' : 'applyPromotionCode()'
    return {
      inForce: discounts.length === 0 ? NONE : discounts.map(quoted).join(', '),
      wanted: coupon === null ? NONE : quoted(code ?? coupon),
      use: chooseAdvice(can, 'promotionCodes', coupon === null ? 'removeDiscounts()' : change),
    }
  },

  trial({ wanted }, { record, agreed, now, can }) {
    const { trialEndsAt: end } = record
    const running = isTrialRunning(record, now) ? end : null
    const { trialDays, trialEndsAt } = wanted
    const isWanted = Boolean(trialDays || trialEndsAt)
    const isSame = trialEndsAt
      ? isAbout(running, trialEndsAt)
      : trialDays
        ? running !== null && compareTrialDays(agreed.trialDays, trialDays)
        : running === null
    if (isSame) return null
    return {
      inForce: running ? `until ${running.toISOString()}` : NONE,
      wanted: trialEndsAt
        ? `until ${trialEndsAt.toISOString()}`
        : trialDays
          ? `${trialDays} days`
          : NONE,
      use: isWanted ? chooseAdvice(can, 'trials', 'extendTrial()') : 'skipTrial().swap()',
    }
  },

  anchorOn: ({ wanted }, { agreed }) => compareDates(agreed.anchorAt, wanted.anchorAt),

  backdate: ({ wanted }, { agreed }) => compareDates(agreed.backdateTo, wanted.backdateTo),

  noProrate({ wanted }, { agreed }) {
    const { prorate = true } = wanted
    const isSaid = wanted.anchorAt ?? wanted.backdateTo
    if (!isSaid || prorate === (agreed.prorate ?? true)) return null
    const [paid, free] = ['paid for', 'free']
    return { inForce: prorate ? free : paid, wanted: prorate ? paid : free, use: RECREATE_ADVICE }
  },

  tax({ tax }, { agreed, tax: usual }) {
    const inForce = writtenTax(agreed.chosenTax ?? usual)
    const wanted = writtenTax(tax ?? usual)
    return inForce === wanted ? null : { inForce, wanted, use: RECREATE_ADVICE }
  },

  card({ wanted, method }, { agreed }) {
    if (method === undefined) return null
    const { method: billed } = agreed
    if (method === null ? billed !== null || wanted.withoutCard : isBilled(billed, method)) {
      return null
    }
    return {
      inForce: billed ? formatPaymentMethodLabel(billed, 'en') : NONE,
      wanted: method ? formatPaymentMethodLabel(method, 'en') : 'the card of the customer',
      use: 'updateCard()',
    }
  },

  cancellation: (_asked, { record }) =>
    isSubscriptionCancelled(record)
      ? {
          inForce: `ends at ${record.endsAt?.toISOString()}`,
          wanted: NONE,
          use: 'resume() or swap()',
        }
      : null,
}

/**
 * Dates within a minute are equal: two clicks that each add ten days to the present time request
 * the same trial.
 */
const TOLERANCE = 60_000
const DAY = 86_400_000

function isAbout(a: Date | null, b: Date): boolean {
  return a !== null && Math.abs(a.getTime() - b.getTime()) < TOLERANCE
}

function compareTrialDays(inForce: number | null, wanted: number): boolean {
  return inForce !== null && Math.abs(inForce - wanted) * DAY < TOLERANCE
}

function compareDates(inForce: Date | undefined, wanted: Date | undefined): Difference {
  if (wanted ? isAbout(inForce ?? null, wanted) : !inForce) return null
  const written = (date: Date | undefined) => date?.toISOString() ?? NONE
  return { inForce: written(inForce), wanted: written(wanted), use: RECREATE_ADVICE }
}

function isBilled(billed: ProviderPaymentMethod | null, method: ProviderPaymentMethod): boolean {
  return billed !== null && isSameMethod(billed, method)
}

function chooseAdvice(can: readonly Capability[], part: Capability, use: string): string {
  return can.includes(part) ? use : RECREATE_ADVICE
}

function writtenTax(tax: TaxSource | 'none' | object): string {
  if (typeof tax === 'string') return tax
  if (!Array.isArray(tax)) return 'the tax rates from the options'
  return tax.length === 0 ? NONE : [...tax].sort().join(', ')
}

function writtenItems(items: readonly RequestedItem[]): string {
  if (items.length === 0) return NONE
  return items
    .map(({ price, quantity }) => (quantity === null ? price : `${price} × ${quantity}`))
    .join(', ')
}

function quoted(text: string): string {
  return `'${text}'`
}
