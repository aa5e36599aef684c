import {
  type BillableUser,
  type FirstInvoices,
  isBillingError,
  type ProviderName,
  type SubscriptionBuilder,
} from '@tollgate/billing'
import type { Logger } from 'pino'
import type { Plan } from '../../../config/settings.ts'
import type { PageText } from '../../../messages/messages.ts'
import { type BillingAccount, SUBSCRIPTION_NAME } from './account.ts'
import {
  computeQuantityOnPlan,
  computeTrialDays,
  findPlan,
  getSeatsChoice,
  listAdditionalItems,
  listPlansAtProvider,
  parseQuantity,
  requireSoldPlan,
  type SoldPlan,
} from './plans.ts'
import { BadChoice, describeProblem } from './problems.ts'
import { hasPromotionCodes } from './providers.ts'

const MAX_CODE_LENGTH = 64

/** The plan and terms that a person subscribes to. */
export interface ChosenPlan extends SoldPlan {
  readonly provider: ProviderName
  readonly quantity: number
  readonly trialDays: number
  /** The promotion code as typed. `null` if there is none. */
  readonly code: string | null
}

/** The plans to choose from, and the account that chooses. */
export interface PlanChoiceInput {
  readonly plans: readonly Plan[]
  readonly account: BillingAccount
  readonly provider: ProviderName
}

/**
 * Reads the chosen plan from a form.
 * @throws BadChoice if a value is missing or invalid.
 */
export function readChosenPlan(
  { plans, account, provider }: PlanChoiceInput,
  form: URLSearchParams,
): ChosenPlan {
  const sold = requireSoldPlan(plans, form.get('plan'), provider)
  const { plan } = sold
  // A form that was sent twice must repeat the trial that has just begun.
  const before = account.history.filter((each) => each !== account.running || !each.onTrial())
  const code = readCode(form)
  if (code !== null && !plan.promotionCodes) throw new BadChoice('problem.noCodes')
  return {
    ...sold,
    provider,
    quantity: readQuantity(plan, provider, account, form),
    trialDays: computeTrialDays(plan, before),
    code,
  }
}

/** The terms that the page shows at first: the last plan or the first one on sale. */
function firstChoice(choosing: PlanChoiceInput): ChosenPlan | null {
  const { plans, account, provider } = choosing
  const sold = listPlansAtProvider(plans, provider)
  const plan = sold.find(({ id }) => id === account.plan?.id) ?? sold[0]
  return plan ? readChosenPlan(choosing, new URLSearchParams({ plan: plan.id })) : null
}

function readQuantity(
  plan: Plan,
  provider: ProviderName,
  { counted }: BillingAccount,
  form: URLSearchParams,
): number {
  const choice = getSeatsChoice(plan, provider)
  const text = form.get('quantity')
  if (choice && text) return parseQuantity(text, choice)
  return computeQuantityOnPlan(plan, { provider, quantity: 1 }, counted)
}

export function readCode(form: URLSearchParams): string | null {
  const code = (form.get('coupon') ?? '').trim()
  if (code.length > MAX_CODE_LENGTH) throw new BadChoice('problem.notACode')
  return code === '' ? null : code
}

/**
 * Prepares a new subscription with all prices of the plan, its trial and discount. At a provider
 * with promotion codes, ids of coupons are not accepted.
 */
export function beginSubscription(
  payer: BillableUser,
  { plan, price, provider, quantity, trialDays, code }: ChosenPlan,
): SubscriptionBuilder {
  const begun = payer.newSubscription(SUBSCRIPTION_NAME, price).trialDays(trialDays)
  const main = plan.meter === null ? begun.quantity(quantity) : begun.meteredPrice(price)
  const builder = listAdditionalItems(plan, provider).reduce(
    (so, item) => (item.quantity === null ? so.meteredPrice(item.price) : so.price(item.price)),
    main,
  )
  if (code === null) return builder
  return hasPromotionCodes(provider) ? builder.withPromotionCode(code) : builder.withCoupon(code)
}

/** Asks the provider what the subscription costs now and later. */
export function previewFirstInvoices(
  { billable }: BillingAccount,
  chosen: ChosenPlan,
): Promise<FirstInvoices> {
  const { provider } = chosen
  return beginSubscription(billable, chosen).preview({}, { provider })
}

/** The chosen plan and its price, as the page shows them to a person who subscribes. */
export interface SubscriptionOffer {
  readonly chosen: ChosenPlan
  /** The first invoices. `null` if the provider cannot tell. */
  readonly invoices: FirstInvoices | null
  /** Why values of the form were not used. `null` if all were, or if there is no form. */
  readonly problem: string | null
}

/**
 * Reads what the chosen plan costs, or the first plan if none was chosen. Values that cannot be used
 * are left out. `null` if no plan is on sale.
 */
export async function readOffer(
  choosing: PlanChoiceInput,
  form: URLSearchParams | null,
  { t, logger }: { readonly t: PageText; readonly logger: Logger },
): Promise<SubscriptionOffer | null> {
  const { chosen, problem } = choose(choosing, form, t)
  if (!chosen) return null
  try {
    return { chosen, invoices: await previewFirstInvoices(choosing.account, chosen), problem }
  } catch (error) {
    if (!isBillingError(error)) throw error
    const reason = describeProblem(error, t)
    if (chosen.code !== null && reason?.isOfCode) {
      const offer = await readOffer(choosing, withoutCode(form), { t, logger })
      return offer && { ...offer, problem: reason.message }
    }
    logger.warn({ err: error, plan: chosen.plan.id }, 'The price of a plan cannot be previewed')
    return { chosen, invoices: null, problem }
  }
}

/** Returns the values of a form except the promotion code. */
export function withoutCode(form: URLSearchParams | null): URLSearchParams {
  return new URLSearchParams([...(form ?? [])].filter(([name]) => name !== 'coupon'))
}

/** Chooses what the form asks for, as far as it is possible. */
function choose(choosing: PlanChoiceInput, form: URLSearchParams | null, t: PageText) {
  if (!form?.has('plan')) return { chosen: firstChoice(choosing), problem: null }
  try {
    return { chosen: readChosenPlan(choosing, form), problem: null }
  } catch (error) {
    if (!(error instanceof BadChoice)) throw error
    const plan = findPlan(listPlansAtProvider(choosing.plans, choosing.provider), form.get('plan'))
    const only = new URLSearchParams({ plan: plan?.id ?? '' })
    const chosen = plan ? readChosenPlan(choosing, only) : firstChoice(choosing)
    return { chosen, problem: error.describe(t) }
  }
}

/**
 * Returns the terms that the pay button names, as text. The form sends them back, so that a person
 * pays exactly what the button named.
 */
export function formatShownTerms(
  { plan, quantity, trialDays, code }: ChosenPlan,
  invoices: FirstInvoices,
): string {
  const amounts = [invoices.now.total.amount, invoices.next?.total.amount ?? '']
  return JSON.stringify([plan.id, quantity, trialDays, code, ...amounts])
}
