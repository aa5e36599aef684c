import type { FC } from 'hono/jsx'
import type { SubscriptionChoice, SubscriptionFact } from '../../../users/account-billing.ts'
import { describeChoice, describeFuture } from '../../../users/describe-account.ts'
import { planOf } from '../../billing/model/plans.ts'
import { Price } from '../../billing/sections/price.tsx'
import { Choice } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import type { Section } from './person.tsx'

/** The subscriptions of a person. */
export const Subscriptions: FC<Section> = ({ data: { subscriptions } }) => (
  <section class="card stack" aria-labelledby="subscriptions-title">
    <h2 id="subscriptions-title">{usePage().t('people.subscriptions')}</h2>
    <SubscriptionList subscriptions={subscriptions} />
  </section>
)

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
        const plan = planOf(settings.plans, { provider: fact.provider, providerPlan: fact.plan })
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

/** The choices for subscriptions of an ended account. */
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
