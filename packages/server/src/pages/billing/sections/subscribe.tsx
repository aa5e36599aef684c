import type { ProviderName } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { COUPON } from '../../../demo/providers.ts'
import type { PageText } from '../../../messages/messages.ts'
import { Submit } from '../../parts/fields.tsx'
import { OwnForm, usePage } from '../../parts/layout.tsx'
import type { Account, ProviderView } from '../model/account.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { describeCard } from '../model/describe-card.ts'
import { describeState } from '../model/describe-state.ts'
import { firstAmount, trialDaysFor } from '../model/plans.ts'
import { hasHostedPages, PROVIDER_NAMES } from '../model/providers.ts'
import { CardField } from './card-entry.tsx'
import { Price } from './price.tsx'

interface SubscribeView {
  readonly account: Account
  readonly provider: ProviderName
  /** Providers to choose from. Empty if the choice is final. */
  readonly available: readonly ProviderName[]
  /** Whether to ask for a new card, although there is one on file. */
  readonly asksForCard: boolean | undefined
  readonly entry: CardEntry
  readonly told: ProviderView
  /** The values of a form that failed. */
  readonly form: URLSearchParams | null
}

export const Subscribe: FC<SubscribeView> = (view) => {
  const { account, provider, entry, told, form, asksForCard } = view
  const { service, user, t } = usePage()
  const { settings } = service.config
  const [last] = account.history
  if (settings.plans.length === 0) return <p class="card">{t('subscribe.noPlans')}</p>
  const isElsewhere = provider !== account.provider
  const card = asksForCard || isElsewhere ? null : describeCard(account.billable, t)
  return (
    <section class="stack" aria-labelledby="subscribe-title">
      <h2 id="subscribe-title">{titleOf(account, t)}</h2>
      {last && !account.running && <p>{describeState(last, told, card !== null, t).sentence}</p>}
      <ProviderChoice {...view} />
      <OwnForm action="/billing/subscribe" class="stack" data-once>
        <input type="hidden" name="provider" value={provider} />
        <fieldset class="bare">
          <legend class="unseen">{t('subscribe.plan')}</legend>
          <PlanChoice {...view} />
        </fieldset>
        <div class="card pay">
          {card === null ? (
            <CardField
              entry={entry}
              id="subscribe-card"
              chosen={form?.get('token') ?? null}
              email={user?.email}
            />
          ) : (
            <p>
              {t.parts('subscribe.youPayWith', {
                card,
                link: <a href="/billing?card=new">{t('subscribe.anotherCard')}</a>,
              })}
            </p>
          )}
          <label>
            {t('current.code')}{' '}
            <small>
              {entry.kind === 'test'
                ? t('subscribe.optionalTry', { coupon: COUPON })
                : t('subscribe.optional')}
            </small>
            <input
              name="coupon"
              value={form?.get('coupon') ?? ''}
              maxlength={64}
              autocomplete="off"
            />
          </label>
          <div class="row">
            <Submit class="primary">{t('subscribe.subscribe')}</Submit>
            {hasHostedPages(provider) && (
              <button type="submit" formaction="/billing/checkout" formnovalidate>
                {t('subscribe.onPage', { provider: PROVIDER_NAMES[provider] })}
              </button>
            )}
          </div>
        </div>
      </OwnForm>
    </section>
  )
}

function titleOf({ running, history }: Account, t: PageText): string {
  if (running) return t('subscribe.another')
  return t(history.length > 0 ? 'subscribe.again' : 'subscribe.choose')
}

const PlanChoice: FC<SubscribeView> = ({ account, form }) => {
  const { service, t } = usePage()
  const { settings } = service.config
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
              <Price plan={plan} quantity={1} />
            </span>
            {plan.description && <span>{plan.description}</span>}
            {trialDays > 0 && (
              <span class="badge good">{t('subscribe.daysFree', { days: trialDays })}</span>
            )}
          </label>
        )
      })}
    </div>
  )
}

/** The choice of provider, shown until the person has paid. */
const ProviderChoice: FC<SubscribeView> = ({ provider, available }) => {
  if (available.length < 2) return null
  const { t } = usePage()
  return (
    <nav class="row" aria-label={t('subscribe.provider')}>
      <span>{t('subscribe.through')}</span>
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
