import { type Money, money, type Subscription } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { findPlanOfSubscription } from '../../../config/plan-capabilities.ts'
import { formatDay } from '../../../dates.ts'
import { formatAmount, formatDecimal } from '../../../messages/messages.ts'
import { Submit } from '../../parts/fields.tsx'
import { BillingForm, usePage } from '../../parts/layout.tsx'
import { Fact } from '../../parts/table.tsx'
import { type BillingAccount, listOtherPlans, type ProviderView } from '../model/account.ts'
import { describeCard } from '../model/describe-card.ts'
import { describeDiscount, describeState } from '../model/describe-state.ts'
import {
  computeQuantityOnPlan,
  formatInterval,
  formatTotal,
  getQuantityChoice,
} from '../model/plans.ts'
import { hasPromotionCodes, PROVIDER_NAMES } from '../model/providers.ts'
import { PlanTerms, Price } from './price.tsx'

interface CurrentView {
  readonly account: BillingAccount
  readonly told: ProviderView
  readonly subscription: Subscription
}

export const CurrentSubscription: FC<CurrentView> = ({ account, told, subscription }) => {
  const { t } = usePage()
  const { plan } = account
  const state = describeState(subscription, told, describeCard(account.billable) !== null, t)
  return (
    <section class="card stack" aria-labelledby="subscription-title">
      <div class="row spread">
        <h2 id="subscription-title">{plan?.name ?? subscription.providerPlan}</h2>
        <span class={`badge ${state.tone}`}>{state.label}</span>
      </div>
      {plan && (
        <p class="price">
          <Price plan={plan} quantity={subscription.quantity} />
        </p>
      )}
      {plan && <PlanTerms plan={plan} />}
      <p>
        {state.sentence}{' '}
        <small>
          {t('current.paidThrough', { provider: PROVIDER_NAMES[subscription.provider] })}
        </small>
      </p>
      {told.discounts?.map((discount) => (
        <p>{describeDiscount(discount, t)}</p>
      ))}
      <Usage {...told} />
      <Planned subscription={subscription} />
      <Unpaid {...{ account, told, subscription }} />
      {!subscription.incomplete() && <Changes {...{ account, subscription }} />}
    </section>
  )
}

/** The usage in the current period, and what it costs so far. */
const Usage: FC<Pick<ProviderView, 'usage' | 'upcoming'>> = ({ usage, upcoming }) => {
  const { t } = usePage()
  if (!usage || usage.length === 0) return null
  const lines = upcoming?.lines.filter(({ kind }) => kind === 'usage') ?? []
  const [first] = lines
  const cost = lines.reduce((sum, { amount }) => sum + amount.amount, 0)
  return (
    <>
      <h3>{t('usage.title')}</h3>
      <dl class="facts">
        {usage.map(({ name, value, from }) => (
          <Fact term={name}>
            {t('usage.since', {
              usage: formatDecimal(value, t),
              date: formatDay(from, t.locale),
            })}
          </Fact>
        ))}
        {first && upcoming && (
          <Fact term={t('usage.cost')}>
            {t('usage.charged', {
              amount: formatAmount(money(cost, first.amount.currency), t),
              date: formatDay(upcoming.date, t.locale),
            })}
          </Fact>
        )}
      </dl>
    </>
  )
}

/** The planned change and a button to cancel it. */
const Planned: FC<Pick<CurrentView, 'subscription'>> = ({ subscription }) => {
  const { plannedPrice, plannedAt, provider } = subscription
  if (plannedPrice === null || plannedAt === null) return null
  const { service, t } = usePage()
  const { plans } = service.config.settings
  const next = findPlanOfSubscription(plans, { provider, providerPlan: plannedPrice })
  return (
    <BillingForm action="/keep-plan" class="row" data-once>
      <span>
        {t.parts('current.planned', {
          plan: <bdi>{next?.name ?? plannedPrice}</bdi>,
          date: formatDay(plannedAt, t.locale),
        })}
      </span>
      <button type="submit">{t('current.keep')}</button>
    </BillingForm>
  )
}

const Changes: FC<Omit<CurrentView, 'told'>> = ({ account, subscription }) => (
  <div class="row bottom spread">
    <Quantity {...{ account, subscription }} />
    {hasPromotionCodes(subscription.provider) && (account.plan?.promotionCodes ?? true) && <Code />}
    <div class="row">
      {subscription.onGracePeriod() && (
        <BillingForm action="/resume" data-once>
          <Submit class="primary">{usePage().t('current.resume')}</Submit>
        </BillingForm>
      )}
      {subscription.paused() && subscription.can('pauses') && (
        <BillingForm action="/unpause" data-once>
          <Submit class="primary">{usePage().t('current.unpause')}</Submit>
        </BillingForm>
      )}
      <a class="button" href={`${account.path}/cancel`}>
        {usePage().t(subscription.cancelled() ? 'current.endNow' : 'cancel.title')}
      </a>
    </div>
  </div>
)

