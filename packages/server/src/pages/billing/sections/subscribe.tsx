import { type ProviderName, toDecimal } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { formatDay } from '../../../dates.ts'
import { DEMO_COUPON } from '../../../demo/providers.ts'
import { formatAmount, type PageText } from '../../../messages/messages.ts'
import { Submit } from '../../parts/fields.tsx'
import { BillingForm, usePage } from '../../parts/layout.tsx'
import type { BillingAccount, ProviderView } from '../model/account.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { describeCard } from '../model/describe-card.ts'
import { describeState } from '../model/describe-state.ts'
import { formatShownTerms, type SubscriptionOffer } from '../model/new-subscription.ts'
import {
  computeTrialDays,
  getSeatsChoice,
  groupPlans,
  listPlansAtProvider,
} from '../model/plans.ts'
import { hasHostedPages, PROVIDER_NAMES } from '../model/providers.ts'
import { CardField } from './card-entry.tsx'
import { InvoicePreview } from './invoice-preview.tsx'
import { PlanTerms, Price } from './price.tsx'

interface SubscribeView {
  readonly account: BillingAccount
  readonly provider: ProviderName
  /** Providers to choose from. Empty if the choice is final. */
  readonly available: readonly ProviderName[]
  /** Whether to ask for a new card, although there is one on file. */
  readonly asksForCard: boolean | undefined
  readonly entry: CardEntry
  readonly told: ProviderView
  /** The chosen plan and its price. `null` if no plan is on sale. */
  readonly offer: SubscriptionOffer | null
  /** The values of a form that failed. */
  readonly form: URLSearchParams | null
}

export const Subscribe: FC<SubscribeView> = (view) => {
  const { account, told, offer, asksForCard, provider } = view
  const { t } = usePage()
  const [last] = account.history
  if (!offer) return <p class="card">{t('subscribe.noPlans')}</p>
  const isElsewhere = provider !== account.provider
  const card = asksForCard || isElsewhere ? null : describeCard(account.billable, t)
  return (
    <section class="stack" aria-labelledby="subscribe-title">
      <h2 id="subscribe-title">{chooseTitle(account, t)}</h2>
      {last && !account.running && <p>{describeState(last, told, card !== null, t).sentence}</p>}
      <ProviderChoice {...view} />
      <BillingForm action="/subscribe" class="stack" data-once data-priced>
        <input type="hidden" name="provider" value={provider} />
        <fieldset class="bare">
          <legend class="unseen">{t('subscribe.plan')}</legend>
          <PlanChoice {...view} />
        </fieldset>
        <div class="card pay">
          <Terms {...{ ...view, offer }} />
          <PayWith {...{ ...view, card }} />
          <Pay {...{ offer, provider }} />
        </div>
      </BillingForm>
    </section>
  )
}

/** The card on file, or the field for a new one. */
const PayWith: FC<SubscribeView & { card: string | null }> = ({ account, card, entry, form }) => {
  const { user, t } = usePage()
  if (card !== null) {
    return (
      <p>
        {t.parts('subscribe.youPayWith', {
          card,
          link: <a href={`${account.path}?card=new`}>{t('subscribe.anotherCard')}</a>,
        })}
      </p>
    )
  }
  return (
    <CardField
      entry={entry}
      id="subscribe-card"
      chosen={form?.get('token') ?? null}
      email={user?.email}
    />
  )
}

interface OfferView {
  readonly offer: SubscriptionOffer
}

/**
 * The quantity, the code, and the amounts to pay now and later. The page's script replaces this
 * element after each choice.
 */
const Terms: FC<SubscribeView & OfferView> = ({ offer, provider, entry, form }) => {
  const { t } = usePage()
  const { chosen, invoices, problem } = offer
  const { plan, quantity } = chosen
  const seats = getSeatsChoice(plan, provider)
  return (
    <div class="terms-chosen" data-terms data-amount={amountNow(offer)}>
      {seats && (
        <label>
          {t('current.quantity')}
          <input
            class="short"
            type="number"
            name="quantity"
            {...{ min: seats.min, max: seats.max }}
            value={quantity}
            required
          />
        </label>
      )}
      {plan.promotionCodes && (
        <label>
          {t('current.code')}{' '}
          <small>
            {entry.kind === 'test'
              ? t('subscribe.optionalTry', { coupon: DEMO_COUPON })
              : t('subscribe.optional')}
          </small>
          <input
            name="coupon"
            value={form?.get('coupon') ?? ''}
            maxlength={64}
            autocomplete="off"
            aria-describedby="terms-problem"
          />
        </label>
      )}
      <p class="problem" id="terms-problem" role={problem ? 'alert' : undefined} data-terms-problem>
        {problem}
      </p>
      {invoices ? (
        <FirstInvoices {...invoices} provider={provider} />
      ) : (
        <p>{t('subscribe.noPreview')}</p>
      )}
      <noscript>
        <button type="submit" formaction={`${usePage().payer.path}/price`} formnovalidate>
          {t('subscribe.showPrice')}
        </button>
      </noscript>
    </div>
  )
}

