import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../http/variables.ts'
import {
  CHOICES,
  type SubscriptionChoice,
  type SubscriptionFact,
} from '../../users/account-billing.ts'
import {
  describeChoice,
  describeFuture,
  describeOpen,
  describeOutcome,
} from '../../users/describe-account.ts'
import { type AccountOutcome, isCharged, isLive, type Standing } from '../../users/end-account.ts'
import type { Account } from '../../users/user.ts'
import { planOf } from '../billing/model/plans.ts'
import { Price } from '../billing/sections/price.tsx'
import { Confirmation } from '../parts/confirmation.tsx'
import { Choice } from '../parts/fields.tsx'
import { Note, OwnForm, usePage } from '../parts/layout.tsx'
import { type PageOptions, renderPage } from '../parts/render.tsx'
import { Fact, Moment } from '../parts/table.tsx'

interface AccountView {
  readonly account: Account
  readonly subscriptions: readonly SubscriptionFact[]
  readonly notice?: string | undefined
  readonly problem?: string
  readonly status?: PageOptions['status']
}

/**
 * Renders the page of an account for operators, with links to the pages that disable or delete it.
 */
export function renderAccount(c: Context<AppEnv>, view: AccountView) {
  const { account, subscriptions, notice, problem, status = 200 } = view
  const { t } = c.get('page')
  const user = encodeURIComponent(account.id)
  return renderPage(
    c,
    { title: t('account.title'), status },
    <section class="card narrow stack">
      <h1>
        <bdi>{account.email}</bdi>
      </h1>
      <Note tone="bad" role="alert" text={problem} />
      <Note tone="good" text={notice} />
      <dl class="facts">
        <Fact term={t('accounts.id')}>{account.id}</Fact>
        {account.name !== null && (
          <Fact term={t('accounts.name')}>
            <bdi>{account.name}</bdi>
          </Fact>
        )}
        <Fact term={t('accounts.created')}>
          <Moment at={account.createdAt} />
        </Fact>
        <Fact term={t('accounts.state')}>
          {account.disabledAt
            ? t.parts('accounts.disabledSince', { moment: <Moment at={account.disabledAt} /> })
            : t('accounts.maySignIn')}
        </Fact>
      </dl>
      <Subscriptions subscriptions={subscriptions} />
      <div class="actions">
        {account.disabledAt && (
          <OwnForm action="/overview/users/enable" data-once>
            <input type="hidden" name="user" value={account.id} />
            <button type="submit">{t('accounts.enable')}</button>
          </OwnForm>
        )}
        {(!account.disabledAt || subscriptions.some(isCharged)) && (
          <a class="button" href={`/overview/users/disable?user=${user}`}>
            {t(account.disabledAt ? 'accounts.changeSubscription' : 'accounts.disable')}
          </a>
        )}
        <a class="button danger-quiet" href={`/overview/users/delete?user=${user}`}>
          {t('accounts.delete')}
        </a>
      </div>
      <p class="aside">
        <a href="/overview">{t('overview.back')}</a>
      </p>
    </section>,
  )
}

const Subscriptions: FC<{ subscriptions: readonly SubscriptionFact[] }> = ({ subscriptions }) => {
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

interface QuestionView extends Standing {
  readonly account: Account
  readonly problem?: string | null
}

/**
 * Asks whether to disable an account, and what happens to subscriptions that would be charged
 * again.
 */
export function renderDisable(c: Context<AppEnv>, view: QuestionView) {
  const { account, subscriptions, problem = null } = view
  const { t } = c.get('page')
  const isAsked = subscriptions.some(isCharged)
  return renderPage(
    c,
    { title: t('accounts.disable.title'), status: problem === null ? 200 : 422 },
    <Confirmation
      title={t.parts('accounts.disable.question', { email: <bdi>{account.email}</bdi> })}
      action="/overview/users/disable"
      fields={{ user: account.id }}
      cancelLabel={t('accounts.disable.stay')}
      confirmLabel={t('accounts.disable.go')}
      problem={problem}
    >
      <p>
        {t.parts('accounts.disable.text', {
          email: <bdi>{account.email}</bdi>,
          id: account.id,
        })}
      </p>
      <Subscriptions subscriptions={subscriptions} />
      {isAsked && <Choices offered={CHOICES} />}
    </Confirmation>,
  )
}

/** Asks whether to delete an account, and what happens to its subscriptions and open amounts. */
export function renderDelete(c: Context<AppEnv>, view: QuestionView) {
  const { account, subscriptions, open, problem = null } = view
  const { t } = c.get('page')
  const lines = describeOpen(open, t)
  const isAsked = subscriptions.some(isLive)
  return renderPage(
    c,
    { title: t('accounts.delete.title'), status: problem === null ? 200 : 422 },
    <Confirmation
      title={t.parts('accounts.delete.question', { email: <bdi>{account.email}</bdi> })}
      action="/overview/users/delete"
      fields={{ user: account.id }}
      cancelLabel={t('accounts.delete.stay')}
      confirmLabel={t('accounts.delete.go')}
      problem={problem}
    >
      <p>
        {t.parts('accounts.delete.text', {
          email: <bdi>{account.email}</bdi>,
          id: account.id,
        })}
      </p>
      <Subscriptions subscriptions={subscriptions} />
      {isAsked && (
        <>
          <Choices offered={['now', 'period-end']} />
          <p>
            {t.parts('accounts.delete.later', {
              link: (
                <a href={`/overview/users/disable?user=${encodeURIComponent(account.id)}`}>
                  {t('accounts.delete.later.link')}
                </a>
              ),
            })}
          </p>
        </>
      )}
      {lines.length > 0 && (
        <>
          <p>{t('accounts.delete.open')}</p>
          <ul>
            {lines.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          <Choice
            id="void"
            type="checkbox"
            name="void"
            value="yes"
            title={t('accounts.delete.void')}
            description={t('accounts.delete.voidText')}
          />
        </>
      )}
      <label class="check">
        <input type="checkbox" name="confirm" value="yes" required /> {t('accounts.delete.confirm')}
      </label>
    </Confirmation>,
  )
}

const Choices: FC<{ offered: readonly SubscriptionChoice[] }> = ({ offered }) => {
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

/** Renders the page shown after an account was deleted, with a list of what was done. */
export function renderDeleted(c: Context<AppEnv>, outcome: AccountOutcome) {
  const { t } = c.get('page')
  return renderPage(
    c,
    { title: t('accounts.deleted.title') },
    <section class="card narrow stack">
      <h1>{t('accounts.deleted.title')}</h1>
      <p role="status">
        {t.parts('accounts.deleted.text', { email: <bdi>{outcome.account.email}</bdi> })}
      </p>
      {describeOutcome(outcome, t).map((sentence) => (
        <p>{sentence}</p>
      ))}
      <p class="aside">
        <a href="/overview">{t('overview.back')}</a>
      </p>
    </section>,
  )
}
