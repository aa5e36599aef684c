import type { ProviderName } from '@tollgate/billing'
import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { requireRunning } from '../model/account.ts'
import { isSoldWhole } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { findTestCard, rehearse } from '../model/test-cards.ts'
import { cardEntryOf, parseToken } from '../sections/card-entry.tsx'
import { addForm, type FormRequest } from './add-form.ts'
import { beginSubscription, readCode, readPlan } from './read-plan.ts'

const LARGEST_QUANTITY = 10_000

/** The forms of the billing page itself. */
export function addBillingForms(app: Hono<AppEnv>): void {
  addForm(app, '/billing/subscribe', subscribe)
  addForm(app, '/billing/card', changeCard)
  addForm(app, '/billing/pay', payNow)
  addForm(app, '/billing/quantity', changeQuantity)
  addForm(app, '/billing/resume', resume)
  addForm(app, '/billing/code', useCode)
}

async function subscribe(request: FormRequest) {
  const { service, form } = request
  const chosen = readPlan(request)
  const { billable } = request.account
  const hasCard = billable.cardLastFour !== null || billable.paypalEmail !== null
  const keepsCard = hasCard && !form.has('token')
  const { provider, token } = keepsCard
    ? { provider: billable.provider, token: null }
    : await readCard(request)
  const payer = await service.billing.user(billable.id)
  await beginSubscription(payer, provider, chosen).create(token)
  await rehearseCard(request, token)
  return 'subscribed' as const
}

async function changeCard(request: FormRequest) {
  const { token } = await readCard(request)
  const payer = await request.service.billing.user(request.account.billable.id)
  await payer.updateCard(token)
  await rehearseCard(request, token)
  return 'card-changed' as const
}

/** What is owed, when the page said how much; another amount is shown first. */
async function payNow({ account, form }: FormRequest) {
  const running = requireRunning(account)
  const owed = await running.amountOwed()
  if (!owed || owed.amount === 0) return 'paid' as const
  if (String(owed.amount) !== form.get('amount')) {
    throw new BadChoice('The amount has changed since you saw it. Please look again.')
  }
  await running.payNow()
  return 'paid' as const
}

async function changeQuantity({ account, form }: FormRequest) {
  const text = form.get('quantity') ?? ''
  const quantity = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (quantity < 1 || quantity > LARGEST_QUANTITY) {
    throw new BadChoice(`Please choose a whole number from 1 to ${LARGEST_QUANTITY}.`)
  }
  const running = requireRunning(account)
  if (isSoldWhole(account.plan, running)) {
    throw new BadChoice('This plan has no seats to choose a number of.')
  }
  await running.updateQuantity(quantity)
  return 'quantity-changed' as const
}

async function useCode({ account, form }: FormRequest) {
  const code = readCode(form)
  if (code === null) throw new BadChoice('Please type a code.')
  await requireRunning(account).applyPromotionCode(code)
  return 'code-used' as const
}

async function resume({ account }: FormRequest) {
  const running = requireRunning(account)
  if (running.cancelled()) await running.resume()
  return 'resumed' as const
}

/** The card of the form, at the provider that it is for. */
async function readCard({
  service,
  account,
  form,
}: FormRequest): Promise<{ provider: ProviderName; token: string }> {
  const { billable } = account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  const provider = wanted ?? billable.provider
  const token = parseToken(cardEntryOf(service, provider), form.get('token'))
  if (provider !== billable.provider) await billable.chooseProvider(provider)
  return { provider, token }
}

/** In the demo some cards work at first and fail later. */
async function rehearseCard(
  { service, account }: FormRequest,
  token: string | null,
): Promise<void> {
  const { sandbox, billing } = service
  if (!sandbox || token === null) return
  const { provider, providerId } = await billing.user(account.billable.id)
  const card = findTestCard(provider, token)
  if (card && providerId !== null) rehearse(sandbox, providerId, card)
}
