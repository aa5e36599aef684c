import { money } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { findPlanOfSubscription } from '../../../config/plan-capabilities.ts'
import { getBillingTime } from '../../../dates.ts'
import { formatAmount, formatDecimal } from '../../../messages/messages.ts'
import type { SubscriptionChoice, SubscriptionFact } from '../../../users/account-billing.ts'
import { describeChoice, describeFuture } from '../../../users/describe-account.ts'
import { Price } from '../../billing/sections/price.tsx'
import { Choice } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { Day, Fact } from '../../parts/table.tsx'
import { AdminForm } from '../parts.tsx'
import { describeProvider } from './describe-provider.ts'
import type { BillingSectionProps, SubscriptionJson } from './owner-data.ts'

/** The subscriptions, balance and free access of a person or team. */
export const Subscriptions: FC<BillingSectionProps> = (section) => {
  const { service, t } = usePage()
  const { data, can } = section
  const { payer, subscriptions, customer } = data
  const { path } = payer
  const isFree = customer?.free_until && new Date(customer.free_until) > getBillingTime(service)
  const isSubscribed = subscriptions.some((each) => !each.states.includes('ended'))
  return (
    <section class="card stack" aria-labelledby="subscriptions-title">
      <h2 id="subscriptions-title">{t('people.subscriptions')}</h2>
      {subscriptions.length === 0 ? (
        <p>{t('accounts.noSubscription')}</p>
      ) : (
        <ul class="letters">
          {subscriptions.map((subscription) => (
            <SubscriptionItem {...section} subscription={subscription} />
          ))}
        </ul>
      )}
      {customer === null ? (
        <p>{t('people.away')}</p>
      ) : (
        <dl class="facts">
          {customer.customer !== null && (
            <Fact term={t('people.customer')}>
              {describeProvider(customer.provider ?? '')} <code>{customer.customer}</code>
            </Fact>
          )}
          {customer.balance !== null && (
            <Fact term={t('people.balance')}>
              {formatAmount(money(customer.balance.amount, customer.balance.currency), t)}
            </Fact>
          )}
          {isFree && customer.free_until && (
            <Fact term={t('people.freeUntil')}>
              <Day at={new Date(customer.free_until)} />
            </Fact>
          )}
        </dl>
      )}
      <div class="row">
        {can('billing.comp') && !isSubscribed && (
          <a class="button" href={`${path}/comp`}>
            {t('people.comp.go')}
          </a>
        )}
        {can('billing.comp') && isFree && (
          <a class="button danger-quiet" href={`${path}/end-comp`}>
            {t('people.endComp.go')}
          </a>
        )}
        {can('billing.credit') && customer?.balance && (
          <a class="button" href={`${path}/credit`}>
            {t('people.credit.go')}
          </a>
        )}
        {can('billing.sync') && payer.provider !== null && (
          <AdminForm action={`${path}/sync`}>
            <button type="submit">{t('people.sync')}</button>
          </AdminForm>
        )}
      </div>
    </section>
  )
}

const SubscriptionItem: FC<BillingSectionProps & { subscription: SubscriptionJson }> = (item) => {
  const {
    data: { payer, usage },
    can,
    subscription,
  } = item
  const { service, t } = usePage()
  const { id, name, provider, plan: providerPlan, quantity, states } = subscription
  const of = (act: string) => `${payer.path}/${act}?object=${id}`
  const is = (state: (typeof states)[number]) => states.includes(state)
  const isRunning = renews(subscription) && !is('awaits_first_payment')
  const { plans } = service.config.settings
  const plan = plans.find((each) => new Map(Object.entries(each)).get(provider) === providerPlan)
  const supports = (name: (typeof subscription.supports)[number]) =>
    subscription.supports.includes(name)
  return (
    <li>
      <p class="row">
        {plan && (
          <span>
            <strong>
              <bdi>{plan.name}</bdi>
            </strong>
            , <Price plan={plan} quantity={quantity} />
          </span>
        )}
        <SubscriptionState subscription={subscription} />
      </p>
      <p>{describeFuture(toSubscriptionFact(subscription), t)}</p>
      {usage
        ?.filter((each) => each.subscription === id)
        .map(({ name: price, value, from }) => (
          <p>
            {t.parts('people.usage', {
              name: <bdi>{price}</bdi>,
              value: formatDecimal(value, t),
              date: <Day at={new Date(from)} />,
            })}
          </p>
        ))}
      {is('on_trial') && subscription.trial_ends_at && (
        <p>
          {t.parts('people.trialUntil', {
            date: <Day at={new Date(subscription.trial_ends_at)} />,
          })}
        </p>
      )}
      <PlannedChange {...item} />
      <div class="row">
        {supports('planned_changes') && isRunning && can('billing.planChange') && (
          <a class="button small" href={of('plan-change')}>
            {t('people.planChange.go')}
          </a>
        )}
        {supports('pauses') && isRunning && !is('paused') && can('billing.pause') && (
          <a class="button small" href={of('pause')}>
            {t('people.pause.go')}
          </a>
        )}
        {is('paused') && can('billing.unpause') && (
          <AdminForm action={of('unpause')}>
            <button type="submit" class="small">
              {t('people.unpause')}
            </button>
          </AdminForm>
        )}
        {is('on_grace_period') && can('billing.resume') && (
          <AdminForm action={of('resume')}>
            <button type="submit" class="small" aria-label={t('people.resumeOf', { name })}>
              {t('people.resume')}
            </button>
          </AdminForm>
        )}
        {supports('trial_extensions') && is('on_trial') && can('billing.extendTrial') && (
          <a class="button small" href={of('extend-trial')}>
            {t('people.extendTrial.go')}
          </a>
        )}
        {supports('discounts') && !is('ended') && can('billing.applyCoupon') && (
          <a class="button small" href={of('coupon')}>
            {t('people.coupon.go')}
          </a>
        )}
        {supports('discounts') && !is('ended') && can('billing.applyPromotionCode') && (
          <a class="button small" href={of('promotion-code')}>
            {t('people.promotionCode.go')}
          </a>
        )}
        {supports('discounts') && !is('ended') && can('billing.removeDiscounts') && (
          <a class="button small" href={of('remove-discounts')}>
            {t('people.removeDiscounts.go')}
          </a>
        )}
        {!is('cancelled') && !is('ended') && can('billing.cancel') && (
          <a class="button small danger-quiet" href={of('cancel')}>
            {t('people.cancel.go')}
          </a>
        )}
        {!is('ended') && can('billing.cancelNow') && (
          <a class="button small danger-quiet" href={of('cancel-now')}>
            {t('people.cancelNow.go')}
          </a>
        )}
      </div>
    </li>
  )
}

