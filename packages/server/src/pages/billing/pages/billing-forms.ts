import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { requireRunning } from '../model/account.ts'
import { describeCard } from '../model/describe-card.ts'
import { refusesQuantity } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { addForm, type FormRequest } from './add-form.ts'
import { readCard, rehearseCard } from './card-forms.ts'
import { beginSubscription, readCode, readPlan } from './read-plan.ts'

const LARGEST_QUANTITY = 10_000

/** The forms of the billing page itself. */
export function addBillingForms(app: Hono<AppEnv>): void {
  addForm(app, '/billing/subscribe', subscribe)
  addForm(app, '/billing/pay', payNow)
  addForm(app, '/billing/quantity', changeQuantity)
  addForm(app, '/billing/resume', resume)
  addForm(app, '/billing/keep-plan', keepPlan)
  addForm(app, '/billing/code', useCode)
}

async function subscribe(request: FormRequest) {
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
  await rehearseCard(request, token)
  return 'subscribed' as const
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
  if (refusesQuantity(account.plan, running, quantity)) {
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

async function keepPlan({ account }: FormRequest) {
  const running = requireRunning(account)
  if (running.plannedPlan !== null) await running.cancelPlannedSwap()
  return 'plan-kept' as const
}
