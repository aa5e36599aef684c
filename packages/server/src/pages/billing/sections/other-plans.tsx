import type { Subscription } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { PageContext } from '../../../http/variables.ts'
import type { Account } from '../model/account.ts'
import { quantityOn } from '../model/plans.ts'
import { Price } from './price.tsx'

/** Each leads to a preview; nothing is changed from here. */
export const OtherPlans: FC<{
  page: PageContext
  account: Account
  subscription: Subscription
}> = ({ page, account, subscription }) => {
  const { settings } = page.service.config
  const others = settings.plans.filter((plan) => plan.id !== account.plan?.id)
  if (others.length === 0 || subscription.incomplete()) return null
  return (
    <section class="stack" aria-labelledby="plans-title">
      <h2 id="plans-title">Change the plan</h2>
      <ul class="plans">
        {others.map((plan) => (
          <li class="card plan">
            <h3>{plan.name}</h3>
            <p class="price">
              <Price plan={plan} quantity={quantityOn(plan, subscription)} settings={settings} />
            </p>
            {plan.description && <p>{plan.description}</p>}
            <a class="button" href={`/billing/swap?plan=${encodeURIComponent(plan.id)}`}>
              Change to <bdi>{plan.name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
