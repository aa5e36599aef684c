import type { FC } from 'hono/jsx'
import { computeQuantityOnPlan } from '../../billing/model/plans.ts'
import { Price } from '../../billing/sections/price.tsx'
import { Choice } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { type BillingAction, InvalidField } from './action.tsx'
import { buildSubscriptionInput } from './billing-acts.tsx'
import { readSubscription, type SubscriptionJson } from './owner-data.ts'

/** The acts on the planned change of a subscription, by the last part of the URL path. */
export const PLANNED_CHANGE_ACTIONS: Readonly<Record<string, BillingAction>> = {
  'plan-change': {
    operation: 'billing.planChange',
    done: 'change-planned',
    texts: 'people.planChange',
    isHarmless: true,
    input: (form, subscription) => ({ subscription, ...readChoice(form) }),
    async decisions({ c, payer, object, form }) {
      const subscription = await readSubscription(c, payer.owner, object)
      return <PlanChoices subscription={subscription} chosen={form?.get('plan') ?? null} />
    },
  },
  'cancel-planned-change': {
    operation: 'billing.cancelPlannedChange',
    done: 'planned-change-cancelled',
    input: buildSubscriptionInput,
  },
}

/** Reads the chosen plan: its quantity and its price at the provider, such as `3 pro`. */
function readChoice(form: URLSearchParams): { price: string; quantity: number } {
  const [, quantity, price] = /^(\d{1,6}) (.+)$/.exec(form.get('plan') ?? '') ?? []
  if (price === undefined) throw new InvalidField('people.wrongPlan')
  return { price, quantity: Number(quantity) }
}

const PlanChoices: FC<{ subscription: SubscriptionJson; chosen: string | null }> = ({
  subscription,
  chosen,
}) => {
  const { service, t } = usePage()
  const provider = subscription.provider as 'stripe' | 'braintree'
  const others = service.config.settings.plans.filter(
    (plan) => plan[provider] !== subscription.plan,
  )
  if (others.length === 0) return <p>{t('people.planChange.none')}</p>
  return (
    <fieldset>
      <legend>{t('people.planChange.plan')}</legend>
      {others.map((plan) => {
        const quantity = computeQuantityOnPlan(plan, { provider, quantity: subscription.quantity })
        const value = `${quantity} ${plan[provider]}`
        return (
          <Choice
            id={`plan-${plan.id}`}
            type="radio"
            name="plan"
            value={value}
            title={<bdi>{plan.name}</bdi>}
            description={<Price plan={plan} quantity={quantity} />}
            checked={value === chosen}
          />
        )
      })}
    </fieldset>
  )
}
