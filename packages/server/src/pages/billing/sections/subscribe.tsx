import type { ProviderName } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { COUPON } from '../../../demo/providers.ts'
import type { PageContext } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import type { Account, ProviderView } from '../model/account.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { describeCard } from '../model/describe-card.ts'
import { describeState } from '../model/describe-state.ts'
import { hasHostedPages } from '../model/hosted-pages.ts'
import { firstAmount, trialDaysFor } from '../model/plans.ts'
import { PROVIDER_NAMES } from '../model/providers.ts'
import { CardField } from './card-entry.tsx'
import { Price } from './price.tsx'

interface SubscribeView {
  readonly page: PageContext
  readonly account: Account
  readonly provider: ProviderName
  /** Those to choose from; none when it is settled. */
  readonly available: readonly ProviderName[]
  /** A new card, though there may be one on file: that one did not do. */
  readonly asksForCard: boolean | undefined
  readonly entry: CardEntry
  readonly told: ProviderView
  /** What was filled in before, when it could not be done. */
  readonly form: URLSearchParams | null
}

export const Subscribe: FC<SubscribeView> = (view) => {
  const { page, account, provider, entry, told, form, asksForCard } = view
  const { settings } = page.service.config
  const [last] = account.history
  if (settings.plans.length === 0)
    return <p class="card">There are no plans to subscribe to yet.</p>
  const isElsewhere = provider !== account.provider
  const card = asksForCard || isElsewhere ? null : describeCard(account.billable)
  return (
    <section class="stack" aria-labelledby="subscribe-title">
      <h2 id="subscribe-title">{titleOf(account)}</h2>
      {last && !account.running && <p>{describeState(last, told, card !== null).sentence}</p>}
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
            <CardField
              entry={entry}
              id="subscribe-card"
              chosen={form?.get('token') ?? null}
              email={page.user?.email}
            />
          ) : (
            <p>
              You pay with {card}. <a href="/billing?card=new">Use another card</a>
            </p>
          )}
          <label>
            Code <small>(optional{entry.kind === 'test' ? `; try ${COUPON}` : ''})</small>
            <input
              name="coupon"
              value={form?.get('coupon') ?? ''}
              maxlength={64}
              autocomplete="off"
            />
          </label>
          <div class="row">
            <button class="primary" type="submit">
              Subscribe
            </button>
            {hasHostedPages(provider) && (
              <button type="submit" formaction="/billing/checkout" formnovalidate>
                Pay on {PROVIDER_NAMES[provider]}’s page
              </button>
            )}
          </div>
        </div>
      </form>
    </section>
  )
}

function titleOf({ running, history }: Account): string {
  if (running) return 'Another card or plan'
  return history.length > 0 ? 'Subscribe again' : 'Choose a plan'
}

const PlanChoice: FC<SubscribeView> = ({ page, account, form }) => {
  const { settings } = page.service.config
  const chosen = form?.get('plan') ?? account.plan?.id ?? settings.plans[0]?.id
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
                data-amount={firstAmount(plan, settings, trialDays)}
                checked={plan.id === chosen}
                required
              />
              <strong>{plan.name}</strong>
            </span>
            <span class="price">
              <Price plan={plan} quantity={1} settings={settings} />
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
const ProviderChoice: FC<SubscribeView> = ({ provider, available }) => {
  if (available.length < 2) return null
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