const FirstInvoices: FC<NonNullable<SubscriptionOffer['invoices']> & { provider: ProviderName }> = (
  view,
) => {
  const { now, next, provider } = view
  const { t } = usePage()
  return (
    <>
      {now.total.amount > 0 || now.lines.length > 0 ? (
        <InvoicePreview
          {...{ provider }}
          invoice={now}
          caption={t(now.total.amount > 0 ? 'subscribe.payNow' : 'subscribe.payNothing')}
          due={t('subscribe.total', { date: formatDay(now.date, t.locale) })}
        />
      ) : (
        <p>
          <strong>{t('subscribe.payNothing')}</strong>
        </p>
      )}
      {next && (
        <InvoicePreview
          {...{ provider }}
          invoice={next}
          caption={t('subscribe.later')}
          due={t('subscribe.laterTotal', { date: formatDay(next.date, t.locale) })}
        />
      )}
    </>
  )
}

/** The amount of the first charge as decimal text, for the confirmation by the card's bank. */
function amountNow({ chosen, invoices }: SubscriptionOffer): string | undefined {
  if (invoices) return toDecimal(invoices.now.total)
  return chosen.trialDays > 0 ? '0.00' : undefined
}

/** The buttons, of which the first names the amount that is paid. */
const Pay: FC<OfferView & { provider: ProviderName }> = ({ offer, provider }) => {
  const { t } = usePage()
  const { chosen, invoices } = offer
  return (
    <div class="row" data-pay>
      <input
        type="hidden"
        name="shown"
        value={invoices ? formatShownTerms(chosen, invoices) : ''}
      />
      <Submit class="primary">{payLabel(offer, t)}</Submit>
      {hasHostedPages(provider) && (
        <button type="submit" formaction={`${usePage().payer.path}/checkout`} formnovalidate>
          {t('subscribe.onPage', { provider: PROVIDER_NAMES[provider] })}
        </button>
      )}
    </div>
  )
}

function payLabel({ chosen, invoices }: SubscriptionOffer, t: PageText): string {
  if (invoices && invoices.now.total.amount > 0) {
    return t('subscribe.pay', { amount: formatAmount(invoices.now.total, t) })
  }
  return chosen.trialDays > 0
    ? t('subscribe.startTrial', { days: chosen.trialDays })
    : t('subscribe.subscribe')
}

function chooseTitle({ running, history }: BillingAccount, t: PageText): string {
  if (running) return t('subscribe.another')
  return t(history.length > 0 ? 'subscribe.again' : 'subscribe.choose')
}

const PlanChoice: FC<SubscribeView> = ({ account, provider, offer }) => {
  const { service, t } = usePage()
  const { plans } = service.config.settings
  const groups = groupPlans(listPlansAtProvider(plans, provider))
  return (
    <div class="plans">
      {groups.map((group) => {
        const [plan] = group
        const trialDays = computeTrialDays(plan, account.history)
        return (
          <div class="card plan plan-choice">
            {group.length > 1 && <strong aria-hidden="true">{plan.name}</strong>}
            {group.map((each) => (
              <PlanRadio
                plan={each}
                isAlone={group.length === 1}
                isChosen={each.id === offer?.chosen.plan.id}
              />
            ))}
            <PlanTerms plan={plan} />
            {trialDays > 0 && (
              <span class="badge good">{t('subscribe.daysFree', { days: trialDays })}</span>
            )}
          </div>
        )
      })}
    </div>
  )
}

/** The choice of a plan, or of one of its billing intervals. */
const PlanRadio: FC<{ plan: Plan; isAlone: boolean; isChosen: boolean }> = (props) => {
  const { plan, isAlone, isChosen } = props
  const price = (
    <span class="price">
      {' '}
      <Price plan={plan} quantity={plan.seats.min} />
    </span>
  )
  return (
    <label>
      <span class={isAlone ? 'row' : 'plan-interval'}>
        <input type="radio" name="plan" value={plan.id} checked={isChosen} required />
        {isAlone ? <strong>{plan.name}</strong> : <span class="unseen">{plan.name}</span>}
        {!isAlone && price}
      </span>
      {isAlone && price}
    </label>
  )
}

/** The choice of provider, shown until the person has paid. */
const ProviderChoice: FC<SubscribeView> = ({ provider, available }) => {
  if (available.length < 2) return null
  const { t, payer } = usePage()
  return (
    <nav class="row" aria-label={t('subscribe.provider')}>
      <span>{t('subscribe.through')}</span>
      {available.map((name) => (
        <a
          class="button"
          href={`${payer.path}?provider=${name}`}
          aria-current={name === provider ? 'true' : undefined}
        >
          {PROVIDER_NAMES[name]}
        </a>
      ))}
    </nav>
  )
}
