import { NoSubscription, type ProviderName, type Subscription } from '@tollgate/billing'
import type { ServiceContext } from '../../../context.ts'
import { type Account, SUBSCRIPTION } from '../model/account.ts'
import type { Done } from '../model/notices.ts'
import { findPlan, hasSeats, trialDaysFor } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { parseProrationDate } from '../model/swap-form.ts'
import { findTestCard, rehearse } from '../model/test-cards.ts'
import { cardEntryOf, parseToken } from '../sections/card-entry.tsx'

export interface Request {
  readonly service: ServiceContext
  readonly account: Account
  readonly form: URLSearchParams
}

/** Does what a form asks for and says so, or sends the person elsewhere first. Doing it twice is doing it once. */
export type Action = (request: Request) => Promise<Done | { readonly goTo: string }>

export const ACTIONS: Readonly<Record<string, Action>> = {
  '/billing/subscribe': subscribe,
  '/billing/card': changeCard,
  '/billing/pay': payNow,
  '/billing/swap': swap,
  '/billing/quantity': changeQuantity,
  '/billing/cancel': cancel,
  '/billing/cancel-now': cancelNow,
  '/billing/resume': resume,
}

const LONGEST_COUPON = 64
const LARGEST_QUANTITY = 10_000

async function subscribe(request: Request) {
  const { service, form } = request
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('Please choose a plan.')
  const coupon = (form.get('coupon') ?? '').trim()
  if (coupon.length > LONGEST_COUPON) throw new BadChoice('This is no coupon.')
  const { billable, history } = request.account
  const hasCard = billable.cardLastFour !== null || billable.paypalEmail !== null
  const keepsCard = hasCard && !form.has('token')
  const { provider, token } = keepsCard
    ? { provider: billable.provider, token: null }
    : await readCard(request)
  const payer = await service.billing.user(billable.id)
  let builder = payer
    .newSubscription(SUBSCRIPTION, plan[provider])
    .trialDays(trialDaysFor(plan, history))
  if (coupon !== '') builder = builder.withCoupon(coupon)
  await builder.create(token)
  await rehearseCard(request, token)
  return 'subscribed' as const
}

async function changeCard(request: Request) {
  const { token } = await readCard(request)
  const payer = await request.service.billing.user(request.account.billable.id)
  await payer.updateCard(token)
  await rehearseCard(request, token)
  return 'card-changed' as const
}

/** What is owed, when the page said how much; another amount is shown first. */
async function payNow({ account, form }: Request) {
  const running = requireRunning(account)
  const owed = await running.amountOwed()
  if (!owed || owed.amount === 0) return 'paid' as const
  if (String(owed.amount) !== form.get('amount')) {
    throw new BadChoice('The amount has changed since you saw it. Please look again.')
  }
  await running.payNow()
  return 'paid' as const
}

async function swap({ service, account, form }: Request) {
  const running = requireRunning(account)
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('Please choose a plan.')
  const wanted = plan[running.provider]
  if (running.providerPlan === wanted && !running.cancelled()) return 'swapped' as const
  // What is done is what was seen and approved, to the cent; else it is shown again.
  const prorationDate = parseProrationDate(form.get('proration_date'), account.now)
  const preview = prorationDate && (await running.previewSwap(wanted, { prorationDate }))
  const isAsSeen =
    preview?.total.amount === Number(form.get('total')) &&
    preview.immediately === (form.get('immediately') === 'yes')
  if (!preview || !isAsSeen) {
    return { goTo: `/billing/swap?plan=${encodeURIComponent(plan.id)}&changed=yes` }
  }
  await running.swap(wanted, { prorationDate: preview.prorationDate })
  return 'swapped' as const
}

async function changeQuantity({ account, form }: Request) {
  const text = form.get('quantity') ?? ''
  const quantity = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (quantity < 1 || quantity > LARGEST_QUANTITY) {
    throw new BadChoice(`Please choose a whole number from 1 to ${LARGEST_QUANTITY}.`)
  }
  const running = requireRunning(account)
  if (running.provider === 'stripe' && !hasSeats(account.plan, running)) {
    throw new BadChoice('This plan has no seats to choose a number of.')
  }
  await running.updateQuantity(quantity)
  return 'quantity-changed' as const
}

async function cancel({ account }: Request) {
  if (!account.running && account.history.length > 0) return 'cancelled' as const
  await requireRunning(account).cancel()
  return 'cancelled' as const
}

async function cancelNow({ account, form }: Request) {
  if (form.get('confirm') !== 'yes') {
    throw new BadChoice('Please tick the box that you want it to end at once.')
  }
  if (!account.running && account.history.length > 0) return 'ended' as const
  await requireRunning(account).cancelNow()
  return 'ended' as const
}

async function resume({ account }: Request) {
  const running = requireRunning(account)
  if (running.cancelled()) await running.resume()
  return 'resumed' as const
}

function requireRunning({ running }: Account): Subscription {
  if (!running) throw new NoSubscription('There is no subscription to change')
  return running
}

/** The card of the form, at the provider that it is for. */
async function readCard({
  service,
  account,
  form,
}: Request): Promise<{ provider: ProviderName; token: string }> {
  const { billable } = account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  const provider = wanted ?? billable.provider
  const token = parseToken(cardEntryOf(service, provider), form.get('token'))
  if (provider !== billable.provider) await billable.chooseProvider(provider)
  return { provider, token }
}

/** In the demo some cards work at first and fail later. */
async function rehearseCard({ service, account }: Request, token: string | null): Promise<void> {
  const { sandbox, billing } = service
  if (!sandbox || token === null) return
  const { provider, providerId } = await billing.user(account.billable.id)
  const card = findTestCard(provider, token)
  if (card && providerId !== null) rehearse(sandbox, providerId, card)
}
