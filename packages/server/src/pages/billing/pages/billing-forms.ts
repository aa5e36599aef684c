import type { ProviderName } from '@tollgate/billing'
import { can } from '../../../config/plan-capabilities.ts'
import { MAX_QUANTITY } from '../../../config/plans.ts'
import { type BillingAccount, requireRunning, SUBSCRIPTION_NAME } from '../model/account.ts'
import { describeCard } from '../model/describe-card.ts'
import {
  beginSubscription,
  type ChosenPlan,
  formatShownTerms,
  previewFirstInvoices,
  readChosenPlan,
  readCode,
} from '../model/new-subscription.ts'
import { getQuantityChoice, parseQuantity } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { type FormRequest, reloadPayer } from './add-form.ts'
import { readCard, setUpTestCardDeclines } from './cards.tsx'

export async function subscribe(request: FormRequest) {
  const { form, service } = request
  const { billable } = request.account
  const keepsCard = describeCard(billable) !== null && !form.has('token')
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  const provider = keepsCard ? billable.provider : (wanted ?? billable.provider)
  const chosen = readChosenPlan(choosing(request, provider), form)
  await requireAsShown(request, chosen)
  const { token } = keepsCard ? { token: null } : await readCard(request)
  const payer = await reloadPayer(request)
  await beginSubscription(payer, chosen).create(token)
  await setUpTestCardDeclines(request, token)
  return 'subscribed' as const
}

function choosing({ service, account }: FormRequest, provider: ProviderName) {
  return { plans: service.config.settings.plans, account, provider }
}

/**
 * Checks that the pay button named the terms in the form. It named others if the person chose
 * another plan without the page's script, or if the price has changed since.
 * @throws BadChoice if the terms differ.
 */
async function requireAsShown({ account, form }: FormRequest, chosen: ChosenPlan): Promise<void> {
  const shown = form.get('shown')
  if (shown === null || (await isSubscribed(account))) return
  const invoices = await previewFirstInvoices(account, chosen)
  if (formatShownTerms(chosen, invoices) === shown) return
  // A form that was sent twice: the other request has subscribed in the meantime.
  if (!(await isSubscribed(account))) throw new BadChoice('problem.termsChanged')
}

/** Whether a subscription runs. Another one is then neither created nor charged. */
async function isSubscribed({ billable }: BillingAccount): Promise<boolean> {
  const found = await billable.findSubscription(SUBSCRIPTION_NAME)
  return found !== null && !found.ended() && !found.awaitsFirstPayment()
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
  const running = requireRunning(account)
  const choice = getQuantityChoice(account.plan, running, account.counted)
  if (choice === null && can(running.provider, 'quantities')) {
    throw new BadChoice('problem.noSeats')
  }
  // A provider without quantities is asked, so that its own error is shown.
  const limits = choice ?? { min: 1, max: MAX_QUANTITY }
  await running.updateQuantity(parseQuantity(form.get('quantity') ?? '', limits))
  return 'quantity-changed' as const
}

export async function useCode({ account, form }: FormRequest) {
  const code = readCode(form)
  if (code === null) throw new BadChoice('problem.typeCode')
  if (account.plan && !account.plan.promotionCodes) throw new BadChoice('problem.noCodes')
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

const isUser = ({ owner }: BillingAccount['billable']) => owner.type === 'user'

/** Creates a checkout on the provider's hosted page, and returns its URL. */
export async function checkout(request: FormRequest) {
  const { service, form } = request
  const { billable, path } = request.account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  if (wanted !== null && wanted !== billable.provider) await billable.chooseProvider(wanted)
  const payer = await reloadPayer(request)
  const chosen = readChosenPlan(choosing(request, payer.provider), form)
  const { url } = await beginSubscription(payer, chosen).checkout({
    successPath: isUser(billable) ? `${path}?done=subscribed` : `${path}/subscribed`,
    cancelPath: path,
  })
  return { goTo: url ?? path }
}

export async function portal({ account }: FormRequest) {
  const { url } = await account.billable.billingPortal({ returnPath: account.path })
  return { goTo: url }
}
