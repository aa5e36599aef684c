import type { Money, Subscription } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { formatDay } from '../../../dates.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { Submit } from '../../parts/fields.tsx'
import { OwnForm, usePage } from '../../parts/layout.tsx'
import type { Account, ProviderView } from '../model/account.ts'
import { describeCard } from '../model/describe-card.ts'
import { describeDiscount, describeState } from '../model/describe-state.ts'
import { formatInterval, formatTotal, planOf, quantityChoice, quantityOn } from '../model/plans.ts'
import { hasPromotionCodes, PROVIDER_NAMES } from '../model/providers.ts'
import { Price } from './price.tsx'

interface CurrentView {
  readonly account: Account
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
      <p>
        {state.sentence}{' '}
        <small>
          {t('current.paidThrough', { provider: PROVIDER_NAMES[subscription.provider] })}
        </small>
      </p>
      {told.discounts?.map((discount) => (
        <p>{describeDiscount(discount, t)}</p>
      ))}
      <Planned subscription={subscription} />
      <Unpaid {...{ account, told, subscription }} />
      {!subscription.incomplete() && <Changes {...{ account, subscription }} />}
    </section>
  )
}

/** The planned change and a button to cancel it. */
const Planned: FC<Pick<CurrentView, 'subscription'>> = ({ subscription }) => {
  const { plannedPrice, plannedAt, provider } = subscription
  if (plannedPrice === null || plannedAt === null) return null
  const { service, t } = usePage()
  const { plans } = service.config.settings
  const next = planOf(plans, { provider, providerPlan: plannedPrice })
  return (
    <OwnForm action="/billing/keep-plan" class="row" data-once>
      <span>
        {t.parts('current.planned', {
          plan: <bdi>{next?.name ?? plannedPrice}</bdi>,
          date: formatDay(plannedAt, t.locale),
        })}
      </span>
      <button type="submit">{t('current.keep')}</button>
    </OwnForm>
  )
}

const Changes: FC<Omit<CurrentView, 'told'>> = ({ account, subscription }) => (
  <div class="row bottom spread">
    <Quantity {...{ account, subscription }} />
    {hasPromotionCodes(subscription.provider) && <Code />}
    <div class="row">
      {subscription.onGracePeriod() && (
        <OwnForm action="/billing/resume" data-once>
          <Submit class="primary">{usePage().t('current.resume')}</Submit>
        </OwnForm>
      )}
      {subscription.paused() && subscription.can('pauses') && (
        <OwnForm action="/billing/unpause" data-once>
          <Submit class="primary">{usePage().t('current.unpause')}</Submit>
        </OwnForm>
      )}
      <a class="button" href="/billing/cancel">
        {usePage().t(subscription.cancelled() ? 'current.endNow' : 'cancel.title')}
      </a>
    </div>
  </div>
)

/**
 * The form for the quantity. On a plan without seats, a person who has several can only go back to
 * one.
 */
const Quantity: FC<Omit<CurrentView, 'told'>> = ({ account, subscription }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const { plan } = account
  const choice = quantityChoice(plan, subscription)
  if (choice === 'none') return null
  const price = plan && formatTotal(plan, 1, settings, t)
  return (
    <OwnForm action="/billing/quantity" class="row bottom" data-once>
      {choice === 'one' ? (
        <>
          <input type="hidden" name="quantity" value={1} />
          <button type="submit">
            {plan && price
              ? t('current.payOnePrice', { price, rhythm: formatInterval(plan, t) })
              : t('current.payOne')}
          </button>
        </>
      ) : (
        <>
          <label class="short">
            {price ? t('current.quantityEach', { price }) : t('current.quantity')}
            <input
              type="number"
              name="quantity"
              min={1}
              max={10_000}
              value={subscription.quantity}
              required
            />
          </label>
          <button type="submit">{t('current.changeQuantity')}</button>
        </>
      )}
    </OwnForm>
  )
}

/** The form for a promotion code, which replaces the present discount. */
const Code: FC = () => (
  <OwnForm action="/billing/code" class="row bottom" data-once>
    <label class="short">
      {usePage().t('current.code')}
      <input name="coupon" maxlength={64} autocomplete="off" required />
    </label>
    <button type="submit">{usePage().t('current.useCode')}</button>
  </OwnForm>
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
            <a class="button primary" href="/billing/confirm">
              {t('confirm.title')}
            </a>
          )}
          {subscription.incomplete() && (
            <OwnForm action="/billing/cancel-now" data-once>
              <input type="hidden" name="confirm" value="yes" />
              <button type="submit">{t('current.giveUp')}</button>
            </OwnForm>
          )}
        </div>
      )}
    </div>
  )
}

const PayNow: FC<{ owed: Money; card: string }> = ({ owed, card }) => (
  <OwnForm action="/billing/pay" class="row" data-once>
    <input type="hidden" name="amount" value={owed.amount} />
    <Submit class="primary">
      {usePage().t('current.payNow', { amount: formatAmount(owed, usePage().t) })}
    </Submit>
    <span>{usePage().t('current.payWith', { card })}</span>
  </OwnForm>
)

/** The plans the person can change to. Each leads to a preview. */
export const OtherPlans: FC<{
  account: Account
  subscription: Subscription
}> = ({ account, subscription }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const others = settings.plans.filter((plan) => plan.id !== account.plan?.id)
  if (others.length === 0 || subscription.incomplete()) return null
  return (
    <section class="stack" aria-labelledby="plans-title">
      <h2 id="plans-title">{t('swap.title')}</h2>
      <ul class="plans">
        {others.map((plan) => (
          <li class="card plan">
            <h3>{plan.name}</h3>
            <p class="price">
              <Price plan={plan} quantity={quantityOn(plan, subscription)} />
            </p>
            {plan.description && <p>{plan.description}</p>}
            <a class="button" href={`/billing/swap?plan=${encodeURIComponent(plan.id)}`}>
              {t.parts('current.changeTo', { plan: <bdi>{plan.name}</bdi> })}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
