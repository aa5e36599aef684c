import type { BillableUser, ProviderName, SubscriptionBuilder } from '@tollgate/billing'
import type { Plan } from '../../../config/settings.ts'
import { requireRunning, SUBSCRIPTION } from '../model/account.ts'
import { describeCard } from '../model/describe-card.ts'
import { findPlan, refusesQuantity, trialDaysFor } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { availableProviders, hasPromotionCodes, parseProvider } from '../model/providers.ts'
import type { FormRequest } from './add-form.ts'
import { readCard, setUpDeclinesOfCard } from './cards.tsx'

const MAX_QUANTITY = 10_000

export async function subscribe(request: FormRequest) {
  const { service, form } = request
  const chosen = readPlan(request)
  const { billable } = request.account
  const hasCard = describeCard(billable) !== null
  const keepsCard = hasCard && !form.has('token')
  const { provider, token } = keepsCard
    ? { provider: billable.provider, token: null }
    : await readCard(request)
  const payer = await service.billing.user(billable.id)
  await beginSubscription(payer, provider, chosen).create(token)
  await setUpDeclinesOfCard(request, token)
  return 'subscribed' as const
}

/**
 * Pays the amount owed, if it is still the amount that the page showed.
 * @throws BadChoice if it has changed.
 */
export async function payNow({ account, form }: FormRequest) {
  const running = requireRunning(account)
  const owed = await running.amountOwed()
  if (!owed || owed.amount === 0) return 'paid' as const
  if (String(owed.amount) !== form.get('amount')) {
    throw new BadChoice('problem.amountChanged')
  }
  await running.payNow()
  return 'paid' as const
}

export async function changeQuantity({ account, form }: FormRequest) {
  const text = form.get('quantity') ?? ''
  const quantity = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (quantity < 1 || quantity > MAX_QUANTITY) {
    throw new BadChoice('problem.quantity')
  }
  const running = requireRunning(account)
  if (refusesQuantity(account.plan, running, quantity)) {
    throw new BadChoice('problem.noSeats')
  }
  await running.updateQuantity(quantity)
  return 'quantity-changed' as const
}

export async function useCode({ account, form }: FormRequest) {
  const code = readCode(form)
  if (code === null) throw new BadChoice('problem.typeCode')
  await requireRunning(account).applyPromotionCode(code)
  return 'code-used' as const
}

export async function resume({ account }: FormRequest) {
  const running = requireRunning(account)
  if (running.cancelled()) await running.resume()
  return 'resumed' as const
}

/** Ends a pause, which only operators begin: access can continue during it without payment. */
export async function unpause({ account }: FormRequest) {
  const running = requireRunning(account)
  if (running.paused()) await running.unpause()
  return 'unpaused' as const
}

export async function keepPlan({ account }: FormRequest) {
  const running = requireRunning(account)
  if (running.plannedPrice !== null) await running.cancelPlannedSwap()
  return 'plan-kept' as const
}

const MAX_CODE_LENGTH = 64

/** The plan and terms that a person subscribes to. */
interface ChosenPlan {
  readonly plan: Plan
  readonly trialDays: number
  /** The code as typed. `null` if there is none. */
  readonly code: string | null
}

export function readPlan({ service, account, form }: FormRequest): ChosenPlan {
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('problem.choosePlan')
  // A form that was sent twice must repeat the trial that has just begun.
  const before = account.history.filter((each) => each !== account.running || !each.onTrial())
  const trialDays = trialDaysFor(plan, before)
  return { plan, trialDays, code: readCode(form) }
}

function readCode(form: URLSearchParams): string | null {
  const code = (form.get('coupon') ?? '').trim()
  if (code.length > MAX_CODE_LENGTH) throw new BadChoice('problem.notACode')
  return code === '' ? null : code
}

/**
 * Prepares a new subscription with its trial and discount. At a provider with promotion codes, ids
 * of coupons are not accepted.
 */
export function beginSubscription(
  payer: BillableUser,
  provider: ProviderName,
  { plan, trialDays, code }: ChosenPlan,
): SubscriptionBuilder {
  const builder = payer.newSubscription(SUBSCRIPTION, plan[provider]).trialDays(trialDays)
  if (code === null) return builder
  return hasPromotionCodes(provider) ? builder.withPromotionCode(code) : builder.withCoupon(code)
}

/** Creates a checkout on the provider's hosted page, and returns its URL. */
export async function checkout(request: FormRequest) {
  const { service, form } = request
  const { billable } = request.account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  if (wanted !== null && wanted !== billable.provider) await billable.chooseProvider(wanted)
  const payer = await service.billing.user(billable.id)
  const { url } = await beginSubscription(payer, payer.provider, readPlan(request)).checkout({
    successPath: '/billing?done=subscribed',
    cancelPath: '/billing',
  })
  return { goTo: url ?? '/billing' }
}

export async function portal({ account }: FormRequest) {
  const { url } = await account.billable.billingPortal({ returnPath: '/billing' })
  return { goTo: url }
}
