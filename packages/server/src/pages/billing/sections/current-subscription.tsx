import { formatMoney, type Money, type Subscription } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { PageContext } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import type { Account, ProviderView } from '../model/account.ts'
import { formatDay } from '../model/dates.ts'
import { describeCard } from '../model/describe-card.ts'
import { describeDiscount } from '../model/describe-discount.ts'
import { describeState } from '../model/describe-state.ts'
import { formatRhythm, formatTotal, planOf, quantityChoice } from '../model/plans.ts'
import { hasPromotionCodes, PROVIDER_NAMES } from '../model/providers.ts'
import { Price } from './price.tsx'

interface CurrentView {
  readonly page: PageContext
  readonly account: Account
  readonly told: ProviderView
  readonly subscription: Subscription
}

export const CurrentSubscription: FC<CurrentView> = ({ page, account, told, subscription }) => {
  const { settings } = page.service.config
  const { plan } = account
  const state = describeState(subscription, told, describeCard(account.billable) !== null)
  return (
    <section class="card stack" aria-labelledby="subscription-title">
      <div class="row spread">
        <h2 id="subscription-title">{plan?.name ?? subscription.providerPlan}</h2>
        <span class={`badge ${state.tone}`}>{state.label}</span>
      </div>
      {plan && (
        <p class="price">
          <Price plan={plan} quantity={subscription.quantity} settings={settings} />
        </p>
      )}
      <p>
        {state.sentence} <small>Paid through {PROVIDER_NAMES[subscription.provider]}.</small>
      </p>
      {told.discounts?.map((discount) => (
        <p>{describeDiscount(discount)}</p>
      ))}
      <Planned {...{ page, subscription }} />
      <Unpaid {...{ page, account, told, subscription }} />
      {!subscription.incomplete() && <Changes {...{ page, account, subscription }} />}
    </section>
  )
}

/** A change that comes with a later bill, and the way back from it. */
const Planned: FC<Pick<CurrentView, 'page' | 'subscription'>> = ({ page, subscription }) => {
  const { plannedPlan, plannedAt, provider } = subscription
  if (plannedPlan === null || plannedAt === null) return null
  const { plans } = page.service.config.settings
  const next = planOf(plans, { provider, providerPlan: plannedPlan })
  return (
    <form method="post" action="/billing/keep-plan" class="row" data-once>
      <CsrfField page={page} />
      <span>
        It changes to <bdi>{next?.name ?? plannedPlan}</bdi> on {formatDay(plannedAt)}.
      </span>
      <button type="submit">Keep the present plan</button>
    </form>
  )
}

const Changes: FC<Omit<CurrentView, 'told'>> = ({ page, account, subscription }) => (
  <div class="row bottom spread">
    <Quantity {...{ page, account, subscription }} />
    {hasPromotionCodes(subscription.provider) && <Code page={page} />}
    <div class="row">
      {subscription.onGracePeriod() && (
        <form method="post" action="/billing/resume" data-once>
          <CsrfField page={page} />
          <button class="primary" type="submit">
            Resume
          </button>
        </form>
      )}
      <a class="button" href="/billing/cancel">
        {subscription.cancelled() ? 'End it now' : 'Cancel'}
      </a>
    </div>
  </div>
)

/** A plan without seats is charged once: a person who has several can only go back to one. */
const Quantity: FC<Omit<CurrentView, 'told'>> = ({ page, account, subscription }) => {
  const { settings } = page.service.config
  const { plan } = account
  const choice = quantityChoice(plan, subscription)
  if (choice === 'none') return null
  const each = plan ? `, ${formatTotal(plan, 1, settings)} each` : ''
  return (
    <form method="post" action="/billing/quantity" class="row bottom" data-once>
      <CsrfField page={page} />
      {choice === 'one' ? (
        <>
          <input type="hidden" name="quantity" value={1} />
          <button type="submit">
            Pay for one{plan ? `: ${formatTotal(plan, 1, settings)} ${formatRhythm(plan)}` : ''}
          </button>
        </>
      ) : (
        <>
          <label class="short">
            Quantity{each}
            <input
              type="number"
              name="quantity"
              min={1}
              max={10_000}
              value={subscription.quantity}
              required
            />
          </label>
          <button type="submit">Change the quantity</button>
        </>
      )}
    </form>
  )
}

/** In place of what is taken off now. */
const Code: FC<Pick<CurrentView, 'page'>> = ({ page }) => (
  <form method="post" action="/billing/code" class="row bottom" data-once>
    <CsrfField page={page} />
    <label class="short">
      Code
      <input name="coupon" maxlength={64} autocomplete="off" required />
    </label>
    <button type="submit">Use the code</button>
  </form>
)

const Unpaid: FC<CurrentView> = (props) => {
  const { page, account, told, subscription } = props
  const { unpaid, owed } = told
  if (!unpaid && !owed) return null
  const asks = unpaid?.code === 'payment_action_required'
  const card = describeCard(account.billable)
  return (
    <div class="note bad stack">
      {unpaid && <p>{asks ? 'Your bank wants you to confirm the payment.' : unpaid.message}</p>}
      {owed && card && !asks && <PayNow {...{ page, owed, card }} />}
      {(asks || subscription.incomplete()) && (
        <div class="row">
          {asks && (
            <a class="button primary" href="/billing/confirm">
              Confirm the payment
            </a>
          )}
          {subscription.incomplete() && (
            <form method="post" action="/billing/cancel-now" data-once>
              <CsrfField page={page} />
              <input type="hidden" name="confirm" value="yes" />
              <button type="submit">Give up and start again</button>
            </form>
          )}
        </div>
      )}
    </div>
  )
}

const PayNow: FC<{ page: PageContext; owed: Money; card: string }> = ({ page, owed, card }) => (
  <form method="post" action="/billing/pay" class="row" data-once>
    <CsrfField page={page} />
    <input type="hidden" name="amount" value={owed.amount} />
    <button class="primary" type="submit">
      Pay {formatMoney(owed)} now
    </button>
    <span>with {card}, or change the card below.</span>
  </form>
)
