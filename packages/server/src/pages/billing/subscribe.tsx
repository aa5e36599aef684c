import type { ProviderName } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { COUPON } from '../../demo/providers.ts'
import { CsrfField } from '../layout.tsx'
import type { PageContext } from '../page-context.ts'
import type { Account } from './account.ts'
import { type CardEntry, CardField } from './card-entry.tsx'
import { cardWords } from './card-words.ts'
import { formatPrice, formatRhythm, trialDaysFor } from './plans.ts'
import { PROVIDER_NAMES } from './providers.ts'
import { describeState } from './state-words.ts'

interface SubscribeView {
  readonly page: PageContext
  readonly account: Account
  readonly provider: ProviderName
  readonly available: readonly ProviderName[]
  readonly entry: CardEntry
  /** What was filled in before, when it could not be done. */
  readonly form: URLSearchParams | null
}

export const Subscribe: FC<SubscribeView> = (view) => {
  const { page, account, provider, entry, form } = view
  const { settings } = page.service.config
  const [last] = account.history
  if (settings.plans.length === 0)
    return <p class="card">There are no plans to subscribe to yet.</p>
  const card = cardWords(account.billable)
  return (
    <section class="stack" aria-labelledby="subscribe-title">
      <h2 id="subscribe-title">{last ? 'Subscribe again' : 'Choose a plan'}</h2>
      {last && <p>{describeState(last, null).sentence}</p>}
      <ProviderChoice {...view} />
      <form method="post" action="/billing/subscribe" class="stack" data-once>
        <CsrfField page={page} />
        <input type="hidden" name="provider" value={provider} />
        <fieldset class="bare">
          <legend class="unseen">Plan</legend>
          <PlanChoice {...view} />
        </fieldset>
        <div class="card pay">
          {card === null ? (
            <CardField entry={entry} id="subscribe-card" chosen={form?.get('token') ?? null} />
          ) : (
            <p>You pay with {card}.</p>
          )}
          <label>
            Coupon <small>(optional{entry.kind === 'test' ? `; try ${COUPON}` : ''})</small>
            <input
              name="coupon"
              value={form?.get('coupon') ?? ''}
              maxlength={64}
              autocomplete="off"
            />
          </label>
          <button class="primary" type="submit">
            Subscribe
          </button>
        </div>
      </form>
    </section>
  )
}

const PlanChoice: FC<SubscribeView> = ({ page, account, form }) => {
  const { settings } = page.service.config
  const chosen = form?.get('plan') ?? settings.plans[0]?.id
  return (
    <div class="plans">
      {settings.plans.map((plan) => {
        const trialDays = trialDaysFor(plan, account.history)
        return (
          <label class="card plan plan-choice">
            <span class="row">
              <input
                type="radio"
                name="plan"
                value={plan.id}
                checked={plan.id === chosen}
                required
              />
              <strong>{plan.name}</strong>
            </span>
            <span class="price">
              {formatPrice(plan, settings)} <small>{formatRhythm(plan)}</small>
            </span>
            {plan.description && <span>{plan.description}</span>}
            {trialDays > 0 && <span class="badge good">{trialDays} days free</span>}
          </label>
        )
      })}
    </div>
  )
}

/** Until somebody has paid anywhere. */
const ProviderChoice: FC<SubscribeView> = ({ account, provider, available }) => {
  if (account.isCustomer || available.length < 2) return null
  return (
    <nav class="row" aria-label="Payment provider">
      <span>Pay through</span>
      {available.map((name) => (
        <a
          class="button"
          href={`/billing?provider=${name}`}
          aria-current={name === provider ? 'true' : undefined}
        >
          {PROVIDER_NAMES[name]}
        </a>
      ))}
    </nav>
  )
}