/**
 * The form for the quantity. If the quantity of the plan is fixed or counted, a person who has
 * another one can only change to it.
 */
const Quantity: FC<Omit<CurrentView, 'told'>> = ({ account, subscription }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const { plan } = account
  const choice = getQuantityChoice(plan, subscription, account.counted)
  if (choice === null) return null
  const { min, max } = choice
  const price = plan && plan.rates === null ? formatTotal(plan, 1, settings, t) : null
  return (
    <BillingForm action="/quantity" class="row bottom" data-once>
      {min === max ? (
        <>
          <input type="hidden" name="quantity" value={min} />
          <button type="submit">
            {plan && price && min === 1
              ? t('current.payOnePrice', { price, interval: formatInterval(plan, t) })
              : t('current.setQuantity', { quantity: min })}
          </button>
        </>
      ) : (
        <>
          <label class="short">
            {price ? t('current.quantityEach', { price }) : t('current.quantity')}
            <input
              type="number"
              name="quantity"
              min={min}
              max={max}
              value={subscription.quantity}
              required
            />
          </label>
          <button type="submit">{t('current.changeQuantity')}</button>
        </>
      )}
    </BillingForm>
  )
}

/** The form for a promotion code, which replaces the present discount. */
const Code: FC = () => (
  <BillingForm action="/code" class="row bottom" data-once>
    <label class="short">
      {usePage().t('current.code')}
      <input name="coupon" maxlength={64} autocomplete="off" required />
    </label>
    <button type="submit">{usePage().t('current.useCode')}</button>
  </BillingForm>
)

const Unpaid: FC<CurrentView> = (props) => {
  const { t } = usePage()
  const { account, told, subscription } = props
  const { unpaid, owed } = told
  if (!unpaid && !owed) return null
  const asks = unpaid?.code === 'payment_action_required'
  const card = describeCard(account.billable, t)
  return (
    <div class="note bad stack">
      {unpaid && <p>{asks ? t('current.bankWants') : unpaid.message}</p>}
      {owed && card && !asks && <PayNow {...{ owed, card }} />}
      {(asks || subscription.incomplete()) && (
        <div class="row">
          {asks && (
            <a class="button primary" href={`${account.path}/confirm`}>
              {t('confirm.title')}
            </a>
          )}
          {subscription.incomplete() && (
            <BillingForm action="/cancel-now" data-once>
              <input type="hidden" name="confirm" value="yes" />
              <button type="submit">{t('current.giveUp')}</button>
            </BillingForm>
          )}
        </div>
      )}
    </div>
  )
}

const PayNow: FC<{ owed: Money; card: string }> = ({ owed, card }) => (
  <BillingForm action="/pay" class="row" data-once>
    <input type="hidden" name="amount" value={owed.amount} />
    <Submit class="primary">
      {usePage().t('current.payNow', { amount: formatAmount(owed, usePage().t) })}
    </Submit>
    <span>{usePage().t('current.payWith', { card })}</span>
  </BillingForm>
)

/** The plans the person can change to. Each leads to a preview. */
export const OtherPlans: FC<{
  account: BillingAccount
  subscription: Subscription
}> = ({ account, subscription }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const others = listOtherPlans(settings.plans, account)
  if (others.length === 0) return null
  return (
    <section class="stack" aria-labelledby="plans-title">
      <h2 id="plans-title">{t('swap.title')}</h2>
      <ul class="plans">
        {others.map((plan) => (
          <li class="card plan">
            <h3>{plan.name}</h3>
            <p class="price">
              <Price
                plan={plan}
                quantity={computeQuantityOnPlan(plan, subscription, account.counted)}
              />
            </p>
            <PlanTerms plan={plan} />
            <a class="button" href={`${account.path}/swap?plan=${encodeURIComponent(plan.id)}`}>
              {settings.plans.some((each) => each !== plan && each.plan === plan.plan)
                ? t.parts('current.changeToInterval', {
                    plan: <bdi>{plan.name}</bdi>,
                    interval: formatInterval(plan, t),
                  })
                : t.parts('current.changeTo', { plan: <bdi>{plan.name}</bdi> })}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