/** The planned change of a subscription, and a button to cancel it. */
const PlannedChange: FC<BillingSectionProps & { subscription: SubscriptionJson }> = ({
  data: { payer },
  can,
  subscription,
}) => {
  const { service, t } = usePage()
  const { id, planned } = subscription
  if (planned === null) return null
  const provider = subscription.provider as SubscriptionFact['provider']
  const plan = findPlanOfSubscription(service.config.settings.plans, {
    provider,
    providerPlan: planned.plan,
  })
  return (
    <div class="row">
      <span>
        {t.parts('people.planned', {
          plan: <bdi>{plan?.name ?? planned.plan}</bdi>,
          date: <Day at={new Date(planned.at)} />,
        })}
      </span>
      {can('billing.cancelPlannedChange') && (
        <AdminForm action={`${payer.path}/cancel-planned-change?object=${id}`}>
          <button type="submit" class="small">
            {t('people.cancelPlannedChange')}
          </button>
        </AdminForm>
      )}
    </div>
  )
}

/** The states that an operator should notice, the most urgent one first. */
const SHOWN_STATES = [
  ['ended', ''],
  ['past_due', 'bad'],
  ['incomplete', 'bad'],
  ['suspended', 'bad'],
  ['paused', 'warning'],
  ['on_grace_period', 'warning'],
  ['on_trial', 'good'],
  ['active', 'good'],
] as const

const SubscriptionState: FC<{ subscription: SubscriptionJson }> = ({ subscription }) => {
  const { t } = usePage()
  const found = SHOWN_STATES.find(([state]) => subscription.states.includes(state))
  if (!found) return null
  const [state, tone] = found
  return <span class={`badge ${tone}`}>{t(`people.state.${state}`)}</span>
}

function toSubscriptionFact(subscription: SubscriptionJson): SubscriptionFact {
  const { name, plan, quantity, states, ends_at: endsAt } = subscription
  const state = states.includes('ended')
    ? 'ended'
    : states.includes('cancelled')
      ? 'ending'
      : 'running'
  const provider = subscription.provider as SubscriptionFact['provider']
  return {
    name,
    provider,
    plan,
    quantity,
    state,
    endsAt: endsAt === null ? null : new Date(endsAt),
  }
}

/** Whether a subscription will be charged again. */
export function renews({ states }: SubscriptionJson): boolean {
  return !states.includes('ended') && !states.includes('cancelled')
}

/** A sentence about each subscription, with its plan and price. */
export const SubscriptionList: FC<{ subscriptions: readonly SubscriptionFact[] }> = ({
  subscriptions,
}) => {
  const { service, t } = usePage()
  const { settings } = service.config
  if (subscriptions.length === 0) return <p>{t('accounts.noSubscription')}</p>
  return (
    <ul class="plain stack">
      {subscriptions.map((fact) => {
        const plan = findPlanOfSubscription(settings.plans, {
          provider: fact.provider,
          providerPlan: fact.plan,
        })
        return (
          <li>
            {plan && fact.state !== 'ended' && (
              <p>
                <strong>
                  <bdi>{plan.name}</bdi>
                </strong>
                , <Price plan={plan} quantity={fact.quantity} />
              </p>
            )}
            <p>{describeFuture(fact, t)}</p>
          </li>
        )
      })}
    </ul>
  )
}

/** The choices for the subscriptions of an account that is disabled or deleted. */
export const SubscriptionChoices: FC<{ offered: readonly SubscriptionChoice[] }> = ({
  offered,
}) => {
  const { t } = usePage()
  return (
    <fieldset>
      <legend>{t('choice.question')}</legend>
      {offered.map((choice) => (
        <Choice
          id={`subscription-${choice}`}
          type="radio"
          name="subscription"
          value={choice}
          title={t(`choice.${choice}`)}
          description={describeChoice(choice, t)}
        />
      ))}
    </fieldset>
  )
}
